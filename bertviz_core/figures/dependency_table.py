"""Table 1 as a table: this run's best heads, the paper's beside them where the label is one of the paper's; LaTeX."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from bertviz_core import paper
from bertviz_core.analyses.dependency_result import DependencyHeads
from bertviz_core.heads import Head

if TYPE_CHECKING:
    import pandas as pd

ESCAPES = str.maketrans({c: f"\\{c}" for c in "&%$#_{}"} | {"\\": r"\textbackslash{}", "~": r"\~{}", "^": r"\^{}"})


def relation_table(result: DependencyHeads, base: int = 1) -> pd.DataFrame:
    """A row for each relation, in percent, for the screen; the paper's columns are empty where it has no such label."""
    frame = result.to_frame()
    theirs = [paper.TABLE_1.get(relation, (None, None, None, None)) for relation in frame["relation"]]
    shown = frame[["relation", "n"]].copy()
    shown["head"] = [Head.parse(label).label(base) for label in frame["head"]]
    shown["direction"] = frame["direction"].str.replace("->", " → ")
    shown["accuracy"] = 100 * frame["accuracy"]
    shown["interval"] = [_interval(row.low, row.high) for row in frame.itertuples()]
    if "heldout_accuracy" in frame:
        shown["held out"] = 100 * frame["heldout_accuracy"]
    shown["offset"] = frame["baseline_offset"]
    shown["by offset"] = 100 * frame["baseline_accuracy"]
    shown["paper"] = [row[1] for row in theirs]
    shown["paper's head"] = [row[0] for row in theirs]
    return shown


def latex(result: DependencyHeads) -> str:
    """The rows as a LaTeX tabular (booktabs), in the paper's layout: relation, head, accuracy, baseline (offset)."""
    lines = [r"\begin{tabular}{lrlrr}", r"\toprule", r"Relation & $n$ & Head & Accuracy & Baseline \\", r"\midrule"]
    for row in result.to_frame().itertuples():
        head = f"{row.head}{'' if row.direction.startswith('dependent') else '$^{*}$'}"
        cells: list[Any] = [
            str(row.relation).translate(ESCAPES),
            f"{row.n:,}",
            head,
            f"{100 * row.accuracy:.1f}",
            f"{100 * row.baseline_accuracy:.1f} ({row.baseline_offset})",
        ]
        lines.append(" & ".join(cells) + r" \\")
    note = r"\multicolumn{5}{l}{$^{*}$ head $\to$ dependent; all others dependent $\to$ head} \\"
    return "\n".join([*lines, r"\midrule", note, r"\bottomrule", r"\end{tabular}", ""])


def _interval(low: float, high: float) -> str:
    return f"{100 * low:.1f}–{100 * high:.1f}"
