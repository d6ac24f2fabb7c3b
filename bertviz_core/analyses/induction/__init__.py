"""Induction: do heads continue a repeated sequence? (beyond the paper; docs/methods.md, section 15)."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import ClassVar

import plotly.graph_objects as go

from bertviz_core.analyses.base.analysis import Analysis
from bertviz_core.analyses.base.averages import HeadAverages, HeadColumn, averaged_column
from bertviz_core.analyses.base.findings import Answer, Statement, decide, head_intervals
from bertviz_core.heads import highest
from bertviz_core.inputs.segments import INPUTS
from bertviz_core.numbers import half_width
from bertviz_core.plotting import BROAD, PREVIOUS, SEP, layer_figure

KINDS = {  # quantity -> what is attended to, name and marker
    "prefix": ("to the token after the first occurrence", "prefix matching", SEP),
    "duplicate": ("to the first occurrence of the same token", "duplicate token", BROAD),
    "previous": ("to the previous token", "previous token", PREVIOUS),
}
CONTROL = "{}_control"  # the same positions in sequences that repeat nothing
# A head attends to the previous token whether anything is repeated or not: it is compared with another position.
CONTROLS = {
    "prefix": ("prefix", "to the same position where nothing is repeated"),
    "duplicate": ("duplicate", "to the same position where nothing is repeated"),
    "previous": ("duplicate", "to the token one sequence before where nothing is repeated"),
}
OVERVIEW = ("prefix", "duplicate")  # surface patterns have "previous" on text


def _columns(form: str, label: str, name: str) -> Iterator[HeadColumn]:
    for kind, (where, short, marker) in KINDS.items():
        quantity = form.format(kind)
        title = label.format(where, short)
        is_shown = quantity in OVERVIEW
        yield averaged_column(quantity, title, name=name.format(short), marker=marker, overview=is_shown, maximum=1.0)


COLUMNS = (
    *_columns("{}", "attention {} ({})", "{}"),
    *_columns(CONTROL, "without repetition, attention {}", "{}, control"),
)


@dataclass(frozen=True)
class Induction(HeadAverages):
    """Attention of each head from a repeated sequence of `length` random tokens, and its controls."""

    analysis: ClassVar[str] = "induction"
    length: int


def paper_figure(result: Induction, base: int = 1) -> go.Figure:
    figure = layer_figure([[column.series(result) for column in COLUMNS[: len(KINDS)]]], base=base, height=420)
    return figure.update_yaxes(title="mean attention", range=[-0.02, 1.02])


def strongest(result: Induction, base: int, quantity: str) -> Answer:
    position, words = CONTROLS[quantity]
    control = CONTROL.format(position)
    values = result[quantity]
    head = highest(values)
    half = half_width(result.interval(quantity)[head], ".1%")
    gain = head_intervals(result, quantity).minus(head_intervals(result, control))
    return Answer(
        decide(gain)[head],
        f"Head {head.label(base)} gives the most attention {KINDS[quantity][0]}: {values[head]:.1%} ± {half} in "
        f"repeated sequences; {result[control][head]:.1%} {words}.",
        head,
        quantity,
    )


class InductionAnalysis(Analysis):
    name = "induction"
    title = "Induction heads"
    summary = (
        "Attention within repeated sequences of random tokens: to what followed a token's first occurrence, to that "
        "occurrence, and to the previous token."
    )
    section = "Does a head continue a repeated sequence?"
    icon = ":material/repeat:"
    result_class = Induction
    corpus = "random"
    columns = COLUMNS
    statements = tuple(
        Statement(
            kind,
            "",
            "",
            f"The head with the highest attention {label} gives less {CONTROLS[kind][1]}, with the intervals of both "
            "corrected for the number of heads.",
            partial(strongest, quantity=kind),
        )
        for kind, (label, *_) in KINDS.items()
    )
    main_figure = staticmethod(paper_figure)
    limit = INPUTS
