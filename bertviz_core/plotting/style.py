"""What colors and shapes mean, on every page; and the figures that several analyses share."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import plotly.graph_objects as go

from bertviz_core.heads import Head, ranks
from bertviz_core.plotting import palette
from bertviz_core.plotting.palette import Marker

# What a head does (analyses.behaviors): color, marker, letter on it, name.
BEHAVIORS = {
    "next": (*palette.NEXT, "", "next token"),
    "previous": (*palette.PREVIOUS, "", "previous token"),
    "broad": (*palette.BROAD, "", "broad attention"),
    "to_cls": (palette.CLS[0], "circle", "C", "[CLS]"),
    "to_sep": (palette.SEP[0], "circle", "S", "[SEP]"),
    "to_punct": (*palette.PUNCTUATION, "", "full stop or comma"),
    "other": ("#8c8c8c", "circle", "", "other"),
    "linguistic": ("#000000", "x", "", "linguistic"),
}
# Alpha instead of a light end: low values fade into the page, light or dark.
SEQUENTIAL = [[0.0, "rgba(76, 110, 245, 0.06)"], [1.0, "rgba(76, 110, 245, 1)"]]
RING = "#e03131"  # round the chosen head
RING_WIDTH = 3  # pixels, of the outline of a square
COLORBAR = {"orientation": "h", "thickness": 10, "outlinewidth": 0, "yref": "container", "y": 0.04, "yanchor": "bottom"}


@dataclass(frozen=True, slots=True)
class Series:
    """One quantity of every head: (layer, head) `values`, drawn as dots with a line through the layer means."""

    key: str
    values: np.ndarray
    name: str
    marker: Marker


def label(layer: int, head: int, base: int = 1) -> str:
    return Head(layer, head).label(base)


def number(value: float) -> str:
    """Three decimals; three significant digits where those would say little."""
    return f"{value:.3f}" if abs(value) >= 0.1 or value == 0 else f"{value:.3g}"


def percent(share: float, n: int) -> str:
    """A share of `n` cases: whole percents, or one decimal where a single case is worth no more than 0.1."""
    return "–" if np.isnan(share) else f"{share:.{percent_decimals(n)}%}"


def percent_decimals(n: int) -> int:
    """Decimals that `n` cases support in a percentage."""
    return 1 if n >= 1000 else 0


def by_layer(figure: go.Figure, series: Sequence[Series], row: int, base: int = 1) -> None:
    """Add a panel: a dot for each head at its layer, a line for each series' layer means."""
    for index, one in enumerate(series):
        (color, symbol), name = one.marker, one.name
        shift = 0.16 * (index - (len(series) - 1) / 2)  # side by side, so that series do not hide each other
        dots = _dots(one.values, shift, name, base)
        figure.add_scatter(
            **dots,
            mode="markers",
            name=name,
            legendgroup=f"{row}-{one.key}",
            legend=f"legend{row if row > 1 else ''}",
            marker={"color": color, "symbol": symbol, "size": 8, "opacity": 0.6},
            row=row,
            col=1,
        )
        layer_line(figure, one, row)


def layer_line(figure: go.Figure, series: Series, row: int, dash: str = "solid") -> None:
    """Add the line through a series' layer means to a panel."""
    figure.add_scatter(
        x=np.arange(1, len(series.values) + 1),
        y=np.nanmean(series.values, axis=1),
        mode="lines",
        line={"color": series.marker[0], "width": 2, "dash": dash},
        legendgroup=f"{row}-{series.key}",
        showlegend=False,
        hovertemplate=f"layer %{{x}}: mean %{{y:.3~r}}<extra>{series.name}</extra>",
        row=row,
        col=1,
    )


def _dots(values: np.ndarray, shift: float, name: str, base: int) -> dict[str, Any]:
    """x, y and hover of a dot for each head."""
    layer, head = np.divmod(np.arange(values.size), values.shape[1])
    labels = [label(i, j, base) for i, j in zip(layer, head, strict=True)]
    keys = [label(i, j) for i, j in zip(layer, head, strict=True)]
    return {
        "x": layer + 1 + shift,
        "y": values.reshape(-1),
        "customdata": np.stack([keys, labels, ranks(values).reshape(-1).astype(str)], axis=1),
        "hovertemplate": f"%{{customdata[1]}}: %{{y:.3~r}} {name}; "
        f"rank %{{customdata[2]}} of {values.size}<extra></extra>",
    }


def head_map(
    values: np.ndarray,
    name: str,
    *,
    chosen: Head | None = None,
    base: int = 1,
    limits: tuple[float, float] = (0.0, 1.0),
    unit: str = "",
) -> go.Figure:
    """The map of heads: squares, layers from left to right, heads from top to bottom, the chosen one ringed.

    A scatter, not a heatmap: clicks on heatmaps reach no one. `customdata[0]` is the label counted from 1.
    """
    dots = _dots(values, 0.0, name, base)
    layers, heads = values.shape
    y = np.tile(np.arange(1, heads + 1), layers)
    ring = [0 if chosen is None or key != chosen.label() else RING_WIDTH for key in dots["customdata"][:, 0]]
    figure = go.Figure(
        go.Scatter(
            x=dots["x"],
            y=y,
            mode="markers",
            customdata=np.column_stack([dots["customdata"], [number(v) for v in values.reshape(-1)]]),
            hovertemplate=f"%{{customdata[1]}}: %{{customdata[3]}} {name}; "
            f"rank %{{customdata[2]}} of {values.size}<extra></extra>",
            marker={
                "symbol": "square",
                "size": square_size(layers),
                "color": values.reshape(-1),
                "colorscale": SEQUENTIAL,
                "cmin": limits[0],
                "cmax": limits[1],
                "colorbar": COLORBAR | {"title": {"text": unit, "side": "bottom"}},
                "line": {"color": RING, "width": ring},
                "opacity": 1,
            },
            selected={"marker": {"opacity": 1}},
            unselected={"marker": {"opacity": 1}},
        )
    )
    return map_axes(figure, layers, heads, base)


def square_size(layers: int) -> int:
    """Pixels: squares that nearly touch in a map about 300 pixels wide."""
    return max(6, min(34, 240 // layers))


def map_axes(figure: go.Figure, layers: int, heads: int, base: int = 1) -> go.Figure:
    """Layers 1..L from left to right, heads 1..H from top to bottom, no grid."""
    for axis, count, title in (("xaxis", layers, "layer"), ("yaxis", heads, "head")):
        ticks = list(range(1, count + 1))
        figure.layout[axis].update(
            title=title,
            tickvals=ticks,
            ticktext=[str(t - 1 + base) for t in ticks],
            range=[0.4, count + 0.6] if axis == "xaxis" else [count + 0.6, 0.4],
            showgrid=False,
            zeroline=False,
            fixedrange=True,
        )
    height = int(heads * square_size(layers) * 1.1) + 140
    figure.update_layout(height=height, margin={"l": 50, "r": 10, "t": 10, "b": 90}, dragmode=False, showlegend=False)
    return figure


def stack_legends(figure: go.Figure, rows: int, gap: float) -> None:
    """A title and, under it, a legend of its own above every panel."""
    height = (1 - gap * (rows - 1)) / rows
    for row in range(rows):
        top = 1 - row * (height + gap)
        place = {"x": 0, "xanchor": "left", "y": top, "yanchor": "bottom", "orientation": "h"}
        figure.update_layout({f"legend{row + 1 if row else ''}": place})
    figure.update_annotations(x=0, xanchor="left", yshift=24, font_size=14)


def layer_axes(figure: go.Figure, layers: int, rows: int, base: int = 1) -> None:
    """The x axis of figures by layer: whole layers, named under the last panel."""
    ticks = list(range(1, layers + 1))
    figure.update_xaxes(tickvals=ticks, ticktext=[str(t - 1 + base) for t in ticks], range=[0.5, layers + 0.5])
    figure.update_xaxes(title="layer", row=rows, col=1)
    figure.update_layout(margin={"l": 60, "r": 10, "t": 60, "b": 45}, hovermode="closest", dragmode=False)
