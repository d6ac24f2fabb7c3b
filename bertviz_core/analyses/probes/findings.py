"""Findings of section 5: how much syntax all heads hold together (Table 3)."""

from functools import partial

from bertviz_core import paper
from bertviz_core.analyses.findings import Answer, Interval, Statement, decide
from bertviz_core.analyses.probes.result import Probes
from bertviz_core.analyses.proportions import MIN_UNITS
from bertviz_core.heads import highest

POINTS = 0.1  # a substantial difference of two shares
ENDS = "with a conservative interval, from both intervals' end points."


def above(result: Probes, base: int, probe: str, other: str, points: float) -> Answer:
    """One probe beside another on the test sentences."""
    if not {probe, other} <= set(result.probes):
        raise KeyError(other)
    enough = result.about["sentences"]["test"] >= MIN_UNITS
    at = [result.probes.index(name) for name in (probe, other)]
    first, second = (Interval(result.low[i], result.high[i], enough) for i in at)
    scores = [f"{result.score[i]:.1%} ({result.low[i]:.1%} to {result.high[i]:.1%})" for i in at]
    return Answer(
        decide(first.minus(second), points),
        f"The probe “{probe.replace('-', ' ')}” finds {scores[0]} of the governors, “{other.replace('-', ' ')}” "
        f"{scores[1]}.",
        highest(result.attention.max(0)) if len(result.attention) else None,
        "weight",
    )


STATEMENTS = (
    Statement(
        "attention_only",
        "5",
        f"All heads together encode much syntax: attention only reaches {paper.TABLE_3['attention-only']} UAS, "
        f"right-branching {paper.TABLE_3_WITH_PUNCTUATION['right-branching']}, punctuation included.",
        f"Attention only is more than {POINTS:.0%} above right-branching, {ENDS}",
        partial(above, probe="attention-only", other="right-branching", points=POINTS),
    ),
    Statement(
        "words",
        "5",
        f"With word vectors attention reaches {paper.TABLE_3['attention-and-words']} UAS, distances and words "
        f"{paper.TABLE_3['distances-and-words']}.",
        f"Attention and words is above distances and words, {ENDS}",
        partial(above, probe="attention-and-words", other="distances-and-words", points=0.0),
    ),
    Statement(
        "random",
        "5",
        f"That is learned: on random attention the same probe has {paper.TABLE_3['random-attention-and-words']} UAS.",
        f"Attention and words is more than {POINTS:.0%} above random attention and words, {ENDS}",
        partial(above, probe="attention-and-words", other="random-attention-and-words", points=POINTS),
    ),
)
