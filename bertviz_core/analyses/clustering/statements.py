"""What the paper says of clusters of heads (section 6), and how a result decides it (docs/methods.md, section 9)."""

import numpy as np

from bertviz_core.analyses.base.findings import UNDECIDED, Answer, Interval, Statement, decide_worth, tiny
from bertviz_core.analyses.base.statistics import MIN_UNITS, share, units_text
from bertviz_core.analyses.behaviors import OTHER
from bertviz_core.analyses.clustering.result import Clustering

PERMUTATIONS = 199
LEAST = 0.1  # the smallest difference that is worth the name, as a share of the mean divergence of different labels


def within_and_between(divergence: np.ndarray, labels: np.ndarray) -> tuple[float, float]:
    """Mean divergence of two heads with the same label, and with different ones; NaN where there are none.

    Args:
        divergence: (head, head) divergences of all pairs, symmetric, 0 on the diagonal.
        labels: (head,) a label for each head.
    """
    members = (labels[:, None] == np.unique(labels)).astype(float)  # (head, label)
    within = (members * (divergence @ members)).sum()  # The sum counts each pair in both orders, as the other sums do.
    count = len(labels)
    same = (members.sum(0) ** 2).sum() - count
    different = count * (count - 1) - same
    return float(share(within, same)), float(share(divergence.sum() - within, different))


def alike(result: Clustering, labels: np.ndarray, same: str, different: str) -> Answer:
    """Decide whether heads with the same label are closer to each other than heads with different labels.

    With w the mean divergence of two heads with the same label and b that of two heads with different ones, heads
    labeled OTHER left out, the gain is b - w. It is compared with the gains of PERMUTATIONS permutations of the labels:
    the interval is [gain - q97.5, gain - q2.5], q being their quantiles, and the statement is shown where all of it is
    above 0 and the gain is LEAST of b or more (docs/methods.md, section 6, Decisions). As permutations of heads say
    nothing of other texts, fewer than MIN_UNITS documents decide nothing.

    Args:
        result: The divergences of all pairs of heads.
        labels: (layer, head) or (head,) a label for each head.
        same: Words of the sentence for two heads with the same label, as "of one layer".
        different: Words of the sentence for two heads with different labels.

    Raises:
        KeyError: No two heads have the same label, or no two have different ones.
    """
    labels = labels.reshape(-1)
    chosen = labels != OTHER
    divergence = result.divergence[np.ix_(chosen, chosen)]
    labels = labels[chosen]
    within, between = within_and_between(divergence, labels)
    if np.isnan([within, between]).any():
        raise KeyError(same)
    rng = np.random.default_rng(0)
    permuted = [within_and_between(divergence, rng.permutation(labels)) for _ in range(PERMUTATIONS)]
    low, high = np.quantile([b - w for w, b in permuted], (0.025, 0.975))
    gain = between - within
    interval = Interval(gain - high, gain - low)
    least = LEAST * between
    units, unit = result.read_units
    few = f" Only {units_text(units, unit)}." if units < MIN_UNITS else ""
    return Answer(
        UNDECIDED if few else decide_worth(interval, gain, least),
        f"Two heads {same} differ by {within:.3g} nats{' in all' if result.summed else ''} on average, two heads "
        f"{different} by {between:.3g}.{tiny(interval, gain, least, f'{LEAST:.0%} of the latter')}{few}",
        number=f"{within:.3g} nats against {between:.3g}",
    )


def layers_are_alike(result: Clustering) -> Answer:
    """Whether heads of one layer are closer to each other than heads of different layers, see `alike`."""
    return alike(result, result.layers.astype(str), "of one layer", "of different layers")


def behaviors_are_alike(result: Clustering) -> Answer:
    """Whether heads with one behavior are closer to each other than heads with different ones, see `alike`."""
    return alike(result, result.behaviors, "with the same behavior", "with different behaviors")


STATEMENTS = (
    Statement(
        name="layers",
        section="6",
        statement="Heads of one layer are often fairly close to each other, perhaps because dropout makes several "
        "learn the same.",
        rule="The mean divergence of two heads of one layer is below that of two of different layers, by "
        f"{LEAST:.0%} or more, and by more than in 95% of {PERMUTATIONS} permutations of the heads.",
        answer=layers_are_alike,
    ),
    Statement(
        name="behaviors",
        section="6",
        statement="Heads with the same behavior form clusters.",
        rule="The mean divergence of two heads with the same behavior is below that of two with different ones, by "
        f"{LEAST:.0%} or more, and by more than in 95% of {PERMUTATIONS} permutations of these heads.",
        answer=behaviors_are_alike,
    ),
)
