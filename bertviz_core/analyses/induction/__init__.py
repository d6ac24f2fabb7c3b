"""Induction: do heads look for what followed the last time? (beyond the paper; docs/methods.md, section 15)."""

from __future__ import annotations

from typing import Any

from bertviz_core.analyses.analysis import Analysis
from bertviz_core.analyses.averages import SegmentAverages
from bertviz_core.analyses.induction.figure import paper_figure
from bertviz_core.analyses.induction.findings import STATEMENTS
from bertviz_core.analyses.induction.result import COLUMNS, Induction
from bertviz_core.analyses.request import Request
from bertviz_core.models.model import AttentionModel
from bertviz_core.models.random_sequences import INPUTS


class InductionAnalysis(Analysis):
    """Attention within repeated sequences of random tokens."""

    name = "induction"
    title = "Induction heads"
    summary = (
        "Attention within repeated sequences of random tokens: to what followed a token's first occurrence, to that "
        "occurrence, and to the previous token."
    )
    section = "Does a head continue what it has seen?"
    icon = ":material/repeat:"
    result_class = Induction
    corpus = "random"
    columns = COLUMNS
    statements = STATEMENTS
    own_figure = staticmethod(paper_figure)
    formula = (
        r"\frac{1}{n}\sum_{i=n+1}^{2n} A_{i,\,i-n+1} \qquad \frac{1}{n}\sum_{i=n+1}^{2n} A_{i,\,i-n} \qquad"
        r"\frac{1}{n}\sum_{i=n+1}^{2n} A_{i,\,i-1}"
    )
    limit = INPUTS

    def accumulator(self, model: AttentionModel, request: Request) -> SegmentAverages:
        from bertviz_core.analyses.induction.measure import measure

        quantities = [column.quantity for column in self.columns]
        return SegmentAverages(quantities, measure, model.layers, model.heads, model.device)

    def finish(self, accumulator: SegmentAverages, examples: Any, provenance: dict[str, Any]) -> Induction:
        from bertviz_core.analyses.induction import measure

        return measure.finish(accumulator, examples, provenance)
