"""Figures 1 and 5: one head on one input as a heatmap, and every head's map as a small picture."""

from __future__ import annotations

from html import escape

import numpy as np
import plotly.graph_objects as go

from bertviz_core.analyses.attention_viewer import InputAttention, shorten
from bertviz_core.figures.style import RING, SEQUENTIAL, label, map_axes
from bertviz_core.heads import Head
from bertviz_core.models.units import Units

THUMBNAIL = 24  # most squares along one side of a head's small picture
# 0 is the gap between pictures; 1 to 255 are weights.
PICTURES = [[0.0, "rgba(76, 110, 245, 0)"], [0.003, "rgba(76, 110, 245, 0.07)"], [1.0, "rgba(76, 110, 245, 1)"]]


def heatmap(seen: InputAttention, head: Head) -> go.Figure:
    """Queries from top to bottom, keys from left to right, weight as colour from 0 to 1."""
    queries, keys = _ticks(seen.queries), _ticks(seen.keys)
    figure = go.Figure(
        go.Heatmap(
            z=seen.of(head),
            colorscale=SEQUENTIAL,
            zmin=0,
            zmax=1,
            xgap=1,
            ygap=1,
            text=[[f"{a} → {b}" for b in keys] for a in queries],
            hovertemplate="%{text}: %{z:.3f}<extra></extra>",
            colorbar={"thickness": 10, "outlinewidth": 0, "title": {"text": "weight", "side": "right"}},
        )
    )
    most = max(len(queries), len(keys))
    size = 12 if most <= 40 else 9 if most <= 70 else 7
    for axis, ticks in ((figure.layout.xaxis, keys), (figure.layout.yaxis, queries)):
        axis.update(tickvals=list(range(len(ticks))), ticktext=ticks, tickfont={"size": size}, showgrid=False)
        axis.update(zeroline=False, ticks="", fixedrange=True)
    figure.update_xaxes(side="top", tickangle=-90, title="to")
    figure.update_yaxes(autorange="reversed", title="from")
    height = 170 + int(min(760, max(220, len(queries) * (size + 8))))
    return figure.update_layout(height=height, margin={"l": 10, "r": 10, "t": 10, "b": 10}, dragmode=False)


def small_multiples(seen: InputAttention, *, chosen: Head | None = None, base: int = 1) -> go.Figure:
    """Every head's map in its place on the map of heads, the chosen one ringed; `customdata[0]` is the label from 1.

    Each picture holds at most THUMBNAIL squares a side, the largest weight of each patch: no full map travels.
    """
    layers, heads = seen.weights.shape[:2]
    pictures = thumbnails(seen.weights)
    down, across = pictures.shape[2:]
    mosaic = np.zeros((heads * (down + 1), layers * (across + 1)), dtype=np.uint8)
    for layer in range(layers):
        for head in range(heads):
            y, x = head * (down + 1), layer * (across + 1)
            mosaic[y : y + down, x : x + across] = pictures[layer, head]
    step_x, step_y = 1 / (across + 1), 1 / (down + 1)
    figure = go.Figure(
        go.Heatmap(
            z=mosaic,
            x0=1 - across * step_x / 2 + step_x / 2,
            dx=step_x,
            y0=1 - down * step_y / 2 + step_y / 2,
            dy=step_y,
            zmin=0,
            zmax=255,
            colorscale=PICTURES,
            showscale=False,
            hoverinfo="skip",
        )
    )
    size = max(12, min(46, 330 // layers))
    figure.add_scatter(**_doors(layers, heads, size, base))
    if chosen is not None:
        sides = {
            "x0": chosen.layer + 0.49,
            "x1": chosen.layer + 1.51,
            "y0": chosen.head + 0.49,
            "y1": chosen.head + 1.51,
        }
        figure.add_shape(type="rect", line={"color": RING, "width": 2.5}, **sides)
    map_axes(figure, layers, heads, base)
    return figure.update_layout(height=heads * (size + 3) + 80, margin={"l": 40, "r": 5, "t": 5, "b": 40})


def thumbnails(weights: np.ndarray) -> np.ndarray:
    """(layer, head, down, across) uint8, 1 for weight 0 to 255 for weight 1: the maximum of each patch of the maps."""
    rows, columns = (_patches(size) for size in weights.shape[2:])
    largest = np.maximum.reduceat(np.maximum.reduceat(weights, rows, axis=2), columns, axis=3)
    return np.asarray(1 + np.rint(254 * np.clip(largest, 0, 1)), dtype=np.uint8)


def _patches(size: int) -> np.ndarray:
    """Where each of at most THUMBNAIL nearly equal runs begins."""
    count = min(size, THUMBNAIL)
    return np.arange(count) * size // max(count, 1)


def _doors(layers: int, heads: int, size: int, base: int) -> dict[str, object]:
    """Unseen squares over the pictures, which take the hover and the click."""
    layer, head = np.divmod(np.arange(layers * heads), heads)
    keys = [label(i, j) for i, j in zip(layer, head, strict=True)]
    shown = [label(i, j, base) for i, j in zip(layer, head, strict=True)]
    return {
        "x": layer + 1,
        "y": head + 1,
        "mode": "markers",
        "customdata": np.column_stack([keys, shown]),
        "hovertemplate": "head %{customdata[1]}<extra></extra>",
        "marker": {"symbol": "square", "size": size, "color": "rgba(0, 0, 0, 0)"},
        "selected": {"marker": {"opacity": 1}},
        "unselected": {"marker": {"opacity": 1}},
    }


def _ticks(units: Units) -> list[str]:
    """Labels in which plotly finds no markup."""
    return [escape(shorten(label, 16)) for label in units.labels]
