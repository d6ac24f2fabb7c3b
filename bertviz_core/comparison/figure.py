"""A against B: heads as dots, and models of different shapes by relative depth."""

from collections.abc import Iterator
from textwrap import fill

import numpy as np
import plotly.graph_objects as go

from bertviz_core.comparison import Comparison
from bertviz_core.heads import all_heads, all_labels
from bertviz_core.numbers import p_value
from bertviz_core.plotting import NEUTRAL, finish

COLORS = {"A": "#e8890c", "B": "#4c6ef5"}  # the ends of the diverging scale


def paper_figure(result: Comparison) -> go.Figure:
    """The quantity that the comparison opens on: a scatter plot, or by depth for models of different shapes."""
    return (scatter if result.changes else by_depth)(result, result.opens_on)


def scatter(result: Comparison, key: str, base: int = 1) -> go.Figure:
    """A dot for each head: across in A, up in B; above the diagonal it grew. Heads that differ are filled."""
    change, figure = result.changes[key], go.Figure()
    ends = [np.nanmin([change.a, change.b]), np.nanmax([change.a, change.b])]
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
            customdata=[[head.label(), head.label(base), p_value(change.p[head])] for head in heads],
            hovertemplate="%{customdata[1]}: A %{x:.3~r}, B %{y:.3~r}; p %{customdata[2]}<extra></extra>",
        )
    figure.update_xaxes(title=f"A: {result.names[0]}")
    figure.update_yaxes(title=f"B: {result.names[1]}")
    return finish(figure, 380)


def _runs(result: Comparison, key: str) -> Iterator[tuple[str, str, np.ndarray]]:
    """(run, name in the legend, (layer, head) values) of A and B."""
    for run, estimates, name in zip("AB", (result.a, result.b), result.names, strict=True):
        yield run, f"{run}: {name}", estimates[key].values


def by_depth(result: Comparison, key: str, base: int = 1) -> go.Figure:
    """Dots for heads and a line through the layer means of both runs; across, the layer over the number of layers."""
    figure = go.Figure()
    for run, name, values in _runs(result, key):
        depths = np.arange(1, len(values) + 1) / len(values)
        figure.add_scatter(
            x=np.repeat(depths, values.shape[1]),
            y=values.reshape(-1),
            mode="markers",
            name=name,
            legendgroup=run,
            marker={"color": COLORS[run], "size": 7, "opacity": 0.5, "symbol": "circle" if run == "A" else "diamond"},
            customdata=all_labels(*values.shape, base),
            hovertemplate=f"{run}, %{{customdata}}: %{{y:.3~r}}<extra></extra>",
        )
        means, hover = np.nanmean(values, axis=1), f"{run}, mean %{{y:.3~r}}<extra></extra>"
        look = {"mode": "lines", "line": {"color": COLORS[run]}, "legendgroup": run, "showlegend": False}
        figure.add_scatter(x=depths, y=means, hovertemplate=hover, **look)
    figure.update_xaxes(title="layer / number of layers")
    figure.update_yaxes(title=_title(result, key))
    return finish(figure, 380)


def distributions(result: Comparison, key: str) -> go.Figure:
    """All heads of each run, sorted: across, the share of heads that have at most the value."""
    figure = go.Figure()
    for run, name, values in _runs(result, key):
        known = np.sort(values[~np.isnan(values)])
        figure.add_scatter(
            x=known,
            y=np.arange(1, len(known) + 1) / len(known),
            mode="lines",
            line={"color": COLORS[run], "shape": "hv", "dash": "solid" if run == "A" else "dash"},
            name=name,
            hovertemplate="%{y:.0%} of the heads have at most %{x:.3~r}<extra></extra>",
        )
    figure.update_xaxes(title=_title(result, key))
    figure.update_yaxes(title="share of heads", range=[0, 1.02], tickformat=".0%")
    return finish(figure, 380)


def _title(result: Comparison, key: str) -> str:
    return fill(result.label(key), 44).replace("\n", "<br>")
