"""Percentages say no more than the sample supports; ranks are those of the tables."""

import numpy as np
import pytest

from bertviz_core.heads import all_heads
from bertviz_core.overview.figure import head_rows
from bertviz_core.overview.head_summary import Column
from bertviz_core.plotting.head_map import value_map
from bertviz_core.plotting.style import percent


@pytest.mark.parametrize(
    ("share", "n", "said"),
    [(60 / 119, 119, "50%"), (868 / 1000, 1000, "86.8%"), (1.0, 2, "100%"), (float("nan"), 0, "–")],
)
def test_a_decimal_is_shown_where_one_case_is_worth_a_tenth_of_a_percent_or_less(share: float, n: int, said: str):
    assert percent(share, n) == said


def test_a_head_has_one_rank_in_the_hover_and_in_the_table():
    values = np.array([[0.5, np.nan, 0.5], [0.1, 0.9, np.nan]])
    hover = [int(text.split("rank ")[1].split()[0]) for text in value_map(values, "x").hover]
    assert hover == [2, 5, 3, 4, 1, 6]
    column = Column("surface_patterns", "next", values)
    rows = [head_rows([column], head)[0] for head in all_heads(2, 3)]
    assert [row["rank"] for row in rows] == [f"{rank} of 6" for rank in hover]
