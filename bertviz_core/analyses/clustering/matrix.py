"""The divergences of all pairs of heads in the order of a dendrogram, which a plane cannot show; heads' hover texts."""

import math
from typing import Any

import numpy as np
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from bertviz_core.analyses.clustering.result import Clustering
from bertviz_core.heads import Head, all_heads
from bertviz_core.import_lock import IMPORTING
from bertviz_core.plotting.style import BEHAVIORS, COLORBAR, RING, SEQUENTIAL, finish

NEAR = [[1 - share, color] for share, color in reversed(SEQUENTIAL)]  # saturated = alike, as it is high elsewhere
AS_IS = {"selected": {"marker": {"opacity": 1}}, "unselected": {"marker": {"opacity": 1}}}
TICKED = 56  # heads whose labels still fit beside the matrix
MAX_ROWS = 150  # of the matrix, four pixels each; of more heads, a row is the mean of neighbors under the dendrogram
MAX_BRACKETS = 1000  # of the dendrogram, the highest


def matrix(result: Clustering, base: int = 1) -> go.Figure:
    """Draw, from top to bottom, the dendrogram, a square for each head in its behavior's color, and the divergences.

    Plotly reports no clicks on a heatmap, so readers click on the squares. Of more than MAX_ROWS heads the matrix has
    means over neighbors.
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
        brackets = sorted(zip(drawn["icoord"], drawn["dcoord"], strict=True), key=lambda each: -max(each[1]))
        for across, up in brackets[:MAX_BRACKETS]:
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
    labels, count = _ordered_labels(result, base), len(result.order)
    edges = np.unique(np.linspace(0, count, min(count, MAX_ROWS) + 1).astype(int))
    starts, sizes = edges[:-1], np.diff(edges)
    ordered = result.divergence[np.ix_(result.order, result.order)]
    sums = np.add.reduceat(np.add.reduceat(ordered, starts, axis=0), starts, axis=1)
    names = [labels[a] if n == 1 else f"{labels[a]} … {labels[a + n - 1]}" for a, n in zip(starts, sizes, strict=True)]
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
