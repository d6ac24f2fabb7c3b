"""Figure 6: heads in the plane by how alike they are, colored by behavior and by layer; and the divergences of all
pairs in the order of a dendrogram, which a plane cannot show."""

import math
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from bertviz_core.analyses.behaviors import BEHAVIORS as ORDER
from bertviz_core.analyses.clustering.result import Clustering
from bertviz_core.heads import Head, all_heads
from bertviz_core.import_lock import IMPORTING
from bertviz_core.plotting.palette import SEQUENTIAL, finish
from bertviz_core.plotting.style import BEHAVIORS, COLORBAR, RING

LAYERS = [[0.0, "#dbe4ff"], [0.5, "#748ffc"], [1.0, "#2b3a9e"]]  # light = early
NEAR = [[1 - share, color] for share, color in reversed(SEQUENTIAL)]  # saturated = alike, as it is high elsewhere
OUTLINE = {"width": 1, "color": "#adb5bd"}  # keeps the lightest and the darkest marker in sight on any background
SIZE, PLANE = 11, 340  # pixels, of a marker and of the longer side
LAYER = "layer"
CLEAR = 0.08  # of the height, of the lines that say what a figure was made from
AS_IS = {"selected": {"marker": {"opacity": 1}}, "unselected": {"marker": {"opacity": 1}}}
TICKED = 56  # heads whose labels still fit beside the matrix


def paper_figure(result: Clustering, base: int = 1) -> go.Figure:
    """Figure 6: by behavior, and beside it by layer."""
    titles = ("By behavior", "By layer")
    figure = make_subplots(1, 2, horizontal_spacing=0.08, subplot_titles=titles)
    for column, traces in enumerate((_behavior_traces(result, base), _layer_traces(result, base)), start=1):
        for trace in traces:
            figure.add_trace(trace, row=1, col=column)
    upright = {"orientation": "v", "yref": "paper", "y": 0.5, "yanchor": "middle", "len": 0.8, "x": 1.01}
    figure.update_traces(marker_colorbar=upright | {"title_side": "top"}, selector={"name": LAYER})
    figure.update_annotations(xanchor="left", x=0)
    figure.layout.annotations[1].x = figure.layout.xaxis2.domain[0]
    return _plane_axes(figure, result).update_layout(height=640, margin={"t": 90, "r": 60})


def more_figures(result: Clustering) -> dict[str, go.Figure]:
    """The matrix of all pairs of heads, keyed by its title."""
    return {"All pairs, ordered by a dendrogram": matrix(result)}


def by_behavior(result: Clustering, base: int = 1) -> go.Figure:
    """One point for each head, its marker the behavior; the legend hides and shows behaviors."""
    return _plane(result, _behavior_traces(result, base))


def by_layer(result: Clustering, base: int = 1) -> go.Figure:
    """One point for each head, darker in later layers."""
    return _plane(result, _layer_traces(result, base))


def _behavior_traces(result: Clustering, base: int) -> Iterator[go.Scatter]:
    """A trace for each behavior that some head has, and one for the letters or names that go with it."""
    labels, data = result.behaviors.reshape(-1), hover_data(result, base)
    for behavior in (name for name in ORDER if (labels == name).any()):
        points, labels_data = result.embedding[labels == behavior], data[labels == behavior]
        color, symbol, letter, name = BEHAVIORS[behavior]
        outline = OUTLINE if behavior == "linguistic" else {"width": 0}
        marker = {"color": color, "symbol": symbol, "size": SIZE + 4 * bool(letter), "line": outline}
        yield _dots(points, labels_data, name=name, marker=marker, legendgroup=behavior)
        if letter:
            yield _words(points, [letter] * len(points), behavior, {"color": "#ffffff", "size": 11})
        if behavior == "linguistic":
            names = [f"{Head.parse(key).label(base)} {result.named[key]}" for key in labels_data[:, 0]]
            beside = [_clear_side(*each, result.embedding) for each in zip(names, points, strict=True)]
            pairs = zip(names, beside, strict=True)  # an empty line moves a name clear of its cross
            lines = [f"{name}<br> " if "top" in side else f" <br>{name}" for name, side in pairs]
            yield _words(points, lines, behavior, {"size": 11}, beside)


def _layer_traces(result: Clustering, base: int) -> Iterator[go.Scatter]:
    layers, heads = result.shape
    marker: dict[str, Any] = {
        "color": np.repeat(np.arange(layers), heads) + base,
        "colorscale": LAYERS,
        "size": SIZE,
        "line": OUTLINE,
        "colorbar": COLORBAR | {"title": {"text": LAYER, "side": "bottom"}, "len": 0.4, "x": 0.5, "y": CLEAR},
    }
    marker["colorbar"] |= {"tick0": base, "dtick": -(-layers // 6)}
    yield _dots(result.embedding, hover_data(result, base), marker=marker, name=LAYER, showlegend=False)


def _dots(points: np.ndarray, data: np.ndarray, **options: Any) -> go.Scatter:
    return go.Scatter(
        x=points[:, 0],
        y=points[:, 1],
        mode="markers",
        customdata=data,
        hovertemplate="%{customdata[1]}<extra></extra>",
        **AS_IS,
        **options,
    )


def _words(
    points: np.ndarray, words: list[str], group: str, font: dict[str, Any], position: list[str] | str = ""
) -> go.Scatter:
    """A trace of texts for a group of markers; the texts are not clickable."""
    return go.Scatter(
        x=points[:, 0],
        y=points[:, 1],
        mode="text",
        text=words,
        textfont=font,
        textposition=position or "middle center",
        hoverinfo="skip",
        legendgroup=group,
        showlegend=False,
    )


def _clear_side(name: str, head: np.ndarray, plane: np.ndarray) -> str:
    """Where the name of the head at (x, y) stays within the picture and covers the fewest other heads."""
    low, high = plane.min(0), plane.max(0)
    pixel, length = (high - low).max() / PLANE, 6 * len(name)  # in pixels

    def covered(side: str) -> tuple[bool, int]:
        signs = np.array([-1 if "left" in side else 1, -1 if "bottom" in side else 1])
        across, up = ((plane - head) / pixel * signs).T
        inside = (across > 0) & (across < length) & (up > 6) & (up < 28)  # the name's box, and half a dot around it
        return not low[0] <= head[0] + signs[0] * length * pixel <= high[0], int(inside.sum())

    return min(("top right", "top left", "bottom right", "bottom left"), key=covered)


def _plane(result: Clustering, traces: Iterable[go.Scatter]) -> go.Figure:
    return _plane_axes(go.Figure(list(traces)), result).update_layout(height=500)


def _plane_axes(figure: go.Figure, result: Clustering) -> go.Figure:
    """Both axes of one scale: distances in the picture stand for divergences."""
    unit = f"√({result.unit})" if result.root else result.unit
    figure.update_xaxes(title=unit, zeroline=False, constrain="domain")
    figure.update_yaxes(zeroline=False)
    for axis in figure.select_yaxes():
        axis.update(scaleanchor=axis.anchor, scaleratio=1)
    return finish(figure, margin={"t": 30, "b": 130}, legend={"yref": "container", "y": CLEAR})


def matrix(result: Clustering, base: int = 1) -> go.Figure:
    """Draw, from top to bottom, the dendrogram, a square for each head in its behavior's color, and the divergences.

    Plotly reports no clicks on a heatmap, so readers click on the squares.
    """
    figure = make_subplots(3, 1, shared_xaxes=True, row_heights=[0.16, 0.03, 0.81], vertical_spacing=0.008)
    figure.add_trace(_tree(result), row=1, col=1)
    figure.add_trace(_leaves(result, base), row=2, col=1)
    figure.add_trace(_cells(result, base), row=3, col=1)
    _axes(figure, result, base)
    return figure


def _tree(result: Clustering) -> go.Scatter:
    """The dendrogram's brackets; leaves stand at 0, 1, 2 and so on."""
    with IMPORTING:
        from scipy.cluster.hierarchy import dendrogram

    x: list[float | None] = []
    y: list[float | None] = []
    if len(result.linkage):
        drawn = dendrogram(result.linkage, no_plot=True)
        for across, up in zip(drawn["icoord"], drawn["dcoord"], strict=True):
            x += [*((value - 5) / 10 for value in across), None]  # scipy puts leaves at 5, 15, 25 and so on
            y += [*up, None]
    line = {"color": "#8c8c8c", "width": 1}
    return go.Scatter(x=x, y=y, mode="lines", line=line, hoverinfo="skip")


def _leaves(result: Clustering, base: int) -> go.Scatter:
    labels = result.behaviors.reshape(-1)[result.order]
    return go.Scatter(
        x=np.arange(len(labels)),
        y=np.zeros(len(labels)),
        mode="markers",
        customdata=hover_data(result, base)[result.order],
        hovertemplate="%{customdata[1]}<extra></extra>",
        marker={
            "symbol": "square",
            "size": max(4, min(14, 800 // len(labels))),
            "color": [BEHAVIORS[name][0] for name in labels],
            "line": {"width": 1, "color": "#adb5bd"},
        },
        **AS_IS,
    )


def _cells(result: Clustering, base: int) -> go.Heatmap:
    labels = _ordered_labels(result, base)
    return go.Heatmap(
        z=result.divergence[np.ix_(result.order, result.order)],
        customdata=np.array([[f"{a} and {b}" for b in labels] for a in labels]),
        hovertemplate=f"%{{customdata}}: %{{z:.3g}} {result.unit}<extra></extra>",
        colorscale=NEAR,
        zmin=0,
        zmax=None if result.summed else math.log(2),
        colorbar=COLORBAR | {"title": {"text": f"{result.unit}; blue = alike", "side": "bottom"}, "len": 0.4, "x": 0.5},
    )


def _ordered_labels(result: Clustering, base: int) -> list[str]:
    return [Head(*divmod(int(index), result.shape[1])).label(base) for index in result.order]


def _axes(figure: go.Figure, result: Clustering, base: int) -> None:
    count = len(result.order)
    bare: dict[str, Any] = {"showticklabels": False, "showgrid": False, "zeroline": False, "fixedrange": True}
    figure.update_xaxes(**bare, range=[-0.5, count - 0.5])
    figure.update_yaxes(**bare)
    figure.update_yaxes(range=[-1, 1], row=2, col=1)
    figure.update_yaxes(range=[count - 0.5, -0.5], row=3, col=1)
    if count <= TICKED:
        ticks = {"tickvals": list(range(count)), "ticktext": _ordered_labels(result, base), "tickfont": {"size": 11}}
        figure.update_yaxes(**ticks, showticklabels=True, row=3, col=1)
    finish(figure, 860, margin={"l": 40, "t": 10, "b": 80}, showlegend=False)


def hover_data(result: Clustering, base: int) -> np.ndarray:
    """(head, 2): the label counted from 1, for clicks, and the hover text."""
    rows = []
    for head, behavior in zip(all_heads(*result.shape), result.behaviors.reshape(-1), strict=True):
        text = _text(result, head, str(behavior))
        near = ", ".join(f"{other.label(base)} at {value:.3g}" for other, value in result.nearest(head, 2))
        rows.append([head.label(), f"{head.label(base)}: {text}<br>nearest: {near or 'none'}"])
    return np.array(rows)


def _text(result: Clustering, head: Head, behavior: str) -> str:
    name = BEHAVIORS[behavior][-1]
    if behavior == "linguistic":
        return f"{name}: {result.named[head.label()]}"
    if behavior in ("broad", "other"):
        return f"{name}, entropy {result['entropy'][head]:.2f} nats"
    return f"{result[behavior][head]:.2f} to {name}"


def frame(result: Clustering, head: Head) -> list[dict[str, Any]]:
    """Shapes round a head's row and column of the matrix."""
    index = result.order.tolist().index(head.layer * result.shape[1] + head.head)
    line = {"type": "rect", "line": {"color": RING, "width": 1.5}}
    return [
        line | {"xref": "x3 domain", "x0": 0, "x1": 1, "yref": "y3", "y0": index - 0.5, "y1": index + 0.5},
        line | {"xref": "x3", "x0": index - 0.5, "x1": index + 0.5, "yref": "y3 domain", "y0": 0, "y1": 1},
    ]
