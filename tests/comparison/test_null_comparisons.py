"""Two samples of one population: how often some head is marked, and how often an interval has the true value.

The values of a document's segments, and the mentions of a document, are alike, and documents differ in length.
"""

import numpy as np
import pytest
import torch

from bertviz_core.analyses.averages import SegmentAverages
from bertviz_core.analyses.coreference_heads.counts import interval_by_document
from bertviz_core.analyses.head_averages import averages_of
from bertviz_core.analyses.proportions import Estimate, effective_n
from bertviz_core.comparison.change import Change

HEADS, COMPARISONS, MEAN = 72, 400, 0.3
UNITS = (3, 5, 10, 40)


def averages(random: np.random.Generator, documents: int):
    """The result of segments of so many documents, with several segments each; few have high values (skewness 1.4)."""
    of = np.repeat(np.arange(documents), random.integers(1, 7, documents))
    shape = documents, 1, HEADS, 1
    own = 0.1 * (random.gamma(1.5, size=shape) - 1.5)
    effects = random.normal(0, 0.05, (documents, 1, 1, 1)) + own
    values = MEAN + effects[of] + random.normal(0, 0.05, (len(of), 1, HEADS, 1))
    sums = SegmentAverages(("q",), None, 1, HEADS, "cpu")
    sums.add(0, torch.from_numpy(values[:, 0]), torch.arange(len(of)), of)
    return averages_of("entropy")(provenance={}, texts={}, **sums.result())


def proportions(random: np.random.Generator, documents: int) -> tuple[Estimate, tuple[np.ndarray, np.ndarray]]:
    """Right guesses among the mentions of so many documents, and their intervals."""
    n = random.integers(20, 101, documents).astype(float)
    shares = random.beta(6 * MEAN, 6 * (1 - MEAN), (HEADS, documents))
    correct = random.binomial(n.astype(int), shares).astype(float)
    moments = [np.full(HEADS, documents), np.full(HEADS, (n**2).sum()), (n * correct).sum(1), (correct**2).sum(1)]
    sums = correct.sum(1), np.full(HEADS, n.sum()), np.array(moments)
    size, freedom = effective_n(*sums)
    values = (sums[0] / sums[1])[None]
    estimate = Estimate(values, None, int(n.sum()), size[None], freedom[None], documents, "documents")
    return estimate, interval_by_document(*sums)


@pytest.mark.parametrize("kind", ["averages", "proportions"])
@pytest.mark.parametrize("units", UNITS)
def test_heads_of_one_population_rarely_differ_and_intervals_cover(kind, units):
    random = np.random.default_rng(units)
    marked, covered = [], []
    for _ in range(COMPARISONS):
        estimates = []
        for _ in "AB":
            if kind != "proportions":
                result = averages(random, units)
                half, mean = result.interval("q"), result["q"]
                estimates.append(result.estimates()["q"])
                low, high = mean - half, mean + half
            else:
                estimate, (low, high) = proportions(random, units)
                estimates.append(estimate)
            covered.append(np.mean((low <= MEAN) & (high >= MEAN)))
        marked.append(Change.of(*estimates).marked.any())
    print(kind, units, np.mean(marked), np.mean(covered))
    assert np.mean(marked) <= (0.07 if units >= 5 else 0.0)
    if units >= 10:
        assert 0.93 <= np.mean(covered) <= 0.97
