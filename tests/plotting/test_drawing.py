"""A drawing rings the chosen head in a copy, says what it was made from, and never changes what others share."""

import copy
import json

import numpy as np
import plotly.graph_objects as go
import pytest

from bertviz_core.heads import Head
from bertviz_core.plotting import style
from bertviz_core.plotting.drawing import FigureSpec
from bertviz_core.plotting.style import RING, Series

VALUES = np.random.default_rng(0).random((3, 2))


def dots() -> FigureSpec:
    """Two panels, as most figures of the paper are."""
    above = [Series("to_cls", VALUES, "[CLS]", style.CLS), Series("to_sep", 1 - VALUES, "[SEP]", style.SEP)]
    below = [Series("next", 2 * VALUES, "next", style.NEXT)]
    return FigureSpec.of(style.layer_figure([above, below], base=1, height=400))


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
