import base64
import copy
import json
from io import BytesIO

import numpy as np
import plotly.graph_objects as go
import pytest
from PIL import Image

from bertviz_core.heads import Head, all_heads, counting_from
from bertviz_core.numbers import number, p_value, quantity
from bertviz_core.overview.head_columns import Column
from bertviz_core.overview.summary import head_rows
from bertviz_core.plotting import CLS, NEXT, RING, SEP, HeadSeries, layer_figure, percent
from bertviz_core.plotting.drawing import FigureSpec
from bertviz_core.plotting.head_map import picture_map, signed_map, value_map

VALUES = np.random.default_rng(0).random((3, 2))
CELLS = np.array([[0.0, 0.5, np.nan], [1.0, 0.25, 2.0]])


def dots() -> FigureSpec:
    """Two panels, as most figures of the paper are."""
    above = [HeadSeries("to_cls", VALUES, "[CLS]", CLS, ""), HeadSeries("to_sep", 1 - VALUES, "[SEP]", SEP, "")]
    below = [HeadSeries("next", 2 * VALUES, "next", NEXT, "")]
    return FigureSpec.of(layer_figure([above, below], height=400))


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


def test_a_dot_whose_size_no_figure_says_has_its_circle() -> None:
    spec = FigureSpec.of(go.Figure(go.Scatter(x=[1], y=[2], customdata=[["1-1"]]))).spec(Head(0, 0))
    assert spec["data"][1]["marker"]["size"] > 6


def test_the_foot_says_what_the_figure_was_made_from_and_has_room() -> None:
    layout = FigureSpec.of(go.Figure(layout={"height": 300, "margin": {"b": 10}})).spec(origin="<b>mine</b>")["layout"]
    assert layout["title"]["text"] == "&lt;b>mine&lt;/b>"
    assert (layout["height"], layout["margin"]["b"]) == (324, 34)


def test_readers_share_a_drawing_whose_traces_none_of_them_changes():
    drawing = dots()
    before = copy.deepcopy((drawing.data, drawing.layout))
    first = json.dumps(drawing.spec(Head(0, 1), "one"))
    drawing.spec(Head(2, 0), "another")
    assert (drawing.data, drawing.layout) == before
    assert json.dumps(drawing.spec(Head(0, 1), "one")) == first
    assert drawing.spec()["data"] == drawing.spec(Head(7, 7))["data"] == list(drawing.data)


@pytest.mark.parametrize(
    ("share", "n", "text"),
    [(60 / 119, 119, "50%"), (868 / 1000, 1000, "86.8%"), (1.0, 2, "100%"), (float("nan"), 0, "–")],
)
def test_a_decimal_is_shown_where_one_case_is_worth_a_tenth_of_a_percent_or_less(share: float, n: int, text: str):
    assert percent(share, n) == text


def test_a_head_has_one_rank_in_the_hover_and_in_the_table():
    values = np.array([[0.5, np.nan, 0.5], [0.1, 0.9, np.nan]])
    hover = [text.partition("rank ")[2] for text in value_map(values, "x").hover]
    assert hover == ["2 of 4", "", "2 of 4", "4 of 4", "1 of 4", ""]
    column = Column("surface_patterns", "next", values)
    rows = [head_rows([column], head)[0] for head in all_heads(2, 3)]
    assert [row["rank"] for row in rows] == [rank or "–" for rank in hover]


def test_many_heads_are_a_band_with_a_dot_for_the_highest_head_of_each_layer():
    values = np.random.default_rng(0).random((20, 64))
    figure = layer_figure([[HeadSeries("next", values, "next token", ("red", "circle"), "")]], height=400)
    band, dots, line = figure.data
    assert dots.y.tolist() == values.max(1).tolist() and line.y.tolist() == values.mean(1).tolist()
    assert [labels[0] for labels in dots.customdata] == [
        f"{i}-{j}" for i, j in enumerate(values.argmax(1) + 1, start=1)
    ]
    high, low = np.split(np.array(band.y), 2)
    np.testing.assert_allclose([low[::-1], high], np.quantile(values, (0.25, 0.75), axis=1))


def test_of_many_layers_few_are_named():
    for layers, named in ((12, list(range(1, 13))), (80, list(range(1, 81, 4)))):
        with counting_from(0):
            figure = layer_figure(
                [[HeadSeries("next", np.ones((layers, 2)), "next", ("red", "circle"), "")]], height=400
            )
        assert list(figure.layout.xaxis.tickvals) == named
        assert list(figure.layout.xaxis.ticktext) == [str(layer - 1) for layer in named]


def test_values_are_shares_of_the_scale_whose_ends_take_those_outside():
    sent = json.loads(value_map(CELLS, "x", limits=(0.0, 2.0), unit="nats").encoded)
    assert sent["values"] == [0.0, 0.25, None, 0.5, 0.125, 1.0]
    assert (sent["limits"], sent["unit"]) == (["0", "2"], "nats")
    assert sent["hover"][1] == "1-2: x 0.500; rank 3 of 5"
    assert len(sent["hover"]) == sent["layers"] * sent["heads"] == 6
    assert json.loads(value_map(CELLS, "x", limits=(0.5, 1.0)).encoded)["values"] == [0, 0, None, 1, 0, 1]
    assert json.loads(value_map(np.zeros((1, 2)), "x", limits=(0.0, 0.0)).encoded)["values"] == [0, 0]


def test_weights_of_zero_are_in_the_middle_of_the_scale():
    described = signed_map(np.array([[-2.0, 0.0], [1.0, 0.5]]), "weight", "weight")
    assert described.limits == (-2, 2)
    assert json.loads(described.encoded)["values"] == pytest.approx([0, 0.5, 0.75, 0.625])


def test_pictures_travel_as_one_image_and_every_head_has_a_name():
    pictures = np.zeros((2, 3, 4, 5), dtype=np.uint8)
    pictures[1, 1, 2, 1] = 255
    with counting_from(0):
        described = picture_map(pictures)
    assert described.hover == ("Head 0-0", "Head 0-1", "Head 0-2", "Head 1-0", "Head 1-1", "Head 1-2")
    sent = json.loads(described.encoded)
    assert sent["values"] is None
    image = Image.open(BytesIO(base64.b64decode(sent["picture"].partition(",")[2])))
    assert image.size == (2 * 6, 3 * 5)
    assert image.getpixel((4, 3)) == (76, 110, 245, 18) and image.getpixel((5, 0))[3] == 0  # faint, and the gap
    assert image.getpixel((6 + 1, 5 + 2))[3] == 255


@pytest.mark.parametrize(("value", "text"), [(0.5, "0.500"), (0.00042, "0.00042"), (2e-9, "2.0e-09"), (0.0, "0.000")])
def test_a_number_has_no_exponent(value: float, text: str) -> None:
    assert number(value) == text


def test_a_quantity_ends_with_its_unit_and_a_p_value_with_its_third_decimal() -> None:
    assert quantity("entropy, nats", "4.2") == "entropy 4.2 nats"
    assert quantity("attention to [SEP]", "0.57") == "attention to [SEP] 0.57"
    assert [p_value(p) for p in (0.0412, 3e-9, float("nan"))] == ["= 0.041", "< 0.001", "–"]
