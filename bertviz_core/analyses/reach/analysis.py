"""Reach: how far each head looks, its sinks, its output, and how strongly it acts on each input (beyond the paper;
docs/methods.md, section 17)."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, cast

import plotly.graph_objects as go
from typing_extensions import Doc

from bertviz_core.analyses.base.analysis import Analysis
from bertviz_core.analyses.base.averages import HeadColumn
from bertviz_core.analyses.base.column_view import ColumnView
from bertviz_core.analyses.base.findings import Finding
from bertviz_core.analyses.base.head_figures import HeadFigure
from bertviz_core.analyses.base.parts import Card, Part
from bertviz_core.analyses.base.request import Request
from bertviz_core.analyses.base.result import Result
from bertviz_core.analyses.reach.cards import cards
from bertviz_core.analyses.reach.figure import acts_figure, offsets_curve, offsets_figure, paper_figure, token_rows
from bertviz_core.analyses.reach.head_parts import acts_part, acts_title, looks_title, token_parts
from bertviz_core.analyses.reach.result import COLUMNS, INACTIVE, LABELS, SENTENCES, SINKS, Reach
from bertviz_core.analyses.reach.statements import STATEMENTS, distance_finding, inactive_heads
from bertviz_core.errors import SettingsError
from bertviz_core.heads import Head
from bertviz_core.models.model import AttentionModel

if TYPE_CHECKING:
    from bertviz_core.analyses.reach.measure import ReachSums

ON_HEAD_PAGE = 5  # tokens that receive the most, and that give the most


@dataclass(frozen=True)
class ReachView(ColumnView):
    """The quantity, the head, and below which relative output heads are named."""

    below: Annotated[float, Doc("Name the heads whose output is below this share of their layer's mean.")] = INACTIVE

    def check(self) -> None:
        if not 0 < self.below <= 1:
            raise SettingsError(f"{self.below:g} is not a share.", hint="Choose a number from 0 to 1.")


class ReachAnalysis(Analysis):
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
    followed = ("distance_ordinary", *SINKS)

    def accumulator(self, model: AttentionModel, request: Request) -> "ReachSums":
        from bertviz_core.analyses.reach import measure

        return measure.accumulator(model, request)

    def figures(self, result: Result) -> dict[str, go.Figure]:
        """Those of all heads; of the chosen head its attention by distance, and how strongly it acts."""
        assert isinstance(result, Reach)
        if (key := result.choices.get("head")) is None:
            return super().figures(result)
        head = Head.parse(key)
        of_head = {
            looks_title(head): offsets_figure(result, head),
            acts_title(head): acts_figure(result, head),
        }
        return super().figures(result) | of_head

    def cards(self, result: Result) -> list[Card]:
        """The mean distance, the mean sink rates, and how many heads are inactive."""
        assert isinstance(result, Reach)
        return cards(result, result.choices["below"])

    def parts(self, result: Result) -> list[Part]:
        """The chosen head's numbers, its tokens, the inputs in which it acts most, and those of each tenth."""
        assert isinstance(result, Reach)
        if (key := result.choices.get("head")) is None:
            return []
        head = Head.parse(key)
        numbers, of_head, *rest = super().parts(result)
        return [numbers, of_head, *token_parts(result, head), acts_part(result, head), *rest]

    def chosen_notes(self, result: Result) -> list[str]:
        """The chosen head, and the heads whose output is short."""
        notes = super().chosen_notes(result)
        if not (chosen := result.choices) or "output" not in cast(Reach, result):
            return notes
        return [*notes, inactive_heads(cast(Reach, result), chosen["below"])]

    def column_finding(self, column: HeadColumn, result: Result) -> Finding:
        """Of the mean distance with a word on the sink of the head that looks the furthest."""
        if column.quantity != "distance":
            return super().column_finding(column, result)
        assert isinstance(result, Reach)
        return distance_finding(self.name, column, result)

    def head_figures(self, result: Result, head: Head) -> list[HeadFigure]:
        """Its numbers, its attention by distance, and its tokens."""
        assert isinstance(result, Reach)
        by_distance = HeadFigure("Where it looks", curve=offsets_curve(result, head), sentence=result.restriction)
        tokens = []
        for share, title in (("received", "Tokens it looks at"), ("given", "Tokens it looks from")):
            if rows := token_rows(result, share, head, ON_HEAD_PAGE):
                tokens.append(HeadFigure(title, rows, sentence=SENTENCES[share]))
        return [*super().head_figures(result, head), by_distance, *tokens]
