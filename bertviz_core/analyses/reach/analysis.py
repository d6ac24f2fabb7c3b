"""Reach: how far each head looks, its sinks, its output, and how strongly it acts on each input (beyond the paper;
docs/methods.md, section 17)."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

import numpy as np
from typing_extensions import Doc

from bertviz_core.analyses.base.analysis import Analysis
from bertviz_core.analyses.base.blocks import Block, Card, Control, Numbers, Say
from bertviz_core.analyses.base.column_view import ColumnView
from bertviz_core.analyses.base.findings import Finding
from bertviz_core.analyses.base.head_figures import HeadFigure, Rows, column_rows
from bertviz_core.analyses.base.request import Request
from bertviz_core.analyses.reach.figure import offsets_curve, paper_figure, token_rows
from bertviz_core.analyses.reach.head_blocks import act_inputs, acts_chart, looks_chart, token_tables
from bertviz_core.analyses.reach.result import BY_QUANTITY, COLUMNS, INACTIVE, LABELS, SENTENCES, Reach
from bertviz_core.analyses.reach.statements import STATEMENTS, distance_finding, inactive_heads
from bertviz_core.choices import Between, Label
from bertviz_core.heads import Head
from bertviz_core.models.model import AttentionModel

if TYPE_CHECKING:
    from bertviz_core.analyses.reach.measure import ReachSums

OF_ALL_TOKENS = ("distance", "beyond")
ON_HEAD_PAGE = 5  # tokens that receive the most, and that give the most


@dataclass(frozen=True)
class ReachView(ColumnView[Reach]):
    """The quantity, the head, and below which relative output heads are named."""

    below: Annotated[
        float,
        Between(0.1, 1.0),
        Label("Inactive below"),
        Doc("Name the heads whose output is below this share of their layer's mean."),
    ] = INACTIVE


class ReachAnalysis(Analysis[Reach, ReachView]):
    """How far heads look, and what shows that they do little."""

    name = "reach"
    key_version = 3
    title = "Reach"
    summary = (
        "How far every head looks, which token is its sink, how long its output is beside those of its layer, at and "
        "from which tokens it looks, and how strongly it acts on each input."
    )
    section = "How far does a head look?"
    icon = ":material/straighten:"
    result_class = Reach
    columns = COLUMNS
    view = ReachView
    labels = LABELS
    statements = STATEMENTS
    main_figure = staticmethod(paper_figure)
    shared = True

    def accumulator(self, model: AttentionModel, request: Request) -> "ReachSums":
        from bertviz_core.analyses.reach import measure

        return measure.accumulator(model, request)

    def blocks(self, result: Reach, view: ReachView) -> Iterator[Block]:
        yield from self.opening(result, view)
        if self.is_empty(result):
            return
        head = view.chosen_head()
        yield Control(("below",), on_line=True) if "output" in result else Control(())
        yield Numbers(tuple(cards(result, view.below)))
        if "output" in result:
            yield Say(inactive_heads(result, view.below), chosen=True)
        yield looks_chart(result, head)
        yield from token_tables(result, head)
        yield acts_chart(result, head)
        yield act_inputs(result, head)
        yield from self.ending(result, view)

    def claim(self, result: Reach, view: ReachView) -> Finding:
        """Of the mean distance with a word on the sink of the head that looks the furthest."""
        column = view.column(result)
        if column is None or column.quantity != "distance":
            return super().claim(result, view)
        return distance_finding(self.name, column, result)

    def of_head(self, result: Reach, head: Head) -> Iterator[Rows]:
        """Its numbers, its attention by distance, and its tokens."""
        yield Rows(_numbers, (result, head))
        yield Rows(_where_it_looks, (result, head))
        yield Rows(_tokens, ("received", "Tokens it looks at", result, head))
        yield Rows(_tokens, ("given", "Tokens it looks from", result, head))


def _numbers(result: Reach, head: Head) -> HeadFigure:
    """Its numbers; distances that count special tokens set no head apart: one that looks at its sink looks far."""
    rows = column_rows(COLUMNS, result, head)
    distinctive = tuple(row for column, row in rows if column.quantity not in OF_ALL_TOKENS)
    return HeadFigure(ReachAnalysis.title, tuple(row for _, row in rows), distinctive=distinctive)


def _where_it_looks(result: Reach, head: Head) -> HeadFigure:
    return HeadFigure("Where it looks", curve=offsets_curve(result, head), sentence=result.restriction)


def _tokens(share: str, title: str, result: Reach, head: Head) -> HeadFigure:
    """The tokens that receive or give the most; how far from uniform they are sets no head apart."""
    rows = token_rows(result, share, head, ON_HEAD_PAGE)
    return HeadFigure(title, rows, sentence=SENTENCES[share], distinctive=())


def cards(result: Reach, below: float) -> list[Card]:
    """The mean distance, the mean sink rates, and how many heads have an output below a share of their layer's mean."""
    distance, uniform = (f"{result[name].mean():.1f}" for name in ("distance", "uniform"))
    entries = [("Mean distance", f"{distance} tokens", f"uniform attention: {uniform}")]
    if "distance_ordinary" in result:
        between, uniform = (f"{np.nanmean(result[name]):.1f}" for name in ("distance_ordinary", "uniform_ordinary"))
        entries.append(("Between ordinary tokens", f"{between} tokens", f"uniform attention: {uniform}"))
    for name in result.sinks:
        label = BY_QUANTITY[name].short.replace("sink", "Sink")
        entries.append((label, f"{result[name].mean():.0%}", "mean of all heads"))
    if "output" in result:
        output = result["output"]
        note = f"output below {below:.2f} of the layer's mean"
        entries.append(("Inactive heads", f"{(output < below).sum()} of {output.size}", note))
    return entries
