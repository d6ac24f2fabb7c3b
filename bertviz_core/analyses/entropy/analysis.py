"""Entropy: how broadly each head attends (section 3.3; Figure 4)."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

from bertviz_core.analyses.base.analysis import Analysis
from bertviz_core.analyses.base.request import Request
from bertviz_core.analyses.base.result import Result
from bertviz_core.analyses.entropy.figure import paper_figure
from bertviz_core.analyses.entropy.result import COLUMNS, LABELS, Entropy
from bertviz_core.analyses.entropy.statements import STATEMENTS
from bertviz_core.models.model import AttentionModel

if TYPE_CHECKING:
    from bertviz_core.analyses.base.accumulators import SegmentAverages


class EntropyAnalysis(Analysis):
    """Entropy of every head's attention."""

    name = "entropy"
    title = "Entropy"
    summary = "Entropy of every head's attention, in nats (section 3.3; Figure 4)."
    section = "Section 3.3, Figure 4"
    icon = ":material/blur_on:"
    result_class = Entropy
    columns = COLUMNS
    labels = LABELS
    statements = STATEMENTS
    main_figure = staticmethod(paper_figure)
    control = "of"
    behaviors: Mapping[str, str] = {"entropy": "broad"}
    shared = True
    has_paper_means = True
    has_attention_lines = True
    prefix = ""

    def accumulator(self, model: AttentionModel, request: Request) -> "SegmentAverages":
        from bertviz_core.analyses.entropy import measure

        return measure.accumulator(model, request)

    def clearest(self, result: Result) -> dict[str, str]:
        assert isinstance(result, Entropy)
        return {"entropy": "broad attention"} if "entropy" in result else {}
