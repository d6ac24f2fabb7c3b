"""Clustering: which heads attend alike (section 6; Figure 6)."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Annotated

import numpy as np
from typing_extensions import Doc

from bertviz_core.analyses.analysis import Analysis
from bertviz_core.analyses.behaviors import OTHER, Thresholds, linguistic_heads
from bertviz_core.analyses.clustering.figure import matrix, paper_figure
from bertviz_core.analyses.clustering.result import Clustering, within_and_between
from bertviz_core.analyses.findings import Answer, Interval, Statement, decide
from bertviz_core.analyses.request import Request, View
from bertviz_core.analyses.results import Result
from bertviz_core.models.checkpoint import Checkpoint

PERMUTATIONS = 199


def alike(result: Clustering, labels: np.ndarray, same: str, different: str) -> Answer:
    """How much closer two heads with the same label are than others, less what 95% of the permutations of the labels
    give; heads labeled OTHER are left out."""
    chosen = labels != OTHER
    divergence, labels = result.divergence[np.ix_(chosen, chosen)], labels[chosen]
    within, between = within_and_between(divergence, labels)
    if np.isnan([within, between]).any():
        raise KeyError(same)
    chance, gains = np.random.default_rng(0), []
    for _ in range(PERMUTATIONS):
        permuted = within_and_between(divergence, chance.permutation(labels))
        gains.append(permuted[1] - permuted[0])
    low, high = np.quantile(gains, (0.025, 0.975))
    return Answer(
        decide(Interval(between - within - high, between - within - low)),
        f"Two heads {same} differ by {within:.3g} nats{' in all' if result.summed else ''} on average, two heads "
        f"{different} by {between:.3g}.",
    )


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
    labels: Mapping[str, str] = {  # of what two runs are compared by
        "to_own_layer": "mean divergence from the heads of its layer, nats",
        "to_other_layers": "mean divergence from the heads of other layers, nats",
    }
    statements = (
        Statement(
            "layers",
            "6",
            "Heads of one layer are often fairly close to each other, perhaps because dropout makes several learn the "
            "same.",
            "The mean divergence of two heads of one layer is below that of two of different layers by more than in "
            f"95% of {PERMUTATIONS} permutations of the heads.",
            lambda result, base: alike(result, result.layers.astype(str), "of one layer", "of different layers"),
        ),
        Statement(
            "behaviors",
            "6",
            "Heads with the same behavior form clusters.",
            "The mean divergence of two heads with the same behavior is below that of two with different ones by more "
            f"than in 95% of {PERMUTATIONS} permutations of these heads.",
            lambda result, base: alike(
                result, result.behaviors.reshape(-1), "with the same behavior", "with different behaviors"
            ),
        ),
    )
    main_figure = staticmethod(paper_figure)
    more_figures = staticmethod(lambda result: {"All pairs, ordered by a dendrogram": matrix(result)})
    overhead = 2.0

    def cost(self, checkpoint: Checkpoint) -> float:
        """The pass that computes the maps, and the divergences of all pairs of heads."""
        return 1 + (checkpoint.layers * checkpoint.heads) ** 2 / 20_000
