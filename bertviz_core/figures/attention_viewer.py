"""Figures 1 and 5: one head on one input as a heatmap, and every head's map as a small picture."""

from __future__ import annotations

from html import escape

import numpy as np
import plotly.graph_objects as go

from bertviz_core.analyses.attention_viewer import InputAttention, shorten
from bertviz_core.figures.style import COLORBAR, RING, SEQUENTIAL, label, map_axes
from bertviz_core.heads import Head
from bertviz_core.models.units import Units

THUMBNAIL = 24  # most squares along one side of a head's small picture
LABELS = 45  # most labels along one side of the heatmap; hovering says the others
# 0 is the gap between pictures; 1 to 255 are weights.
PICTURES = [[0.0, "rgba(76, 110, 245, 0)"], [0.003, "rgba(76, 110, 245, 0.07)"], [1.0, "rgba(76, 110, 245, 1)"]]


def heatmap(seen: InputAttention, head: Head) -> go.Figure:
    """Queries from top to bottom, keys from left to right, weight as colour from 0 to 1."""
    queries, keys = _places(seen.queries), _places(seen.keys)
    most = max(len(queries), len(keys), 1)
    gap = 1 if most <= 40 else 0
    figure = go.Figure(
        go.Heatmap(
            x=keys,
            y=queries,
            z=seen.of(head),
            colorscale=SEQUENTIAL,
            zmin=0,
            zmax=1,
            xgap=gap,
            ygap=gap,
            hovertemplate="%{y} → %{x}: %{z:.3f}<extra></extra>",
            colorbar=COLORBAR | {"title": {"text": "weight", "side": "bottom"}},
        )
    )
    size, every = (12 if most <= 30 else 10), -(-most // LABELS)
    for axis, places in ((figure.layout.xaxis, keys), (figure.layout.yaxis, queries)):
        ticks = [place.partition(" ")[2] for place in places[::every]]
        axis.update(type="category", tickvals=places[::every], ticktext=ticks, tickfont={"size": size}, showgrid=False)
        axis.update(zeroline=False, ticks="", fixedrange=True)
    figure.update_xaxes(side="top", tickangle=-90, title="to")
    figure.update_yaxes(autorange="reversed", title="from")
    height = 220 + int(min(640, max(200, len(queries) * 18)))
    return figure.update_layout(height=height, margin={"l": 10, "r": 10, "t": 10, "b": 70}, dragmode=False)


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
    return figure.update_layout(height=heads * (size + 3) + 95, margin={"l": 40, "r": 5, "t": 5, "b": 55})


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


def _places(units: Units) -> list[str]:
    """Position and label, all different, in which plotly finds no markup."""
    return [f"{at + 1} {escape(shorten(text, 16))}" for at, text in zip(units.start, units.labels, strict=True)]
