"""Clustering: which heads attend alike (section 6; Figure 6)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

from typing_extensions import Doc

from bertviz_core.analyses.analysis import Analysis
from bertviz_core.analyses.behaviors import Thresholds, linguistic_heads
from bertviz_core.analyses.clustering.figure import more_figures, paper_figure
from bertviz_core.analyses.clustering.findings import STATEMENTS
from bertviz_core.analyses.clustering.result import Clustering
from bertviz_core.analyses.request import Request, View
from bertviz_core.analyses.results import Result
from bertviz_core.models.checkpoint import Checkpoint
from bertviz_core.models.model import AttentionModel

if TYPE_CHECKING:
    from bertviz_core.analyses.clustering.measure import DivergenceSums


@dataclass(frozen=True)
class ClusteringView(View):
    """How the divergences are pictured and the heads labeled."""

    root: Annotated[bool, Doc("Embed the JS distance (square root) instead of the divergence.")] = False
    threshold: Annotated[list[str] | None, Doc("Of a behavior, as entropy=3.0; repeatable. Nothing is recomputed.")] = (
        None
    )

    def check(self) -> None:
        Thresholds.read(self.threshold or [])

    def show(self, result: Result, request: Request, find: Callable[[Request], Result | None]) -> Result:
        assert isinstance(result, Clustering)
        named = linguistic_heads(request, find)
        thresholds = Thresholds.read(self.threshold or [])
        return result.embedded(request.settings.seed, self.root).labeled(thresholds, named)


class ClusteringAnalysis(Analysis):
    """Divergences between all pairs of heads, and their picture."""

    name = "clustering"
    title = "Clustering"
    summary = "How alike heads are: Jensen-Shannon divergences between all pairs, and a picture (section 6; Figure 6)."
    section = "Section 6, Figure 6"
    icon = ":material/scatter_plot:"
    result_class = Clustering
    view = ClusteringView
    statements = STATEMENTS
    own_figure = staticmethod(paper_figure)
    more_figures = staticmethod(more_figures)
    overhead = 2.0

    def accumulator(self, model: AttentionModel, request: Request) -> DivergenceSums:
        from bertviz_core.analyses.clustering import measure

        return measure.accumulator(model, request)

    def finish(self, accumulator: DivergenceSums, examples: Any, provenance: dict[str, Any]) -> Clustering:
        from bertviz_core.analyses.clustering import measure

        return measure.finish(accumulator, examples, provenance)

    def cost(self, checkpoint: Checkpoint) -> float:
        """The pass that gives the maps, and the divergences of all pairs of heads."""
        return 1 + (checkpoint.layers * checkpoint.heads) ** 2 / 20_000
