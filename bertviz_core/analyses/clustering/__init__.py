"""Clustering: which heads attend alike (section 6; Figure 6)."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated

from typing_extensions import Doc

from bertviz_core.analyses.analysis import Analysis
from bertviz_core.analyses.behaviors import Thresholds, linguistic_heads
from bertviz_core.analyses.clustering.figure import more_figures, paper_figure
from bertviz_core.analyses.clustering.findings import STATEMENTS
from bertviz_core.analyses.clustering.result import Clustering
from bertviz_core.analyses.request import Request, View
from bertviz_core.analyses.results import Result
from bertviz_core.models.checkpoint import Checkpoint

LABELS = {  # of what two runs are compared by
    "to_own_layer": "mean divergence from the heads of its layer, nats",
    "to_other_layers": "mean divergence from the heads of other layers, nats",
}


@dataclass(frozen=True)
class ClusteringView(View):
    """How the divergences are embedded and the heads labeled."""

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
    """Divergences between all pairs of heads, and their embedding."""

    name = "clustering"
    title = "Clustering"
    summary = "How alike heads are: Jensen-Shannon divergences of all pairs, and an embedding (section 6; Figure 6)."
    section = "Section 6, Figure 6"
    icon = ":material/scatter_plot:"
    result_class = Clustering
    view = ClusteringView
    labels = LABELS
    statements = STATEMENTS
    main_figure = staticmethod(paper_figure)
    more_figures = staticmethod(more_figures)
    overhead = 2.0

    def cost(self, checkpoint: Checkpoint) -> float:
        """The pass that computes the maps, and the divergences of all pairs of heads."""
        return 1 + (checkpoint.layers * checkpoint.heads) ** 2 / 20_000
