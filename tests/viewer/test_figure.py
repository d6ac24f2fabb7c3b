import numpy as np

from bertviz_core.heads import Head
from bertviz_core.inputs.labels import Units
from bertviz_core.plotting import RING
from bertviz_core.viewer.figure import LEVELS, Panel, heatmap, lines_figure
from bertviz_core.viewer.input_attention import InputAttention

HOSTILE = ("<img src=x onerror=alert(1)>", "]]> & </text>", "a" * 10_000, "<b>$x$</b>", "שלום")


def uniform_input(labels: tuple[str, ...]) -> InputAttention:
    size = len(labels)
    drawn = np.random.default_rng(size).exponential(size=(2, 3, size, size)) ** 2
    units = Units(labels, np.zeros(size, bool), np.zeros(size, int), np.arange(size))
    return InputAttention(units, units, (drawn / drawn.sum(-1, keepdims=True)).astype(np.float32))


def test_the_heatmap_has_one_heads_weights_and_no_markup_and_names_some_of_many_tokens():
    shown = uniform_input(HOSTILE)
    figure = heatmap(shown, Head(1, 2))
    (trace,) = figure.data
    assert (np.asarray(trace.z) == shown.weights[1, 2]).all()
    assert (trace.zmin, trace.zmax) == (0, 1)
    ticks = figure.layout.xaxis.ticktext
    assert ticks[0] == "&lt;img src=x oner…"
    assert len(ticks[2]) == 16
    assert trace.x[3] == trace.y[3] == "4 &lt;b&gt;$x$&lt;/b&gt;"
    assert not any("<" in text for text in (*ticks, *trace.x, *trace.y))
    figure = heatmap(uniform_input(tuple("t" * 128)), Head(0, 0))
    assert len(figure.layout.xaxis.ticktext) == 43
    assert len(set(figure.data[0].x)) == 128  # equal tokens keep their own rows
    assert len(figure.to_json()) < 150_000


def columns(figure):
    """(texts, their rows, colors) of each text trace."""
    return [(t.text, t.y, t.textfont.color) for t in figure.data if t.mode == "text"]


def lines(figure, color=None):
    """(query, key, darkness) of every line."""
    traces = [t for t in figure.data if t.mode == "lines" and color in (None, t.line.color)]
    return [(a, b, t.opacity) for t in traces for a, b in zip(t.y[::3], t.y[1::3], strict=True)]


def test_texts_of_the_lines_are_cut_and_hold_no_markup():
    shown = uniform_input(HOSTILE)
    title, left, right = columns(lines_figure([Panel("<a> & c", shown.queries, shown.keys, shown.weights[0, 1])]))
    assert title[0] == ("&lt;a&gt; &amp; c",) and left[:2] == right[:2]
    assert left[0][0].startswith("&lt;img src=x") and left[0][2] == "a" * 23 + "…"
    assert not any("<" in text for text in left[0])


def test_lines_have_the_weights_darkness_and_light_ones_are_left_out():
    shown = uniform_input(tuple("abcd"))
    weights = shown.weights[1, 0]
    drawn = lines(lines_figure([Panel("", shown.queries, shown.keys, weights)], min_weight=0.2))
    assert {(i, j) for i, j, _ in drawn} == set(map(tuple, np.argwhere(weights >= 0.2).tolist()))
    assert all(0 <= darkness - weights[int(i), int(j)] < 1 / LEVELS + 1e-6 for i, j, darkness in drawn)
    assert [darkness for _, _, darkness in drawn] == sorted(darkness for _, _, darkness in drawn)  # the darkest on top


def test_panels_stand_side_by_side_and_what_is_red_lies_on_top():
    shown = uniform_input(tuple("abcd"))
    weights = np.full((4, 4), 0.25, np.float32)
    panels = [Panel(f"<{n}>", shown.queries, shown.keys, weights, red=[1], red_keys=[2]) for n in range(4)]
    figure = lines_figure(panels, across=3)
    axes = [(trace.xaxis, trace.yaxis) for trace in figure.data if trace.mode == "text"][::3]
    lefts = [figure.layout[f"xaxis{x[1:]}"].domain[0] for x, _ in axes]
    tops = [figure.layout[f"yaxis{y[1:]}"].domain[1] for _, y in axes]
    assert lefts[0] == lefts[3] < lefts[1] < lefts[2] and tops[0] == tops[1] == tops[2] > tops[3]
    first = lines_figure(panels[:1])
    assert [trace.line.color == RING for trace in first.data if trace.mode == "lines"] == [False, True]
    assert len(lines(first, RING)) == 4 + 4 - 1  # all of a row, all of a column, their crossing once
    red = [text for texts, _, colors in columns(first) for text, c in zip(texts, colors, strict=True) if c == RING]
    assert red == ["b", "c"]
