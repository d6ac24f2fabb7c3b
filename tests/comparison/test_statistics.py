"""Tests and intervals equal the oracle's, and published examples; two samples of one population rarely differ."""

import math
from dataclasses import replace

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from bertviz_core.analyses.base.accumulators import SegmentSums
from bertviz_core.analyses.base.statistics import Estimate, effective_n, t_quantile
from bertviz_core.analyses.coreference_heads.antecedents import interval_by_document
from bertviz_core.analyses.dependency_heads.relations import RelationCounts
from bertviz_core.analyses.entropy.result import Entropy
from bertviz_core.comparison.change import Change, changes, holm
from bertviz_core.corpora.treebank import TOTALS
from tests.oracles import comparison as oracle
from tests.oracles import uncertainty
from tests.support.maps import numbered

shares = st.integers(1, 400).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n)))
freedoms = st.floats(1.5, 60)
documents = st.lists(st.integers(1, 30).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))), min_size=2)


def proportion(right: float, n: int, **more) -> Estimate:
    return Estimate(np.array([[right / n]]), n=n, **more)


def average(mean: float, error: float, **more) -> Estimate:
    return Estimate(np.array([[mean]]), np.array([[error]]), **more)


def test_newcombes_own_examples():
    """Newcombe (1998), table II: 56/70 - 48/80 has .0524 to .3339, 9/10 - 3/10 .1705 to .8090, 10/10 - 0/10 .6075 to
    1.0000."""
    for b, a, expected in (
        ((56, 70), (48, 80), (0.0524, 0.3339)),
        ((9, 10), (3, 10), (0.1705, 0.8090)),
        ((10, 10), (0, 10), (0.6075, 1.0)),
    ):
        change = Change.of(proportion(*a), proportion(*b))
        assert (change.low.item(), change.high.item()) == pytest.approx(expected, abs=5e-5)


@given(shares, shares)
def test_shares_differ_where_newcombes_interval_excludes_0(a, b):
    change = Change.of(proportion(*a), proportion(*b))
    low, high = oracle.newcombe(*a, *b)
    assert (change.low.item(), change.high.item()) == pytest.approx((low, high), abs=1e-9)
    if min(abs(low), abs(high)) > 1e-9:
        assert change.marked.item() == (low > 0 or high < 0)


@settings(max_examples=20)
@given(shares, shares)
def test_p_is_the_level_whose_interval_ends_at_0(a, b):
    p = Change.of(proportion(*a), proportion(*b)).p.item()
    if 1e-6 < p < 1:
        z = uncertainty.t_quantile(1e6, p)
        ends = oracle.newcombe(*a, *b, z)
        assert min(map(abs, ends)) < 1e-3


def test_one_mention_decides_nothing():
    change = Change.of(proportion(0, 1), proportion(1, 1))
    assert change.p.item() > 0.05 and change.low.item() < 0


@given(documents)
def test_the_effective_number_of_mentions(counts):
    right, n = (np.array(each, dtype=float) for each in zip(*counts, strict=True))
    moments = np.array([len(n), (n * n).sum(), (n * right).sum(), (right * right).sum()])
    size, freedom = effective_n(right.sum(), n.sum(), moments)
    assert size == pytest.approx(uncertainty.effective_n(counts), rel=1e-6)
    assert freedom + 1 == pytest.approx(uncertainty.kish(n.tolist()))


@settings(max_examples=20)
@given(st.floats(-3, 3), st.floats(0.2, 2), freedoms, st.floats(0.2, 2), freedoms)
def test_averages_by_welchs_test(difference, error_a, freedom_a, error_b, freedom_b):
    change = Change.of(average(0, error_a, freedom=freedom_a), average(difference, error_b, freedom=freedom_b))
    error = math.hypot(error_a, error_b)
    freedom = uncertainty.welch(error_a**2, freedom_a, error_b**2, freedom_b)
    assert change.p.item() == pytest.approx(uncertainty.t_tails(abs(difference) / error, freedom), abs=1e-7)
    half = uncertainty.t_quantile(freedom) * error
    assert (change.low.item(), change.high.item()) == pytest.approx((difference - half, difference + half), rel=1e-6)


def test_what_too_few_units_would_show_has_no_p():
    for units, tested in ((4, False), (5, True), (None, True)):
        for make, values in ((average, ((0.1, 0.01), (0.9, 0.01))), (proportion, ((10, 100), (90, 100)))):
            change = Change.of(make(*values[0], units=units), make(*values[1], units=40))
            assert change.untested != tested and change.marked.item() == tested


def test_p_without_errors():
    same = Change.of(average(0.5, 0), average(0.5, 0)).p.item()
    other, unknown = (Change.of(average(0, error), average(0.5, error)).p.item() for error in (0.0, math.nan))
    assert same == 1 and other == 0 and math.isnan(unknown)


def test_intervals_that_hold_together_are_wider():
    for freedom in (3.0, 17.5, 1e6):
        assert t_quantile(freedom, 12) == pytest.approx(uncertainty.t_quantile(freedom, 0.05 / 12), rel=1e-5)


def test_holm_worked_by_hand():
    """.01 x 4, .02 x 3, .04 x 2; the last, .03, comes third: .03 x 2 = .06, and .04 x 1 is raised to it."""
    assert holm(np.array([[0.01, 0.04], [0.03, 0.02]])) == pytest.approx(np.array([[0.04, 0.06], [0.06, 0.06]]))


def test_what_is_looked_at_together_is_corrected_together():
    """56/70 against 48/80 has p = .0081 alone: of two directions .0162, and beside two equal pairs of shares .0486."""
    a, b = proportion(48, 80), proportion(56, 70)
    alone = Change.of(a, b).p.item()
    twice = Change.of(*(replace(each, choices=2) for each in (a, b))).p.item()
    same = proportion(10, 20)
    together = changes({"x": a, "y": same, "z": same}, {"x": b, "y": same, "z": same})
    assert alone == pytest.approx(0.0081, abs=5e-4)
    assert twice == pytest.approx(2 * alone) and together["x"].p.item() == pytest.approx(3 * alone)
    assert together["y"].p.item() == 1


@given(st.lists(st.floats(0, 1), min_size=1, max_size=30), st.sampled_from([0.05, 0.2]))
def test_holm_marks_what_the_procedure_rejects(p, alpha):
    adjusted = holm(np.array([*p, math.nan]))
    assert math.isnan(adjusted[-1])
    unclear = [i for i, value in enumerate(adjusted[:-1]) if abs(value - alpha) < 1e-12]
    marked = {i for i, value in enumerate(adjusted[:-1]) if value <= alpha}
    assert marked - set(unclear) == oracle.holm_rejects(p, alpha) - set(unclear)


HEADS, COMPARISONS, MEAN = 72, 200, 0.3
UNITS = (3, 5, 40)


def averages(random: np.random.Generator, documents: int):
    """The result of segments of so many documents, with several segments each; few have high values (skewness 1.4)."""
    of = np.repeat(np.arange(documents), random.integers(1, 7, documents))
    shape = documents, 1, HEADS, 1
    own = 0.1 * (random.gamma(1.5, size=shape) - 1.5)
    effects = random.normal(0, 0.05, (documents, 1, 1, 1)) + own
    values = MEAN + effects[of] + random.normal(0, 0.05, (len(of), 1, HEADS, 1))
    sums = SegmentSums(("q",), None, 1, HEADS, "cpu")
    sums.add(numbered(range(len(of)), of), 0, torch.from_numpy(values[:, 0])[None])
    return Entropy(provenance={}, texts={}, **sums.result())


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


RELATIONS, SIZE = 12, 3


def relation_counts(random: np.random.Generator, documents: int) -> RelationCounts:
    """Right guesses of SIZE x SIZE heads on the relations of so many documents, in each of which a head may be better
    or worse than elsewhere."""
    n = random.poisson(8, (documents, RELATIONS))
    n[:, :2] += 60
    shape = documents, 2, RELATIONS, SIZE, SIZE
    easy = random.beta(6 * MEAN, 6 * (1 - MEAN), (documents, 2, 1, SIZE, SIZE))  # for all relations of a document
    right = random.binomial(np.broadcast_to(n[:, None, :, None, None], shape), easy)
    fold = (np.arange(documents) % 2 == np.arange(2)[:, None]).astype(int)  # (fold, document)
    sized = n[:, None, :, None, None] * right
    return RelationCounts(
        {"options": {"view": "function-heads"}, "unit": "documents"},
        relations=[*TOTALS, *map(str, range(2, RELATIONS))],
        n=fold @ n,
        correct=np.einsum("fu,udrlh->fdrlh", fold, right),
        offsets=np.array([1]),
        offset_correct=np.zeros((1, RELATIONS), dtype=int),
        unit_moments=np.stack([fold @ (n > 0), fold @ (n * n)]),
        head_moments=np.stack([np.einsum("fu,udrlh->fdrlh", fold, each) for each in (sized, right * right)]),
    )


def test_heads_of_one_population_of_documents_rarely_differ_in_any_relation():
    random = np.random.default_rng(0)
    marked = {"together": 0, "words are independent": 0}
    for _ in range(20):
        a, b = (relation_counts(random, 30).estimates() for _ in "AB")
        marked["together"] += any(each.marked.any() for each in changes(a, b).values())
        words = [{key: replace(each, effective_n=None, freedom=1e9) for key, each in run.items()} for run in (a, b)]
        marked["words are independent"] += any(each.marked.any() for each in changes(*words).values())
    assert marked["together"] <= 1
    assert marked["words are independent"] > 10


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
    assert np.mean(marked) <= (0.07 if units >= 5 else 0.0)
    if units >= 10:
        assert 0.93 <= np.mean(covered) <= 0.97
