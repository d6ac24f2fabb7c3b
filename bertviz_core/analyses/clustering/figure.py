"""Heads in the plane (Figure 6), by behavior and by layer; the matrix of all pairs under its dendrogram; and the table
of the heads that attend most like one."""

import math
from itertools import pairwise
from typing import Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from bertviz_core.analyses.base.blocks import Chart
from bertviz_core.analyses.base.head_figures import HeadRow
from bertviz_core.analyses.base.registry import display_label
from bertviz_core.analyses.clustering.result import Clustering
from bertviz_core.heads import Head, all_heads, all_labels, first_number
from bertviz_core.numbers import number
from bertviz_core.plotting import (
    BEHAVIORS,
    COLORBAR,
    LIGHT_TO_DARK,
    NEUTRAL,
    OUTLINE,
    SEQUENTIAL,
    HeadSeries,
    finish,
    layer_figure,
)

NEAR = [[1 - share, color] for share, color in reversed(SEQUENTIAL)]  # reversed: a saturated color means alike here
SIZE = 11  # size of a marker in pixels
PLANE = (320, 270)  # the least width and height in pixels from the first point to the last
EDGE = 24  # pixels that a name may stand out beyond the points at either side
LETTER, LINE = 5.6, 13  # width and height in pixels of a letter of a name
RADIUS = 8  # pixels from the middle of a point to its name
SIDES = {"left": -1, "center": 0, "right": 1, "bottom": -1, "middle": 0, "top": 1}
PLACES = (
    *("top right", "top left", "middle right", "middle left"),
    "bottom right",
    "bottom left",
    "top center",
    "bottom center",
)
LAYER = "layer"
SAME = ("#4c6ef5", "circle")  # color and symbol of distances within a layer
CLEAR = 0.08  # share of the height that is left for the caption
MAX_LABELS = 56  # labels that fit beside the matrix
MAX_ROWS = 150  # rows of the matrix, four pixels each; of more heads, neighbors under the dendrogram share a row
MAX_BRACKETS = 1000  # brackets of the dendrogram that are drawn, the highest ones


def nearest_rows(result: Clustering, head: Head) -> tuple[HeadRow, ...]:
    """The nearest heads of a head, each with its divergence before those of all others."""
    divergences = result.divergence[head.layer * result.shape[1] + head.head].reshape(result.shape).astype(float)
    divergences[head] = np.nan
    limits = (0.0, float(np.nanmax(divergences, initial=0.0)))
    median = number(float(np.nanmedian(divergences))) if divergences.size > 1 else ""
    return tuple(
        HeadRow(
            name=f"divergence of {other.label()}, {result.unit}",
            value=value,
            text=number(value),
            others=divergences,
            median_text=median,
            head=other,
            limits=limits,
            other=other,
        )
        for other, value in result.nearest(head)
    )


def paper_figure(result: Clustering) -> go.Figure:
    """Figure 6: by behavior, then by layer."""
    figure = make_subplots(1, 2, horizontal_spacing=0.08, subplot_titles=("By behavior", "By layer"))
    figure.add_traces(by_behavior(result).data, rows=1, cols=1)
    figure.add_traces(by_layer(result).data, rows=1, cols=2)
    upright = {"orientation": "v", "yref": "paper", "y": 0.5, "yanchor": "middle", "len": 0.8, "x": 1.01}
    figure.update_traces(marker_colorbar=upright | {"title_side": "top"}, selector={"name": LAYER})
    figure.update_annotations(xanchor="left", x=0)
    figure.layout.annotations[1].x = figure.layout.xaxis2.domain[0]
    return _plane(figure, result).update_layout(height=640, margin={"t": 90, "r": 60})


def by_behavior(result: Clustering) -> go.Figure:
    """One point for each head, with the marker, letter or name of its behavior; the legend hides behaviors."""
    figure = go.Figure()
    labels = result.behaviors.reshape(-1)
    data = hover_data(result)
    for behavior in (name for name in BEHAVIORS if (labels == name).any()):
        chosen = labels == behavior
        x, y = result.embedding[chosen].T
        color, symbol, letter, name = BEHAVIORS[behavior]
        outline = OUTLINE if behavior == "linguistic" else {"width": 0}
        marker = {"color": color, "symbol": symbol, "size": SIZE + 4 * bool(letter), "line": outline}
        figure.add_trace(_markers(x, y, data[chosen], marker).update(name=name, legendgroup=behavior))
        if letter:
            figure.add_trace(_texts(x, y, [letter] * len(x)).update(legendgroup=behavior, textfont_color="#ffffff"))
        if behavior == "linguistic":
            names = [f"{Head.parse(key).label()} {result.named[key]}" for key in data[chosen, 0]]
            texts = _texts(x, y, names).update(legendgroup=behavior, cliponaxis=False)
            # Unseen markers keep their names away from those that are seen.
            texts.update(mode="markers+text", marker={"size": SIZE, "opacity": 0})
            figure.add_trace(texts.update(textposition=places(names, x, y, result.embedding)))
    return _plane(figure, result)


def _markers(x: np.ndarray, y: np.ndarray, data: np.ndarray, marker: dict[str, Any]) -> go.Scatter:
    """Markers of heads, with their `hover_data`, which look the same when they are selected."""
    return go.Scatter(
        x=x,
        y=y,
        mode="markers",
        marker=marker,
        customdata=data,
        hovertemplate="%{customdata[1]}<extra></extra>",
        selected={"marker": {"opacity": 1}},
        unselected={"marker": {"opacity": 1}},
    )


def places(names: list[str], x: np.ndarray, y: np.ndarray, points: np.ndarray) -> list[str]:
    """Where names of points stand so that they cover the fewest other points and names, and none is cut off.

    Args:
        x, y: (name,) the named points.
        points: (point, 2) all points.
    """
    low, high = points.min(0), points.max(0)
    to_pixels = np.array(PLANE) / np.where(high > low, high - low, 1.0)
    pixels = (points - low) * to_pixels
    boxes = np.empty((0, 2, 2))
    chosen = []
    for name, point in zip(names, (np.column_stack([x, y]) - low) * to_pixels, strict=True):
        offered = np.array([_box(point, place, len(name)) for place in PLACES])
        is_inside = ((pixels > offered[:, None, 0] - SIZE / 2) & (pixels < offered[:, None, 1] + SIZE / 2)).all(-1)
        meets = ((boxes[:, 0] < offered[:, None, 1]) & (boxes[:, 1] > offered[:, None, 0])).all(-1)
        is_cut = (offered[:, 0, 0] < -EDGE) | (offered[:, 1, 0] > PLANE[0] + EDGE)
        best = int((is_inside.sum(1) + 10 * meets.sum(1) + 100 * is_cut).argmin())
        boxes = np.concatenate([boxes, offered[best : best + 1]])
        chosen.append(PLACES[best])
    return chosen


def _box(point: np.ndarray, place: str, letters: int) -> np.ndarray:
    """(2, 2) the lower left and the upper right corner, in pixels, of a name of so many letters at a place."""
    upward, aside = place.split()
    size = np.array([LETTER * letters, LINE])
    signs = np.array([SIDES[aside], SIDES[upward]])
    center = point + signs * (RADIUS + size / 2)
    return np.array([center - size / 2, center + size / 2])


def _texts(x: np.ndarray, y: np.ndarray, texts: list[str]) -> go.Scatter:
    """Letters or names on markers, which add nothing to the legend or to what hovering shows."""
    return go.Scatter(x=x, y=y, mode="text", text=texts, textfont_size=11, hoverinfo="skip", showlegend=False)


def by_layer(result: Clustering) -> go.Figure:
    """One point for each head, darker in later layers."""
    bar = {"title": {"text": LAYER, "side": "bottom"}, "len": 0.4, "x": 0.5, "y": CLEAR}
    marker = {
        "color": result.layers + first_number(),
        "colorscale": LIGHT_TO_DARK,
        "size": SIZE,
        "line": OUTLINE,
        "colorbar": COLORBAR | bar | {"tick0": first_number(), "dtick": -(-result.shape[0] // 6)},
    }
    x, y = result.embedding.T
    dots = _markers(x, y, hover_data(result), marker).update(name=LAYER, showlegend=False)
    return _plane(go.Figure(dots), result)


def by_distance(result: Clustering) -> go.Figure:
    """How far each head is on average from the others of its layer and from those of other layers, with the mean of
    each layer as a line; dashed, and in the legend, the means over all heads, which are those over all pairs."""
    known = result.estimates()
    unit = "mean divergence, nats a token"
    looks = {"to_own_layer": ("from its own layer", SAME), "to_other_layers": ("from other layers", NEUTRAL)}
    means = {name: float(known[name].values.mean()) for name in looks}
    series = [
        HeadSeries(name, known[name].values, f"{title} (mean {number(means[name])})", look, unit)
        for name, (title, look) in looks.items()
    ]
    figure = layer_figure([series], height=440)
    for name, (_, (color, _)) in looks.items():
        figure.add_hline(means[name], line={"dash": "dash", "color": color, "width": 1})
    return figure.update_yaxes(title=unit, rangemode="tozero")


def _plane(figure: go.Figure, result: Clustering) -> go.Figure:
    """Both axes of one scale: distances in the picture stand for divergences."""
    unit = f"√({result.unit})" if result.root else result.unit
    figure.update_xaxes(title=unit, zeroline=False, constrain="domain")
    figure.update_yaxes(zeroline=False)
    for axis in figure.select_yaxes():
        axis.update(scaleanchor=axis.anchor, scaleratio=1)
    return finish(figure, 500, margin={"t": 30, "b": 130}, legend={"yref": "container", "y": CLEAR})


def matrix(result: Clustering) -> go.Figure:
    """Draw, from top to bottom, the dendrogram, a square for each head in its behavior's color, which readers click
    (plotly reports no clicks on a heatmap), and the divergences; of over MAX_ROWS heads the means over neighbors."""
    figure = make_subplots(3, 1, shared_xaxes=True, row_heights=[0.16, 0.03, 0.81], vertical_spacing=0.008)
    count = len(result.order)
    labels = [all_labels(*result.shape)[i] for i in result.order]
    squares = {
        "symbol": "square",
        "size": max(4, min(14, 800 // count)),
        "color": [BEHAVIORS[name][0] for name in result.behaviors.reshape(-1)[result.order]],
        "line": OUTLINE,
    }
    data = hover_data(result)[result.order]
    leaves = _markers(np.arange(count), np.zeros(count), data, squares)
    figure.add_traces([_tree(result), leaves, _cells(result, labels)], rows=[1, 2, 3], cols=[1, 1, 1])
    figure.update_xaxes(showticklabels=False, showgrid=False, zeroline=False, fixedrange=True)
    figure.update_yaxes(showticklabels=False, showgrid=False, zeroline=False, fixedrange=True)
    figure.update_xaxes(range=[-0.5, count - 0.5])
    figure.update_yaxes(range=[-1, 1], row=2, col=1)
    figure.update_yaxes(range=[count - 0.5, -0.5], row=3, col=1)
    if count <= MAX_LABELS:
        places = list(range(count))
        figure.update_yaxes(showticklabels=True, tickvals=places, ticktext=labels, tickfont_size=11, row=3, col=1)
    return finish(figure, 860, margin={"l": 40, "t": 10, "b": 80}, showlegend=False)


def _tree(result: Clustering) -> go.Scatter:
    """The dendrogram's highest brackets; its leaves are at 0, 1, 2 and so on."""
    # The places of leaves come first, then those of brackets, in the order of the linkage.
    places = np.argsort(result.order).tolist()
    heights = [0.0] * len(places)
    brackets = []
    for first, second, height, _ in result.linkage.tolist():
        left = places[int(first)]
        right = places[int(second)]
        x = [left, left, right, right, None]
        y = [heights[int(first)], height, height, heights[int(second)], None]
        brackets.append((height, x, y))
        places.append((left + right) / 2)
        heights.append(height)
    brackets.sort(key=lambda each: -each[0])
    x = [value for _, x, _ in brackets[:MAX_BRACKETS] for value in x]
    y = [value for _, _, y in brackets[:MAX_BRACKETS] for value in y]
    return go.Scatter(x=x, y=y, mode="lines", line={"color": "#8c8c8c", "width": 1}, hoverinfo="skip")


def _cells(result: Clustering, labels: list[str]) -> go.Heatmap:
    """The divergences of heads, or the means of neighbors, in the order of the dendrogram, as are their `labels`."""
    count = len(labels)
    edges = np.unique(np.linspace(0, count, min(count, MAX_ROWS) + 1).astype(int))
    starts = edges[:-1]
    sizes = np.diff(edges)
    ordered = result.divergence[np.ix_(result.order, result.order)]
    sums = np.add.reduceat(np.add.reduceat(ordered, starts, axis=0), starts, axis=1)
    ends = [(labels[start], labels[end - 1]) for start, end in pairwise(edges)]
    names = [first if first == last else f"{first} … {last}" for first, last in ends]
    return go.Heatmap(
        x=edges - 0.5,
        y=edges - 0.5,
        z=sums / np.outer(sizes, sizes),
        customdata=np.array([[f"{a} and {b}" for b in names] for a in names]),
        hovertemplate=f"%{{customdata}}: %{{z:.3g}} {result.unit}<extra></extra>",
        colorscale=NEAR,
        zmin=0,
        zmax=None if result.summed else math.log(2),
        colorbar=COLORBAR | {"title": {"text": f"{result.unit}; blue = alike", "side": "bottom"}, "len": 0.4, "x": 0.5},
    )


def hover_data(result: Clustering) -> np.ndarray:
    """(head, 2): the label counted from 1, for clicks, and the hover text."""
    rows = []
    for head, behavior in zip(all_heads(*result.shape), result.behaviors.reshape(-1).tolist(), strict=True):
        name = BEHAVIORS[behavior][-1]
        if behavior == "linguistic":
            text = f"{name}: {result.named[head.key()]}"
        elif behavior in ("broad", "other"):
            text = f"{name}, entropy {result['entropy'][head]:.2f} nats"
        else:
            text = f"{result[behavior][head]:.2f} to {name}"
        near = ", ".join(f"{other.label()} at {value:.3g}" for other, value in result.nearest(head, 2))
        rows.append([head.key(), f"{head.label()}: {text}<br>nearest: {near or 'none'}"])
    return np.array(rows)


def behavior_chart(result: Clustering) -> Chart:
    """The heads in the plane, by behavior."""
    return Chart(
        name="clustering-behavior",
        title="By behavior",
        build=by_behavior,
        arguments=(result,),
        alt="Scatter plot of heads: similar heads lie close together, markers show behaviors",
        has_heads=True,
    )


def layer_chart(result: Clustering) -> Chart:
    """The heads in the plane, by layer."""
    return Chart(
        name="clustering-layer",
        title="By layer",
        build=by_layer,
        arguments=(result,),
        alt="The same scatter plot colored by layer, darker for later layers",
        has_heads=True,
    )


def matrix_chart(result: Clustering) -> Chart:
    """The divergences of all pairs of heads."""
    return Chart(
        name="clustering-matrix",
        title="All pairs, ordered by a dendrogram",
        build=matrix,
        arguments=(result,),
        alt="Matrix of divergences of all pairs of heads, ordered by average-linkage clustering",
        note="Each square under the tree is a head, colored by its behavior.",
        has_heads=True,
        hint="click a square under the tree to choose the head",
    )


def nearest_title(head: Head) -> str:
    """The title of the heads that are most like a head."""
    return f"Head {head.label()} and the most similar heads"


def nearest_table(result: Clustering, head: Head) -> pd.DataFrame:
    """A row for the head and for each of its nearest heads: the divergence, the behavior, and what that rests on."""
    rows = []
    for other, divergence in [(head, 0.0), *result.nearest(head)]:
        row = {
            "head": other.label(),
            f"divergence, {result.unit}": divergence,
            "behavior": BEHAVIORS[result.behaviors[other]][-1],
        }
        for name in result.present:
            row[display_label(name)] = float(result[name][other])
        rows.append(row)
    return pd.DataFrame(rows)
