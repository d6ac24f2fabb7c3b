"""Reach: how far each head looks, its sinks, its output, and how strongly it acts on each input (beyond the paper;
docs/methods.md, section 17)."""

from typing import TYPE_CHECKING

from bertviz_core.analyses.base.analysis import Analysis
from bertviz_core.analyses.base.head_figures import HeadFigure
from bertviz_core.analyses.base.request import Request
from bertviz_core.analyses.base.result import Result
from bertviz_core.analyses.reach.figure import offsets_curve, paper_figure
from bertviz_core.analyses.reach.result import COLUMNS, LABELS, Reach
from bertviz_core.analyses.reach.statements import STATEMENTS
from bertviz_core.heads import Head
from bertviz_core.models.model import AttentionModel

if TYPE_CHECKING:
    from bertviz_core.analyses.reach.sums import ReachSums


class ReachAnalysis(Analysis):
    """How far heads look, and what shows that they do little."""

    name = "reach"
    title = "Reach"
    summary = (
        "How far every head looks, which token is its sink, how long its output is beside those of its layer, and how "
        "strongly it acts on each input."
    )
    section = "How far does a head look?"
    icon = ":material/straighten:"
    result_class = Reach
    columns = COLUMNS
    labels = LABELS
    statements = STATEMENTS
    main_figure = staticmethod(paper_figure)
    shared = True

    def accumulator(self, model: AttentionModel, request: Request) -> "ReachSums":
        from bertviz_core.analyses.reach import measure

        return measure.accumulator(model, request)

    def head_figures(self, result: Result, head: Head, base: int) -> list[HeadFigure]:
        """Its numbers, and its attention by distance."""
        assert isinstance(result, Reach)
        by_distance = HeadFigure("Where it looks", curve=offsets_curve(result, head), sentence=result.restriction)
        return [*super().head_figures(result, head, base), by_distance]
