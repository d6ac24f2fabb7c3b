"""Table 1 as a table: this run's best heads, the paper's beside them where the label is one of the paper's; LaTeX."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bertviz_core import paper
from bertviz_core.analyses.dependency_heads.relations import RelationCounts
from bertviz_core.heads import Head, arrow
from bertviz_core.plotting.latex import escaped, tabular
from bertviz_core.plotting.style import percent, percent_decimals

if TYPE_CHECKING:
    import pandas as pd


def relation_table(result: RelationCounts, base: int = 1) -> pd.DataFrame:
    """A row for each relation, in percent, for the screen; the paper's columns are empty where it has no such label."""
    frame = result.to_frame()
    paper_values = [paper.TABLE_1.get(relation, (None, None, None, None)) for relation in frame["relation"]]
    shown = frame[["relation", "n"]].copy()
    shown["head"] = [Head.parse(label).label(base) for label in frame["head"]]
    shown["direction"] = frame["direction"].map(arrow)
    shown["accuracy"] = _percents(frame["accuracy"], frame["n"])
    shown["interval"] = [_interval(row.low, row.high, row.n) for row in frame.itertuples()]
    if not result.paper:
        shown["held out"] = _percents(frame["heldout_accuracy"], frame["n"])
    shown["offset"] = frame["baseline_offset"]
    shown["by offset"] = _percents(frame["baseline_accuracy"], frame["n"])
    shown["paper"] = [row[1] for row in paper_values]
    shown["paper's head"] = [row[0] for row in paper_values]
    return shown


def latex(result: RelationCounts) -> str:
    """The rows as a LaTeX tabular (booktabs), in the paper's layout: relation, head, accuracy, baseline (offset)."""
    rows = [
        (
            escaped(row.relation),
            f"{row.n:,}",
            f"{row.head}{'' if row.direction.startswith('dependent') else '$^{*}$'}",
            f"{100 * row.accuracy:.1f}",
            f"{100 * row.baseline_accuracy:.1f} ({row.baseline_offset})",
        )
        for row in result.to_frame().itertuples()
    ]
    note = r"$^{*}$ head $\to$ dependent; all others dependent $\to$ head"
    return tabular("lrlrr", ("Relation", "$n$", "Head", "Accuracy", "Baseline"), rows, note)


def _interval(low: float, high: float, n: int) -> str:
    return f"{percent(low, n)}–{percent(high, n)}".replace("%", "")


def _percents(shares: pd.Series, n: pd.Series) -> list[float]:
    """Numbers, so that the table can be sorted, rounded to what each row's words support."""
    return [round(100 * share, percent_decimals(count)) for share, count in zip(shares, n, strict=True)]
