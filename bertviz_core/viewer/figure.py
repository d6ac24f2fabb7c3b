"""Figures 1 and 5: one head on one input as a heatmap."""

from __future__ import annotations

from html import escape

import plotly.graph_objects as go

from bertviz_core.heads import Head
from bertviz_core.models.labels import Units
from bertviz_core.plotting.palette import SEQUENTIAL
from bertviz_core.plotting.style import COLORBAR
from bertviz_core.plotting.template import finish
from bertviz_core.plotting.writing import isolated
from bertviz_core.viewer.view import InputAttention, shorten

LABELS = 45  # most labels along one side of the heatmap; hovering says the others


def heatmap(attention: InputAttention, head: Head) -> go.Figure:
    """Queries from top to bottom, keys from left to right, weight as color from 0 to 1."""
    queries, keys = _axis_labels(attention.queries), _axis_labels(attention.keys)
    maximum = max(len(queries), len(keys), 1)
    gap = 1 if maximum <= 40 else 0
    figure = go.Figure(
        go.Heatmap(
            x=keys,
            y=queries,
            z=attention.weights[head],
            colorscale=SEQUENTIAL,
            zmin=0,
            zmax=1,
            xgap=gap,
            ygap=gap,
            hovertemplate="%{y} → %{x}: %{z:.3f}<extra></extra>",
            colorbar=COLORBAR | {"title": {"text": "weight", "side": "bottom"}},
        )
    )
    size, every = (12 if maximum <= 30 else 11), -(-maximum // LABELS)
    for axis, labels in ((figure.layout.xaxis, keys), (figure.layout.yaxis, queries)):
        ticks = [label.partition(" ")[2] for label in labels[::every]]
        axis.update(type="category", tickvals=labels[::every], ticktext=ticks, tickfont={"size": size}, showgrid=False)
        axis.update(zeroline=False, ticks="", fixedrange=True)
    figure.update_xaxes(side="top", tickangle=-90, title="to")
    figure.update_yaxes(autorange="reversed", title="from")
    height = 220 + int(min(640, max(200, len(queries) * 18)))
    return finish(figure, height, margin={"l": 10, "t": 10, "b": 70})


def _axis_labels(units: Units) -> list[str]:
    """Position and label, all different, in which plotly finds no markup."""
    return [
        f"{at + 1} {isolated(escape(shorten(text, 16)))}" for at, text in zip(units.start, units.labels, strict=True)
    ]
