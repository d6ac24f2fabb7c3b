"""Tests and intervals equal the oracle's, and published examples."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bertviz_core.comparison.change import holm, newcombe, two_sided
from tests.oracles import comparison as oracle

shares = st.integers(1, 400).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n)))


def test_newcombes_own_examples():
    """Newcombe (1998), table II: 56/70 - 48/80 has .0524 to .3339, 9/10 - 3/10 .1705 to .8090, 10/10 - 0/10 .6075 to
    1.0000."""
    for (b, n_b), (a, n_a), expected in (
        ((56, 70), (48, 80), (0.0524, 0.3339)),
        ((9, 10), (3, 10), (0.1705, 0.8090)),
        ((10, 10), (0, 10), (0.6075, 1.0)),
    ):
        found = newcombe(np.array(a / n_a), n_a, np.array(b / n_b), n_b)
        assert found == pytest.approx(expected, abs=5e-5)


@given(shares, shares)
def test_the_interval_of_two_proportions(a, b):
    low, high = newcombe(np.array([a[0] / a[1]]), a[1], np.array([b[0] / b[1]]), b[1])
    assert (low[0], high[0]) == pytest.approx(oracle.newcombe(*a, *b), abs=1e-9)


@given(st.floats(-3, 3), st.floats(0.2, 2))
def test_p_is_the_area_of_both_tails(difference, error):
    found = two_sided(np.array([difference]), np.array([error]))[0]
    assert found == pytest.approx(oracle.p_value(difference, error), abs=1e-7)


def test_p_without_errors():
    found = two_sided(np.array([0.0, 0.5, 0.5]), np.array([0.0, 0.0, math.nan]))
    assert found[:2].tolist() == [1.0, 0.0] and math.isnan(found[2])


def test_holm_worked_by_hand():
    """.01 x 4, .02 x 3, .04 x 2; the last, .03, comes third: .03 x 2 = .06, and .04 x 1 is raised to it."""
    assert holm(np.array([[0.01, 0.04], [0.03, 0.02]])) == pytest.approx(np.array([[0.04, 0.06], [0.06, 0.06]]))


@given(st.lists(st.floats(0, 1), min_size=1, max_size=30), st.sampled_from([0.05, 0.2]))
def test_holm_marks_what_the_procedure_rejects(p, alpha):
    adjusted = holm(np.array([*p, math.nan]))
    assert math.isnan(adjusted[-1])
    unclear = [i for i, value in enumerate(adjusted[:-1]) if abs(value - alpha) < 1e-12]
    marked = {i for i, value in enumerate(adjusted[:-1]) if value <= alpha}
    assert marked - set(unclear) == oracle.holm_rejects(p, alpha) - set(unclear)
