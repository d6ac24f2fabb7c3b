"""Findings of section 6: which heads are alike (Figure 6), decided by permutations of the heads."""

import numpy as np

from bertviz_core.analyses.behaviors import OTHER
from bertviz_core.analyses.clustering.result import Clustering, nats, within_and_between
from bertviz_core.analyses.findings import Answer, Interval, Statement, decide

PERMUTATIONS = 199


def layers(result: Clustering, base: int) -> Answer:
    labels = np.repeat(np.arange(result.shape[0]), result.shape[1])
    return Answer(decide(closer(result.divergence, labels)), f"{result.layer_divergence.text(nats(result.summed))}.")


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
