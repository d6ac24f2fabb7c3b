"""The heatmap and the SVG drawing of one input."""

from __future__ import annotations

from xml.etree import ElementTree

import numpy as np
import pytest

from bertviz_core.heads import Head
from bertviz_core.models.labels import Units
from bertviz_core.plotting.style import RING
from bertviz_core.viewer.figure import heatmap
from bertviz_core.viewer.lines_figure import Panel, draw, draw_side_by_side
from bertviz_core.viewer.view import InputAttention

SVG = "{http://www.w3.org/2000/svg}"
HOSTILE = ("<img src=x onerror=alert(1)>", "]]> & </text>", "a" * 10_000, "<b>$x$</b>", "שלום")


def seen_of(labels: tuple[str, ...], layers: int = 2, heads: int = 3) -> InputAttention:
    size = len(labels)
    drawn = np.random.default_rng(size).exponential(size=(layers, heads, size, size)) ** 2
    units = Units(labels, np.zeros(size, bool), np.zeros(size, int), np.arange(size))
    return InputAttention(units, units, (drawn / drawn.sum(-1, keepdims=True)).astype(np.float32))


def test_the_heatmap_holds_one_heads_weights_and_no_markup():
    seen = seen_of(HOSTILE)
    figure = heatmap(seen, Head(1, 2))
    (trace,) = figure.data
    assert (np.asarray(trace.z) == seen.weights[1, 2]).all()
    assert (trace.zmin, trace.zmax) == (0, 1)
    ticks = figure.layout.xaxis.ticktext
    assert ticks[0] == "&lt;img src=x oner…"
    assert len(ticks[2]) == 16
    assert trace.x[3] == trace.y[3] == "4 &lt;b&gt;$x$&lt;/b&gt;"
    assert not any("<" in text for text in (*ticks, *trace.x, *trace.y))


def test_the_heatmap_of_many_tokens_names_some_and_travels_light():
    figure = heatmap(seen_of(tuple("t" * 128)), Head(0, 0))
    assert len(figure.layout.xaxis.ticktext) == 43
    assert len(set(figure.data[0].x)) == 128  # equal tokens keep their own rows
    assert len(figure.to_json()) < 150_000


def test_the_drawing_is_xml_in_which_text_stays_text():
    seen = seen_of(HOSTILE)
    root = ElementTree.fromstring(draw(seen, Head(0, 1), title='<a "b"> & c'))
    texts = [element.text for element in root.iter(f"{SVG}text")]
    assert texts[0] == '<a "b"> & c'
    assert texts[1].startswith("<img src=x")
    assert texts[3] == "a" * 23 + "…"
    assert len(texts) == 1 + 2 * len(HOSTILE)
    assert {element.tag.removeprefix(SVG) for element in root.iter()} == {"svg", "rect", "title", "text", "g", "line"}


def test_lines_have_the_weights_darkness_and_light_ones_are_left_out():
    seen = seen_of(tuple("abcd"))
    weights = seen.weights[1, 0]
    root = ElementTree.fromstring(draw(seen, Head(1, 0), min_weight=0.2))
    drawn = [float(line.get("stroke-opacity")) for line in root.iter(f"{SVG}line")]
    assert drawn == pytest.approx(sorted(weights[weights >= 0.2].tolist()), abs=5e-4)
    first = next(root.iter(f"{SVG}line"))
    i, j = np.argwhere(weights == weights[weights >= 0.2].min())[0]
    rows = [float(text.get("y")) for text in root.iter(f"{SVG}text")][1:5]
    assert (float(first.get("y1")) + 5, float(first.get("y2")) + 5) == (rows[i], rows[j])


def test_panels_stand_side_by_side_and_what_is_red_lies_on_top():
    seen = seen_of(tuple("abcd"))
    panels = [Panel(f"<{n}>", seen.queries, seen.keys, seen.weights[0, 0], red=[1], red_keys=[2]) for n in range(4)]
    root = ElementTree.fromstring(draw_side_by_side(panels, across=3))
    moved = [group.get("transform") for group in root.iter(f"{SVG}g") if group.get("transform")]
    xs, ys = zip(*(map(int, each[len("translate(") : -1].split(",")) for each in moved), strict=True)
    assert xs[0] == xs[3] == 0 and 0 < xs[1] < xs[2] < int(root.get("width"))
    assert ys[0] == ys[1] == ys[2] == 0 < ys[3] < int(root.get("height"))
    first = next(group for group in root.iter(f"{SVG}g") if group.get("transform"))
    red = [line.get("stroke") is not None for line in first.iter(f"{SVG}line")]
    assert red == sorted(red) and sum(red) == 4 + 4 - 1  # all of a row, all of a column, their crossing once
    names = [text.text for text in first.iter(f"{SVG}text") if text.get("fill") == RING]
    assert names == ["b", "c"]
    assert "<0>" in {title.text for title in root.iter(f"{SVG}title")}
