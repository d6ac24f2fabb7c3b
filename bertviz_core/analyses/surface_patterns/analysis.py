"""Surface patterns: which heads attend to neighbors, special tokens and punctuation (sections 3.1, 3.2; Figure 2)."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, cast

import plotly.graph_objects as go
from typing_extensions import Doc

from bertviz_core import paper
from bertviz_core.analyses.base.analysis import Analysis
from bertviz_core.analyses.base.averages import HeadAverages
from bertviz_core.analyses.base.column_view import ColumnView
from bertviz_core.analyses.base.findings import Finding
from bertviz_core.analyses.base.parts import Card
from bertviz_core.analyses.base.request import Request
from bertviz_core.analyses.base.result import Result
from bertviz_core.analyses.surface_patterns.cards import cards
from bertviz_core.analyses.surface_patterns.figure import paper_figure
from bertviz_core.analyses.surface_patterns.result import (
    BY_QUANTITY,
    COLUMNS,
    NORM_LABELS,
    SINKS,
    BothWeights,
    SurfacePatterns,
    sinks,
)
from bertviz_core.analyses.surface_patterns.statements import HALF, STATEMENTS, heads_over, over_finding
from bertviz_core.errors import SettingsError
from bertviz_core.heads import Head, highest
from bertviz_core.models.model import AttentionModel

if TYPE_CHECKING:
    from bertviz_core.analyses.base.accumulators import SegmentSums


@dataclass(frozen=True)
class SurfaceView(ColumnView):
    """The quantity, the head, and the threshold of the heads that are counted and named."""

    over: Annotated[float, Doc("Count and name the heads with more than this share.")] = HALF
    both: Annotated[bool, Doc("Add norms to attention weights, or these to norms, where they are stored.")] = False

    def check(self) -> None:
        if not 0 <= self.over < 1:
            raise SettingsError(f"A threshold of {self.over:g} is not a share.", hint="Choose a number from 0 to 1.")

    def show(self, result: Result, request: Request, find: Callable[[Request], Result | None]) -> Result:
        """The result, with that of the other weights beside it where both are chosen.

        Raises:
            SettingsError: That is not stored.
        """
        if not self.both:
            return result
        other = request.of_weights("attention" if request.settings.weights == "norms" else "norms")
        beside = find(other)
        if beside is None:
            weights = other.settings.weights
            hint = f"Run the analysis with --weights {weights} first."
            raise SettingsError(f"No result of {weights} is stored for this model and this text.", hint=hint)
        return BothWeights.of(cast(HeadAverages, result), cast(HeadAverages, beside))


class SurfacePatternsAnalysis(Analysis):
    """Attention to neighbors, special tokens and punctuation."""

    name = "surface_patterns"
    key_version = 2
    title = "Surface patterns"
    summary = "Attention to offsets, special tokens and punctuation, for every head (section 3.1, 3.2; Figure 2)."
    section = "Section 3.1–3.2, Figure 2"
    icon = ":material/grid_on:"
    result_class = SurfacePatterns
    columns = COLUMNS
    view = SurfaceView
    labels = NORM_LABELS
    statements = STATEMENTS
    main_figure = staticmethod(paper_figure)
    control = "quantity"
    behaviors: Mapping[str, str] = {name: name for name in ("next", "previous", *SINKS, "to_punct")}
    shared = True
    has_paper_means = True
    has_attention_lines = True
    prefix = ""

    def accumulator(self, model: AttentionModel, request: Request) -> "SegmentSums":
        from bertviz_core.analyses.surface_patterns import measure

        return measure.accumulator(model, request)

    def chosen_finding(self, result: Result) -> Finding | None:
        """The paper's statement about the quantity; at another threshold than the paper's, the heads over that."""
        over = result.choices.get("over", HALF)
        if over == HALF:
            return super().chosen_finding(result)
        return over_finding(cast(SurfacePatterns, result), result.choices["quantity"], over)

    def cards(self, result: Result) -> list[Card]:
        """Heads over the threshold, and how much of a layer's attention goes to the sink."""
        assert isinstance(result, SurfacePatterns)
        return cards(result, result.choices["over"])

    def chosen_notes(self, result: Result) -> list[str]:
        """The chosen head, and the heads over the threshold."""
        notes = super().chosen_notes(result)
        if not (chosen := result.choices):
            return notes
        return [*notes, heads_over(cast(SurfacePatterns, result), chosen["quantity"], chosen["over"])]

    def tour_figure(
        self, result: Result, head: Head | None, named: Mapping[str, str], is_answered: bool = True
    ) -> go.Figure:
        """The first panel of Figure 2, which fits a slide."""
        assert isinstance(result, SurfacePatterns)
        return paper_figure(result, panels=1)

    def clearest(self, result: Result) -> dict[str, str]:
        """Attention to neighbors and to punctuation; of the special tokens to the sink alone."""
        assert isinstance(result, SurfacePatterns)
        quantities = ("next", "previous", *sinks(result)[:1], "to_punct")
        return {name: BY_QUANTITY[name].short.removeprefix("the ") for name in quantities if name in result}

    def key_numbers(self, result: Result) -> list[tuple[str, str, str]]:
        """The clearest head of the previous token, and how much of a layer's attention goes to the sink."""
        assert isinstance(result, SurfacePatterns)
        values = result["previous"]
        head = highest(values)
        over = f"paper: {paper.HEADS_OVER_HALF['previous']} heads over 0.5" if result.counts_as_paper else ""
        entries = [("Previous token, clearest", f"{head.label()}: {values[head]:.2f}", over)]
        for quantity in sinks(result)[:1]:
            value = f"{result[quantity].mean(1).max():.2f}"
            printed = f"; paper: [SEP], {max(paper.LAYER_MEANS['to_sep']):.2f}" if result.counts_as_paper else ""
            note = f"unmasked text{printed}"
            entries.append((f"To {BY_QUANTITY[quantity].short}, highest layer", value, note))
        return entries
