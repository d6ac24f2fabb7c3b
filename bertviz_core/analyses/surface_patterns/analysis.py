"""Surface patterns: which heads attend to neighbors, special tokens and punctuation (sections 3.1, 3.2; Figure 2)."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

import plotly.graph_objects as go

from bertviz_core.analyses.base.analysis import Analysis
from bertviz_core.analyses.base.request import Request
from bertviz_core.analyses.base.result import Result
from bertviz_core.analyses.surface_patterns.figure import paper_figure
from bertviz_core.analyses.surface_patterns.result import COLUMNS, NORM_LABELS, SurfacePatterns
from bertviz_core.analyses.surface_patterns.statements import STATEMENTS
from bertviz_core.heads import Head
from bertviz_core.models.model import AttentionModel

if TYPE_CHECKING:
    from bertviz_core.analyses.base.accumulators import SegmentAverages


class SurfacePatternsAnalysis(Analysis):
    """Attention to neighbors, special tokens and punctuation."""

    name = "surface_patterns"
    title = "Surface patterns"
    summary = "Attention to offsets, special tokens and punctuation, for every head (section 3.1, 3.2; Figure 2)."
    section = "Section 3.1–3.2, Figure 2"
    icon = ":material/grid_on:"
    result_class = SurfacePatterns
    columns = COLUMNS
    labels = NORM_LABELS
    statements = STATEMENTS
    main_figure = staticmethod(paper_figure)
    control = "quantity"
    shared = True
    prefix = ""

    def accumulator(self, model: AttentionModel, request: Request) -> "SegmentAverages":
        from bertviz_core.analyses.surface_patterns import measure

        return measure.accumulator(model, request)

    def tour_figure(self, result: Result, head: Head | None, base: int, named: Mapping[str, str]) -> go.Figure:
        """The first panel of Figure 2, which fits a slide."""
        assert isinstance(result, SurfacePatterns)
        return paper_figure(result, base, panels=1)
