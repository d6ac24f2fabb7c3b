"""The meaning of colors and markers on every page, and figures that several analyses share."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from bertviz_core.heads import Head, all_heads, ranks
from bertviz_core.numbers import quantity
from bertviz_core.plotting import palette
from bertviz_core.plotting.head_map import HeadMap
from bertviz_core.plotting.palette import LOOK, Marker, finish

# What a head does (analyses.behaviors): color, marker, letter on it, name.
BEHAVIORS = {
    "next": (*palette.NEXT, "", "next token"),
    "previous": (*palette.PREVIOUS, "", "previous token"),
    "broad": (*palette.BROAD, "", "broad attention"),
    "to_cls": (palette.CLS[0], "circle", "C", "[CLS]"),
    "to_sep": (palette.SEP[0], "circle", "S", "[SEP]"),
    "to_first": (palette.FIRST[0], "circle", "1", "first token"),
    "to_punct": (*palette.PUNCTUATION, "", "full stop or comma"),
    "other": ("#8c8c8c", "circle", "", "other"),
    "linguistic": ("#000000", "x", "", "linguistic"),
}
RING = "#e03131"  # round the chosen head
CROWD = 1000  # heads above which dots would hide each other, and make a page slow
BEST = "#4c6ef5"  # the best head, or this run, beside others
COLORBAR = {"orientation": "h", "thickness": 10, "outlinewidth": 0, "yref": "container", "y": 0.04, "yanchor": "bottom"}


@dataclass(frozen=True)
class Series:
    """One quantity of every head: (layer, head) `values`, drawn as dots with a line through the layer means; `name` is
    for the legend, `label` with its unit for hover texts (the name where it is empty)."""

    key: str
    values: np.ndarray
    name: str
    marker: Marker
    label: str = ""


def percent(share: float, n: int) -> str:
    """A share of `n` cases: whole percents, or one decimal where a single case is worth no more than 0.1."""
    return "–" if np.isnan(share) else f"{share:.{percent_decimals(n)}%}"


def percent_decimals(n: int) -> int:
    """Decimals that `n` cases support in a percentage."""
    return 1 if n >= 1000 else 0


def by_layer(figure: go.Figure, series: Sequence[Series], row: int, base: int = 1) -> None:
    """Add a panel: a dot for each head at its layer, a line for each series' layer means. Of over CROWD heads a band
    has the middle half of each layer's, and a dot its highest."""
    for index, each in enumerate(series):
        color, symbol = each.marker
        shift = 0.16 * (index - (len(series) - 1) / 2)  # side by side, so that series do not hide each other
        if each.values.size > CROWD:
            _band(figure, each, row, shift)
        figure.add_scatter(
            **_dots(each.values, shift, each.label or each.name, base),
            mode="markers",
            name=each.name,
            legendgroup=f"{row}-{each.key}",
            legend=f"legend{row if row > 1 else ''}",
            marker={"color": color, "symbol": symbol, "size": 8, "opacity": 0.75},
            row=row,
            col=1,
        )
        layer_line(figure, each, row, base, shift)


def _band(figure: go.Figure, series: Series, row: int, shift: float) -> None:
    """Add the middle half of each layer's heads."""
    layers = np.arange(1, len(series.values) + 1) + shift
    low, high = np.nanquantile(series.values, (0.25, 0.75), axis=1)
    figure.add_scatter(
        x=np.concatenate([layers, layers[::-1]]),
        y=np.concatenate([high, low[::-1]]),
        mode="lines",
        fill="toself",
        line={"color": series.marker[0], "width": 0},
        opacity=0.35,
        hoverinfo="skip",
        legendgroup=f"{row}-{series.key}",
        showlegend=False,
        row=row,
        col=1,
    )


def layer_line(
    figure: go.Figure, series: Series, row: int, base: int = 1, shift: float = 0.0, dash: str = "solid"
) -> None:
    """Add the line through a series' layer means to a panel, where its dots stand."""
    layers = np.arange(len(series.values))
    figure.add_scatter(
        x=layers + 1 + shift,
        y=np.nanmean(series.values, axis=1),
        text=layers + base,
        mode="lines",
        line={"color": series.marker[0], "width": 2, "dash": dash},
        legendgroup=f"{row}-{series.key}",
        showlegend=False,
        hovertemplate=f"layer %{{text}}: mean {quantity(series.label or series.name, '%{y:.3~r}')}<extra></extra>",
        row=row,
        col=1,
    )


def _dots(values: np.ndarray, shift: float, label: str, base: int) -> dict[str, Any]:
    """x, y and hover of a dot for each head, or above CROWD heads for the highest of each layer."""
    head_ranks = ranks(values)
    layers, heads = np.indices(values.shape).reshape(2, -1)
    if values.size > CROWD:
        layers, heads = np.arange(len(values)), np.nan_to_num(values, nan=-np.inf).argmax(1)
    drawn = map(Head, layers.tolist(), heads.tolist())
    return {
        "x": layers + 1 + shift,
        "y": values[layers, heads],
        "customdata": [[head.label(), head.label(base), str(head_ranks[head])] for head in drawn],
        "hovertemplate": f"%{{customdata[1]}}: {quantity(label, '%{y:.3~r}')}; "
        f"rank %{{customdata[2]}} of {values.size}<extra></extra>",
    }


def scores(names: Sequence[str], percent: pd.DataFrame, columns: Sequence[str], **more: Any) -> go.Scatter:
    """Dots for scores with their intervals, a line for each name; `columns` of `percent` are the scores, the lower ends
    and the upper ends."""
    score, low, high = (percent[name] for name in columns)
    bars = {"array": high - score, "arrayminus": score - low, "color": BEST, "thickness": 1.2}
    return go.Scatter(x=score, y=names, mode="markers", error_x=bars, **more)


def map_figure(described: HeadMap) -> go.Figure:
    """The map of values for a file: squares. `customdata[0]` is the label counted from 1."""
    assert described.values is not None, "a map of markers or pictures is drawn in the browser alone"
    heads = all_heads(described.layers, described.heads)
    lowest, highest = described.limits
    marker = {
        "symbol": "square",
        "size": square_size(described.layers),
        "color": described.values.reshape(-1),
        "colorscale": [list(stop) for stop in described.scale],
        "cmin": lowest,
        "cmax": highest,
        "colorbar": COLORBAR | {"title": {"text": described.unit, "side": "bottom"}},
        "opacity": 1,
    }
    figure = go.Figure(
        go.Scatter(
            x=[head.layer + 1 for head in heads],
            y=[head.head + 1 for head in heads],
            mode="markers",
            customdata=[[head.label(), text] for head, text in zip(heads, described.hover, strict=True)],
            hovertemplate="%{customdata[1]}<extra></extra>",
            marker=marker,
        )
    )
    return map_axes(figure, described.layers, described.heads, described.base)


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
    return finish(figure, height, margin={"t": 10, "b": 90}, showlegend=False)


def stack_legends(figure: go.Figure, rows: int, gap: float) -> None:
    """A title and, under it, a separate legend above every panel. The title is the legend's, where there is one: on
    narrow screens a legend takes several lines."""
    height = (1 - gap * (rows - 1)) / rows
    for row in range(rows):
        top = 1 - row * (height + gap)
        look = LOOK["legend"] | {"y": top}
        legend = f"legend{row + 1 if row else ''}"
        entries = [trace for trace in figure.data if trace.legend == legend and trace.showlegend is not False]
        if len(entries) > 1 and row < len(figure.layout.annotations):
            annotation = figure.layout.annotations[row]
            look["title"] = {"text": annotation.text, "side": "top", "font": {"size": 14}}
            annotation.visible = False
        figure.update_layout({legend: look})
    figure.update_annotations(x=0, xanchor="left", yshift=24, font_size=14)


def layer_axes(figure: go.Figure, layers: int, rows: int, base: int = 1) -> None:
    """The x axis of figures by layer: whole layers, of many every second, third..., named under the last panel."""
    ticks = list(range(1, layers + 1, -(-layers // 24)))
    figure.update_xaxes(tickvals=ticks, ticktext=[str(t - 1 + base) for t in ticks], range=[0.5, layers + 0.5])
    crowded = any(trace.type == "scatter" and trace.fill == "toself" for trace in figure.data)
    title = "layer; band: the middle half of its heads, dot: the highest, line: the mean" if crowded else "layer"
    figure.update_xaxes(title=title, row=rows, col=1)
    finish(figure, margin={"t": 60})


def tabular(frame: pd.DataFrame) -> str:
    """A whole tabular with the frame's columns, numbers with one decimal; every text is escaped."""
    shown = frame.style.hide(axis="index").format_index(escape="latex", axis=1)
    shown = shown.format(escape="latex", precision=1, thousands=",", na_rep="--")
    return str(shown.to_latex(hrules=True)).replace("->", r" $\to$ ")
