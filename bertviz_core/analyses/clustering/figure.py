"""Figure 6: heads in the plane by how alike they are, colored by behavior and by layer."""

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from bertviz_core.analyses.behaviors import BEHAVIORS as ORDER
from bertviz_core.analyses.clustering.matrix import AS_IS, hover_data, matrix
from bertviz_core.analyses.clustering.result import Clustering
from bertviz_core.heads import Head
from bertviz_core.plotting.style import BEHAVIORS, COLORBAR, finish

LAYERS = [[0.0, "#dbe4ff"], [0.5, "#748ffc"], [1.0, "#2b3a9e"]]  # light = early
OUTLINE = {"width": 1, "color": "#adb5bd"}  # keeps the lightest and the darkest marker in sight on any background
SIZE, PLANE = 11, 340  # pixels, of a marker and of the longer side
LAYER = "layer"
CLEAR = 0.08  # of the height, of the lines that say what a figure was made from


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
