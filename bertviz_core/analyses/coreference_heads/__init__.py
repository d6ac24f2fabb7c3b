"""Coreference heads: does a head's attention point from a mention to an antecedent? (section 4.3; Table 2)."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Annotated

import numpy as np
from typing_extensions import Doc

from bertviz_core import paper
from bertviz_core.analyses.analysis import Analysis
from bertviz_core.analyses.coreference_heads.figure import latex, more_figures, paper_figure
from bertviz_core.analyses.coreference_heads.guesses import BASELINES, DIRECTIONS, index_of
from bertviz_core.analyses.coreference_heads.result import AntecedentCounts, CoreferenceHeads
from bertviz_core.analyses.findings import HELD_OUT, Answer, Finding, Statement, decide
from bertviz_core.analyses.head_averages import HeadColumn
from bertviz_core.analyses.proportions import MIN_SCORED
from bertviz_core.analyses.request import Request, View
from bertviz_core.analyses.results import Result
from bertviz_core.heads import arrow

CLOSE = 0.1
HEAD_2 = paper.TABLE_2["head 5-4"][0]
RULE = "with the interval of the difference. " + HELD_OUT


def beside(counts: AntecedentCounts, base: int, system: str = "", points: float = 0.0, direction: int = 0) -> Answer:
    """The best head of one direction beside one system, or the best of the baselines."""
    best, strongest = counts.best(direction=direction), max(BASELINES, key=lambda name: counts.of_system(name)[0])
    row, other = counts.row(best), counts.of_system(system or strongest)[0]
    heldout = "" if np.isnan(row["heldout_accuracy"]) else f"; {row['heldout_accuracy']:.1%} held out"
    interval = "no interval" if np.isnan(row["low"]) else f"95% interval {row['low']:.1%} to {row['high']:.1%}"
    few = f" Fewer than {MIN_SCORED} mentions are too few to decide." if row["n"] < MIN_SCORED else ""
    side = whole = ""
    if counts.is_causal:
        side = " (only those with an antecedent that comes earlier count)"
        share = row["accuracy_of_all_mentions"]
        whole = f" Of all {counts.of_all:,} mentions with an antecedent the head finds {share:.1%}."
    gap, named = row["accuracy"] - other, system or f"the best baseline, {strongest}"
    distance = f"{100 * abs(gap):.1f} points {'below' if gap < 0 else 'above'} {named} ({other:.1%})"
    if system not in ("", strongest):
        distance += f"; the best baseline is {strongest} ({counts.of_system(strongest)[0]:.1%})"
    return Answer(
        decide(counts.gain(system or strongest, direction), points),
        f"Head {best.head.label(base)}, {arrow(DIRECTIONS[direction])}, finds an antecedent of {row['accuracy']:.1%} "
        f"of {row['n']:,} mentions{side} ({interval} over {counts.units_text}{heldout}), {distance}.{whole}{few}",
        best.head,
    )


def direction_finding(counts: AntecedentCounts, direction: int, base: int = 1) -> Finding:
    """The best head of one direction beside the best baseline."""
    answer = partial(beside, direction=direction)
    return replace(STATEMENTS[-1], answer=answer).finding("coreference_heads", "", counts, base)


STATEMENTS = (
    Statement(
        "nearest",
        "4.3",
        f"One head finds the antecedents of {HEAD_2}% of the mentions, where the nearest mention is right in "
        f"{paper.TABLE_2['nearest'][0]}%.",
        f"The best head is above the nearest mention, {RULE}",
        partial(beside, system="nearest"),
    ),
    Statement(
        "head_match",
        "4.3",
        f"That head is above a match of head words ({paper.TABLE_2['head match'][0]}%).",
        f"The best head is above the match of head words, {RULE}",
        partial(beside, system="head match"),
    ),
    Statement(
        "rule_based",
        "4.3",
        f"It comes close to a rule-based system ({paper.TABLE_2['rule-based'][0]}%).",
        f"The best head is at most {CLOSE:.0%} below the rule-based system, {RULE}",
        partial(beside, system="rule-based", points=-CLOSE),
    ),
    Statement("best_baseline", "", "", f"The best head is above the best of the baselines, {RULE}", beside),
)


@dataclass(frozen=True)
class CoreferenceView(View):
    """Which of the counts are shown."""

    candidates: Annotated[str, Doc("mentions (the preceding ones), or words: any other.")] = "mentions"

    def check(self) -> None:
        index_of(self.candidates)

    def show(self, result: Result, request: Request, find: Callable[[Request], Result | None]) -> Result:
        assert isinstance(result, CoreferenceHeads)
        return result.show(self.candidates)


def _antecedents(result: CoreferenceHeads) -> np.ndarray:
    """(layer, head) of all mentions, by the paper's measure: from a mention to its antecedent."""
    return np.asarray(result.default_view().accuracy[0, 0])


def _head_match(result: CoreferenceHeads) -> tuple[float, str]:
    """The baseline that the paper compares its head with, and that needs no rules."""
    return float(result.default_view().of_system("head match")[0]), "head match"


class CoreferenceAnalysis(Analysis):
    """Right guesses of antecedents by every head."""

    name = "coreference_heads"
    title = "Coreference heads"
    summary = "Which head's attention points from a mention to its antecedent (section 4.3; Table 2)."
    section = "Section 4.3, Table 2"
    icon = ":material/link:"
    corpus = "coreference"
    result_class = CoreferenceHeads
    view = CoreferenceView
    columns = (HeadColumn("all", "antecedents found", _antecedents, _head_match, percent=True),)
    statements = STATEMENTS
    main_figure = staticmethod(paper_figure)
    more_figures = staticmethod(more_figures)
    latex = staticmethod(latex)
    prefix = "coreference_"
