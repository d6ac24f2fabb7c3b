"""What figures share: percentages, ranks, the bands of many heads, the axis of many layers."""

import numpy as np
import pytest

from bertviz_core.heads import all_heads
from bertviz_core.overview.figure import head_rows
from bertviz_core.overview.head_summary import Column
from bertviz_core.plotting.head_map import value_map
from bertviz_core.plotting.style import Series, layer_figure, percent


@pytest.mark.parametrize(
    ("share", "n", "text"),
    [(60 / 119, 119, "50%"), (868 / 1000, 1000, "86.8%"), (1.0, 2, "100%"), (float("nan"), 0, "–")],
)
def test_a_decimal_is_shown_where_one_case_is_worth_a_tenth_of_a_percent_or_less(share: float, n: int, text: str):
    assert percent(share, n) == text


def test_a_head_has_one_rank_in_the_hover_and_in_the_table():
    values = np.array([[0.5, np.nan, 0.5], [0.1, 0.9, np.nan]])
    hover = [int(text.split("rank ")[1].split()[0]) for text in value_map(values, "x").hover]
    assert hover == [2, 5, 3, 4, 1, 6]
    column = Column("surface_patterns", "next", values)
    rows = [head_rows([column], head)[0] for head in all_heads(2, 3)]
    assert [row["rank"] for row in rows] == [f"{rank} of 6" for rank in hover]


def test_many_heads_are_a_band_with_a_dot_for_the_highest_head_of_each_layer():
    values = np.random.default_rng(0).random((20, 64))
    figure = layer_figure([[Series("next", values, "next token", ("#e03131", "circle"))]], base=1, height=400)
    band, dots, line = figure.data
    assert dots.y.tolist() == values.max(1).tolist() and line.y.tolist() == values.mean(1).tolist()
    assert [labels[0] for labels in dots.customdata] == [
        f"{i}-{j}" for i, j in enumerate(values.argmax(1) + 1, start=1)
    ]
    high, low = np.split(np.array(band.y), 2)
    np.testing.assert_allclose([low[::-1], high], np.quantile(values, (0.25, 0.75), axis=1))


def test_of_many_layers_few_are_named():
    for layers, named in ((12, list(range(1, 13))), (80, list(range(1, 81, 4)))):
        figure = layer_figure([[Series("next", np.ones((layers, 2)), "next", ("red", "circle"))]], base=0, height=400)
        assert list(figure.layout.xaxis.tickvals) == named
        assert list(figure.layout.xaxis.ticktext) == [str(layer - 1) for layer in named]
