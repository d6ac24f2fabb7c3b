"""The map of heads for a file: markers stand in their cells, apart where a head has several."""

from itertools import combinations

import numpy as np
import pytest

from bertviz_core.heads import Head, counting_from
from bertviz_core.plotting.head_map import HeadMap, MarkerGroup, map_figure


def marked(layers: int, heads: int, *groups: tuple[str, ...]) -> HeadMap:
    """A map of markers, a group for each of these tuples of heads."""
    drawn = tuple(
        MarkerGroup(f"group {letter}", "#123456", "circle", letter, heads)
        for letter, heads in zip("ABCDEF", groups, strict=False)
    )
    hover = tuple(f"hover {layer}-{head}" for layer in range(1, layers + 1) for head in range(1, heads + 1))
    return HeadMap(hover, layers, heads, groups=drawn)


def places(figure, label: str) -> list[tuple[float, float, float]]:
    """Column, row and size of the markers of a head."""
    return [
        (trace.x[index], trace.y[index], trace.marker.size[index])
        for trace in figure.data
        for index, hover in enumerate(trace.hovertext)
        if hover == f"hover {label}"
    ]


@pytest.mark.parametrize(("layers", "count"), [(6, 2), (12, 2), (12, 3), (24, 2), (48, 3)])
def test_markers_of_one_head_stand_apart_within_its_cell(layers, count):
    figure = map_figure(marked(layers, 4, *[("2-3", "1-1")] * count))
    drawn = places(figure, "2-3")
    assert len(drawn) == count
    assert {row for _, row, _ in drawn} == {3}
    assert np.mean([column for column, _, _ in drawn]) == pytest.approx(2)
    assert all(abs(column - 2) < 0.5 for column, _, _ in drawn)
    cell = 640 / layers  # pixels, of a file of the usual width
    for (first, _, size), (second, _, other) in combinations(drawn, 2):
        assert abs(second - first) * cell >= (size + other) / 2


def test_a_single_marker_stands_in_the_middle():
    figure = map_figure(marked(12, 12, ("3-4",), ("5-6", "3-7")))
    assert places(figure, "3-4") == [(3, 4, 17)] and places(figure, "3-7") == [(3, 7, 17)]


def test_axes_have_every_number_of_a_small_model_from_the_first_and_heads_go_down():
    figure = map_figure(marked(6, 12, ("1-1",)))
    assert (figure.layout.xaxis.tick0, figure.layout.xaxis.dtick) == (1, 1)
    top, bottom = figure.layout.yaxis.range[1], figure.layout.yaxis.range[0]
    assert top < 1 and bottom > 12 and figure.layout.xaxis.range[0] < 1 and figure.layout.xaxis.range[1] > 6
    with counting_from(0):
        figure = map_figure(marked(6, 12, ("1-1",)))
    assert figure.layout.xaxis.tick0 == 0 and figure.data[0].x[0] == Head(0, 0).layer
