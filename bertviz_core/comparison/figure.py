"""Figures of a comparison, in the end colors of the diverging scale: A against B; different shapes by depth."""

from collections.abc import Iterator
from dataclasses import replace
from html import escape
from textwrap import fill

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from bertviz_core.analyses.base.blocks import Block, Chart, Columns, Map, Say
from bertviz_core.analyses.base.registry import ANALYSES
from bertviz_core.analyses.base.table_blocks import Table
from bertviz_core.comparison.result import Comparison
from bertviz_core.emergence.result import REQUIRED
from bertviz_core.heads import Head, all_heads, all_labels, layer_means
from bertviz_core.numbers import p_value
from bertviz_core.plotting import DIVERGING, NEUTRAL, finish
from bertviz_core.plotting.head_map import HeadMap, value_map

BEST = {"n_a": "n, A", "head_a": "best in A", "a": "A", "n_b": "n, B", "head_b": "best in B", "b": "B"}
BEST |= {"difference": "B − A", "low": "from", "high": "to"}  # the 95% interval's ends
FLOOR = 0.1  # of the scale of both maps: the least half width of that of their difference
MAX_ROWS = 15  # heads in the table of those that changed most
COLORS = {"A": "#cc7000", "B": "#4c6ef5"}


def paper_figure(result: Comparison) -> go.Figure:
    """The figure of the quantity on which the comparison opens: by head, or by depth for models of different shapes."""
    draw = scatter if result.changes else by_depth
    return draw(result, result.opens_on)


def blocks(result: Comparison) -> Iterator[Block]:
    """What is shown of a comparison on the quantity with which it opens: of one shape the maps and A against B, of two
    shapes, which the notes name first, the heads by depth; the heads that changed most, and the best heads of every
    quantity."""
    key = result.opens_on
    yield Say(result.headline(), first=True, on_screen=bool(result.changes))
    if result.changes:
        left, middle, right = _maps(result, key)
        yield Columns(left=(left,), middle=(middle,), right=(right,))
    yield Say(" ".join(result.notes), in_files=False)
    if result.compared not in REQUIRED:
        titles = ", ".join(ANALYSES[name].title for name in REQUIRED)
        yield Say(f"The training that ships stores only {titles} for its checkpoints, so none can be compared here.")
    if result.changes:
        changed = Table("changed", "Heads that changed most", pd.DataFrame(result.changes[key].rows(MAX_ROWS)))
        yield Columns(left=(_scatter_chart(result, key),), right=(changed,), widths=(2, 3), are_sections=True)
    else:
        alt = f"{result.label(key)} by layer over the number of layers, a dot for each head of both models"
        name, title = "compare-depth", "By relative depth"
        yield Chart(name=name, title=title, build=by_depth, arguments=(result, key), alt=alt)
    best = best_heads(result)
    titles_of_best = {name: title for name, title in BEST.items() if name in best}
    yield Table("best", "Best heads", best, titles=titles_of_best)


def _scatter_chart(result: Comparison, key: str) -> Chart:
    alt = f"{result.label(key)}: a dot for each head, run A across and run B up"
    name, title = "compare-scatter", "A against B"
    return Chart(name=name, title=title, build=scatter, arguments=(result, key), alt=alt, has_heads=True)


def _maps(result: Comparison, key: str) -> Iterator[Map]:
    """The maps of A, of B and of the difference."""
    a, b = result.names
    for name, subject, title, run in (
        ("a", "A", a, result.provenance),
        ("b", "B", b, result.other),
        (
            "difference",
            "B − A",
            "" if result.changes[key].untested else "pale where no difference is shown",
            result.other,
        ),
    ):
        alt = f"Map of all heads, layer by head: {': '.join(filter(None, (subject, title)))}, {result.label(key)}"
        yield Map(f"compare-map-{name}", title, _squares, (result, key, name), alt, subject=subject, run=run)


def _squares(result: Comparison, key: str, name: str) -> HeadMap:
    """The map of run "a" or "b", both on one scale, or of their "difference", on a diverging one around 0 that is not
    much finer than theirs; there heads stand back that are not shown to differ, unless none could be tested."""
    change = result.changes[key]
    both = np.stack([change.a, change.b])
    limits = (min(0.0, float(np.nanmin(both))), float(np.nanmax(both)))
    if name == "difference":
        largest = max(float(np.nanmax(np.abs(change.difference))), FLOOR * (limits[1] - limits[0])) or 1.0
        squares = value_map(change.difference, result.label(key), limits=(-largest, largest), scale=DIVERGING)
        pale = () if change.untested else (head.key() for head in all_heads(*change.a.shape) if not change.marked[head])
        return replace(squares, faint=tuple(pale))
    return value_map(getattr(change, name), result.label(key), limits=limits)


def best_heads(result: Comparison) -> pd.DataFrame:
    """For each quantity, by its label, the highest head of both runs."""
    best = result.tables()["best"]
    best["quantity"] = best["quantity"].map(result.label)
    for name in ("head_a", "head_b"):
        best[name] = [Head.parse(label).label() for label in best[name]]
    return best


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
        means = layer_means(values)
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
