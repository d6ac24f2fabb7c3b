"""Figures of a comparison, in the end colors of the diverging scale: A against B; different shapes by depth."""

from collections.abc import Iterator
from html import escape
from textwrap import fill

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from bertviz_core.analyses.base.blocks import Block, Chart, Map, Table, table_of
from bertviz_core.comparison.result import Comparison
from bertviz_core.heads import Head, all_heads, all_labels
from bertviz_core.numbers import p_value
from bertviz_core.plotting import DIVERGING, NEUTRAL, SEQUENTIAL, finish
from bertviz_core.plotting.head_map import HeadMap, value_map

MAX_ROWS = 15  # heads in the table of those that changed most
COLORS = {"A": "#cc7000", "B": "#4c6ef5"}


def paper_figure(result: Comparison) -> go.Figure:
    """The figure of the quantity on which the comparison opens: by head, or by depth for models of different shapes."""
    draw = scatter if result.changes else by_depth
    return draw(result, result.opens_on)


def blocks(result: Comparison) -> Iterator[Block]:
    """What files have of the page: of one shape the maps and A against B, of two shapes the heads by depth; the heads
    that changed most, and the best heads of every quantity."""
    alt = "The heads of both runs"
    if not result.changes:
        yield Chart(name="depth", title="By relative depth", build=paper_figure, arguments=(result,), alt=alt)
    else:
        key = result.opens_on
        for name, (title, _) in head_maps(result, key).items():
            yield Map(name=name, title=title, build=_squares, arguments=(result, key, name), alt=title)
        yield Chart(name="scatter", title="A against B", build=scatter, arguments=(result, key), alt=alt)
        yield table_of("changed", "Heads that changed most", result.changes[key].rows(MAX_ROWS))
    yield Table("best", "Best heads", best_heads(result))


def _squares(result: Comparison, key: str, name: str) -> HeadMap:
    return head_maps(result, key)[name][1]


def best_heads(result: Comparison) -> pd.DataFrame:
    """For each quantity, by its label, the highest head of both runs."""
    best = result.tables()["best"]
    best["quantity"] = best["quantity"].map(result.label)
    for name in ("head_a", "head_b"):
        best[name] = [Head.parse(label).label() for label in best[name]]
    return best


def head_maps(result: Comparison, key: str) -> dict[str, tuple[str, HeadMap]]:
    """From "a", "b" and "difference" to title and map: A and B on one scale, B - A on a diverging one around 0."""
    change = result.changes[key]
    both = np.stack([change.a, change.b])
    limits = (min(0.0, float(np.nanmin(both))), float(np.nanmax(both)))
    largest = float(np.nanmax(np.abs(change.difference))) or 1.0
    shown = (
        ("a", f"A: {result.names[0]}", limits, SEQUENTIAL),
        ("b", f"B: {result.names[1]}", limits, SEQUENTIAL),
        ("difference", "B − A", (-largest, largest), DIVERGING),
    )
    label = result.label(key)
    return {
        name: (title, value_map(getattr(change, name), label, limits=ends, scale=scale))
        for name, title, ends, scale in shown
    }


def scatter(result: Comparison, key: str) -> go.Figure:
    """A dot for each head, its value in A across, in B up; heads that differ are filled."""
    change = result.changes[key]
    figure = go.Figure()
    both = [change.a, change.b]
    ends = [np.nanmin(both), np.nanmax(both)]
    line = {"color": NEUTRAL[0], "width": 1, "dash": "dot"}
    figure.add_scatter(x=ends, y=ends, mode="lines", line=line, hoverinfo="skip", showlegend=False)
    for name, chosen, color, symbol in (
        ("differs", change.marked, COLORS["B"], "circle"),
        ("no difference shown", ~change.marked, *NEUTRAL),
    ):
        heads = [head for head in all_heads(*change.a.shape) if chosen[head]]
        figure.add_scatter(
            x=change.a[chosen],
            y=change.b[chosen],
            mode="markers",
            name=name,
            marker={"symbol": symbol, "size": 9, "color": color},
            customdata=[[head.key(), head.label(), p_value(change.p[head])] for head in heads],
            hovertemplate="%{customdata[1]}: A %{x:.3~r}, B %{y:.3~r}; p %{customdata[2]}<extra></extra>",
        )
    a, b = map(escape, result.names)
    figure.update_xaxes(title=f"A: {a}")
    figure.update_yaxes(title=f"B: {b}")
    return finish(figure, 380)


def by_depth(result: Comparison, key: str) -> go.Figure:
    """Dots for heads and lines through layer means of both runs, by the layer as a share of all layers."""
    figure = go.Figure()
    for run, estimates, name in zip("AB", (result.a, result.b), result.names, strict=True):
        values = estimates[key].values
        layers, heads = values.shape
        depth = (np.arange(layers) + 1) / layers
        figure.add_scatter(
            x=np.repeat(depth, heads),
            y=values.reshape(-1),
            mode="markers",
            name=f"{run}: {escape(name)}",
            legendgroup=run,
            marker={"color": COLORS[run], "size": 7, "opacity": 0.5, "symbol": "circle" if run == "A" else "diamond"},
            customdata=all_labels(layers, heads),
            hovertemplate=f"{run}, %{{customdata}}: %{{y:.3~r}}<extra></extra>",
        )
        means = np.nanmean(values, axis=1)
        figure.add_scatter(
            x=depth,
            y=means,
            mode="lines",
            line={"color": COLORS[run]},
            legendgroup=run,
            showlegend=False,
            hovertemplate=f"{run}, mean %{{y:.3~r}}<extra></extra>",
        )
    figure.update_xaxes(title="layer / number of layers")
    figure.update_yaxes(title=fill(escape(result.label(key)), 44).replace("\n", "<br>"))
    return finish(figure, 380)
