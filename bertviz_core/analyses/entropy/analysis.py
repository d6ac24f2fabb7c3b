"""Entropy: how broadly each head attends (section 3.3; Figure 4)."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, cast

from typing_extensions import Doc

from bertviz_core.analyses.base.analysis import Analysis
from bertviz_core.analyses.base.column_view import ColumnView
from bertviz_core.analyses.base.parts import Card
from bertviz_core.analyses.base.request import Request
from bertviz_core.analyses.base.result import Result
from bertviz_core.analyses.entropy.cards import cards
from bertviz_core.analyses.entropy.figure import paper_figure
from bertviz_core.analyses.entropy.result import COLUMNS, LABELS, Entropy
from bertviz_core.analyses.entropy.statements import STATEMENTS, narrow_heads
from bertviz_core.errors import SettingsError
from bertviz_core.models.model import AttentionModel

if TYPE_CHECKING:
    from bertviz_core.analyses.base.accumulators import SegmentSums


@dataclass(frozen=True)
class EntropyView(ColumnView):
    """The quantity, the head, and below which share of uniform entropy heads are named."""

    share: Annotated[float, Doc("Name the heads with at most this share of the entropy of uniform attention.")] = 0.5

    def check(self) -> None:
        if not 0 < self.share <= 1:
            raise SettingsError(f"{self.share:g} is not a share.", hint="Choose a number from 0 to 1.")


class EntropyAnalysis(Analysis):
    """Entropy of every head's attention."""

    name = "entropy"
    key_version = 2
    title = "Entropy"
    summary = "Entropy of every head's attention, in nats (section 3.3; Figure 4)."
    section = "Section 3.3, Figure 4"
    icon = ":material/blur_on:"
    result_class = Entropy
    columns = COLUMNS
    view = EntropyView
    labels = LABELS
    statements = STATEMENTS
    main_figure = staticmethod(paper_figure)
    control = "of"
    behaviors: Mapping[str, str] = {"entropy": "broad"}
    shared = True
    has_paper_means = True
    has_attention_lines = True
    prefix = ""

    def accumulator(self, model: AttentionModel, request: Request) -> "SegmentSums":
        from bertviz_core.analyses.entropy import measure

        return measure.accumulator(model, request)

    def cards(self, result: Result) -> list[Card]:
        """The mean entropies of the first and the last layer, and the head that attends most broadly."""
        return cards(cast(Entropy, result))

    def chosen_notes(self, result: Result) -> list[str]:
        """The chosen head, and the heads that attend narrowly."""
        notes = super().chosen_notes(result)
        if not (chosen := result.choices):
            return notes
        return [*notes, narrow_heads(cast(Entropy, result), chosen["share"])]

    def clearest(self, result: Result) -> dict[str, str]:
        assert isinstance(result, Entropy)
        return {"entropy": "broad attention"} if "entropy" in result else {}
