"""What figures share: percentages, ranks, bands of many heads, the axis of many layers. A drawing rings the chosen head
in a copy, says what it was made from, and never changes what others share."""

import copy
import json

import numpy as np
import plotly.graph_objects as go
import pytest

from bertviz_core.heads import Head, all_heads
from bertviz_core.overview import Column
from bertviz_core.overview.figure import head_rows
from bertviz_core.plotting.drawing import FigureSpec
from bertviz_core.plotting.head_map import value_map
from bertviz_core.plotting.style import CLS, NEXT, RING, SEP, Series, layer_figure, percent

VALUES = np.random.default_rng(0).random((3, 2))


def dots() -> FigureSpec:
    """Two panels, as most figures of the paper are."""
    above = [Series("to_cls", VALUES, "[CLS]", CLS), Series("to_sep", 1 - VALUES, "[SEP]", SEP)]
    below = [Series("next", 2 * VALUES, "next", NEXT)]
    return FigureSpec.of(layer_figure([above, below], base=1, height=400))


@pytest.mark.parametrize("head", [Head(0, 0), Head(2, 1)])
def test_a_circle_stands_round_the_head_in_every_series(head: Head) -> None:
    drawing = dots()
    rings = drawing.spec(head)["data"][len(drawing.data) :]
    value = VALUES[head.layer, head.head]
    assert [ring["y"][0] for ring in rings] == pytest.approx([value, 1 - value, 2 * value])
    assert [ring["xaxis"] for ring in rings] == ["x", "x", "x2"]
    assert all(abs(ring["x"][0] - head.layer - 1) < 0.5 for ring in rings)
    assert {ring["marker"]["color"] for ring in rings} == {RING}
    assert {ring["hoverinfo"] for ring in rings} == {"skip"}  # a click goes to the dot under it


def test_no_head_and_a_head_that_is_not_drawn_leave_the_traces_alone() -> None:
    drawing = dots()
    assert drawing.spec()["data"] == drawing.spec(Head(7, 7))["data"] == list(drawing.data)


def test_the_foot_says_what_the_figure_was_made_from_and_has_room() -> None:
    layout = FigureSpec.of(go.Figure(layout={"height": 300, "margin": {"b": 10}})).spec(origin="<b>mine</b>")["layout"]
    assert layout["title"]["text"] == "&lt;b>mine&lt;/b>"
    assert (layout["height"], layout["margin"]["b"]) == (324, 34)


def test_what_readers_share_is_not_changed_by_any_of_them() -> None:
    drawing = dots()
    before = copy.deepcopy((drawing.data, drawing.layout))
    first = json.dumps(drawing.spec(Head(0, 1), "one", [{"type": "rect"}]))
    drawing.spec(Head(2, 0), "another")
    assert (drawing.data, drawing.layout) == before
    assert json.dumps(drawing.spec(Head(0, 1), "one", [{"type": "rect"}])) == first


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
