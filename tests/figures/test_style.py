"""Percentages say no more than the sample supports."""

from __future__ import annotations

import pytest

from bertviz_core.plotting.style import percent


@pytest.mark.parametrize(
    ("share", "n", "said"),
    [(60 / 119, 119, "50%"), (868 / 1000, 1000, "86.8%"), (1.0, 2, "100%"), (float("nan"), 0, "–")],
)
def test_a_decimal_is_shown_where_one_case_is_worth_a_tenth_of_a_percent_or_less(share: float, n: int, said: str):
    assert percent(share, n) == said
