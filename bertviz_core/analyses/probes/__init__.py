"""Probes: how much syntax the maps of all heads together encode (section 5; Table 3).

In reading order: features (what probes read), probes (the networks), training, scoring, structural, measure (all of
it); result (with the options), figure.
"""

from functools import partial
from pathlib import Path

import numpy as np

from bertviz_core import paper
from bertviz_core.analyses.analysis import Analysis
from bertviz_core.analyses.findings import Answer, Interval, Statement, decide
from bertviz_core.analyses.head_averages import HeadColumn
from bertviz_core.analyses.probes.figure import latex, more_figures, paper_figure
from bertviz_core.analyses.probes.result import ProbeOptions, Probes
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


def _weight(result: Probes) -> np.ndarray | None:
    """(layer, head) weight of attention only, of the better direction."""
    return result.attention.max(0) if "attention-only" in result.probes else None


class ProbesAnalysis(Analysis):
    """Probes, baselines and controls, trained on the maps of all heads."""

    name = "probes"
    title = "Probes"
    summary = "How much syntax all heads together encode: probes, baselines and controls (section 5; Table 3)."
    section = "Section 5, Table 3"
    icon = ":material/science:"
    result_class = Probes
    corpus = "treebank"
    options = ProbeOptions
    columns = (HeadColumn("weight", "weight in the attention-only probe", _weight),)
    statements = STATEMENTS
    main_figure = staticmethod(paper_figure)
    more_figures = staticmethod(more_figures)
    latex = staticmethod(latex)
    prefix = "probe_"
    forward_passes = 18  # measured: maps of four networks, one trained and three random; hidden states once; trainings
    overhead = 8.0
    chunked = False

    @property
    def source(self) -> str:
        """The networks, which are read but not imported."""
        return Path(__file__).with_name("probes.py").read_text(encoding="utf-8")
