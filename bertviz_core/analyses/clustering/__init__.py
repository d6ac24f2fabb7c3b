"""Clustering: which heads attend alike (section 6; Figure 6)."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Annotated

import numpy as np
from typing_extensions import Doc

from bertviz_core.analyses.analysis import Analysis
from bertviz_core.analyses.behaviors import OTHER, Thresholds, linguistic_heads
from bertviz_core.analyses.clustering.figure import more_figures, paper_figure
from bertviz_core.analyses.clustering.result import Clustering, layers_of_heads, nats, within_and_between
from bertviz_core.analyses.findings import Answer, Interval, Statement, decide
from bertviz_core.analyses.request import Request, View
from bertviz_core.analyses.results import Result
from bertviz_core.models.checkpoint import Checkpoint

PERMUTATIONS = 199


def layers(result: Clustering, base: int) -> Answer:
    state = decide(closer(result.divergence, layers_of_heads(result.shape)))
    return Answer(state, f"{result.layer_divergence.text(nats(result.summed))}.")


def behaviors(result: Clustering, base: int) -> Answer:
    labels = result.behaviors.reshape(-1)
    chosen = labels != OTHER
    divergence, labels = result.divergence[np.ix_(chosen, chosen)], labels[chosen]
    within, between = within_and_between(divergence, labels)
    if np.isnan([within, between]).any():
        raise KeyError("behaviors")
    return Answer(
        decide(closer(divergence, labels)),
        f"Two heads with the same behavior differ by {within:.3g} {nats(result.summed)} on average, two with different "
        f"behaviors by {between:.3g}.",
    )


def closer(divergence: np.ndarray, labels: np.ndarray) -> Interval:
    """How much closer heads with the same label are, less what 95% of the permutations of the labels give."""

    def gain(labels: np.ndarray) -> float:
        within, between = within_and_between(divergence, labels)
        return between - within

    if np.isnan(observed := gain(labels)):
        return Interval(np.nan, np.nan)
    chance = np.random.default_rng(0)
    low, high = np.quantile([gain(chance.permutation(labels)) for _ in range(PERMUTATIONS)], (0.025, 0.975))
    return Interval(observed - high, observed - low)


STATEMENTS = (
    Statement(
        "layers",
        "6",
        "Heads of one layer are often fairly close to each other, perhaps because dropout makes several learn the "
        "same.",
        "The mean divergence of two heads of one layer is below that of two of different layers by more than in 95% of "
        f"{PERMUTATIONS} permutations of the heads.",
        layers,
    ),
    Statement(
        "behaviors",
        "6",
        "Heads with the same behavior form clusters.",
        "The mean divergence of two heads with the same behavior is below that of two with different ones by more than "
        f"in 95% of {PERMUTATIONS} permutations of these heads.",
        behaviors,
    ),
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
    statements = STATEMENTS
    main_figure = staticmethod(paper_figure)
    more_figures = staticmethod(more_figures)
    overhead = 2.0

    def cost(self, checkpoint: Checkpoint) -> float:
        """The pass that computes the maps, and the divergences of all pairs of heads."""
        return 1 + (checkpoint.layers * checkpoint.heads) ** 2 / 20_000
