"""Reach by layer; and of one head attention by distance, its tokens, inputs by activation, and the strongest pair of an
input."""

import numpy as np
import plotly.graph_objects as go

from bertviz_core import plotting
from bertviz_core.analyses.base.head_figures import MIDDLE, HeadCurve, HeadRow
from bertviz_core.analyses.reach.result import BY_QUANTITY, FARTHEST, INACTIVE, OFFSETS, SHARES, TENTHS, Act, Reach
from bertviz_core.heads import Head
from bertviz_core.inputs.tokens import read_names
from bertviz_core.numbers import measured
from bertviz_core.plotting.arcs import Arc, sentence_svg

CONTEXT = 4  # tokens that a drawing shows on either side of a pair
TICKS = (f"< -{FARTHEST}", *map(str, range(-FARTHEST, FARTHEST + 1)), f"> {FARTHEST}")


def paper_figure(result: Reach) -> go.Figure:
    """Distance, sink rates and relative output by layer, a dot for each head, lines for layer means."""
    distances = ["distance_ordinary", "distance"]
    panels = {"Mean distance, tokens": [name for name in distances if name in result], "Sink rate": result.sinks}
    if "output" in result:
        panels["Length of the output beside the layer's mean"] = ["output"]
    panels = {title: names for title, names in panels.items() if names}
    series = [[BY_QUANTITY[name].series(result) for name in names] for names in panels.values()]
    figure = plotting.layer_figure(series, tuple(panels), height=270 * len(panels), gap=0.14)
    _add_line(figure, result["uniform"][:, 0], "uniform attention, all tokens", 1)
    if "output" in result:
        _add_line(figure, np.full(len(result["output"]), INACTIVE), "inactive below", len(panels))
    return figure


def _add_line(figure: go.Figure, by_layer: np.ndarray, name: str, row: int) -> None:
    plotting.add_reference(figure, by_layer, row)
    low, high = by_layer.min(), by_layer.max()
    text = f"dashed: {name} {low:.3g}" if low == high else f"dashed: {name} {low:.3g} to {high:.3g}"
    # Beside the panel's title: at the dashed line it would lie on the dots of the last layers, lower on the legend.
    corner = {
        "x": 1,
        "y": 1,
        "xref": "x domain",
        "yref": "y domain",
        "xanchor": "right",
        "yanchor": "bottom",
        "yshift": 26,
    }
    figure.add_annotation(text=text, font_size=12, showarrow=False, row=row, col=1, **corner)


def offsets_figure(result: Reach, head: Head) -> go.Figure:
    """A head's attention by distance, key minus query, with its intervals; behind it the middle 90% of all heads."""
    curve = offsets_curve(result, head)
    x = curve.ticks
    band = {"line": {"width": 0}, "mode": "lines", "hoverinfo": "skip", "fillcolor": "rgba(140, 140, 140, 0.25)"}
    figure = go.Figure()
    figure.add_scatter(x=x, y=curve.low, showlegend=False, **band)
    figure.add_scatter(x=x, y=curve.high, fill="tonexty", name="middle 90% of all heads", **band)
    figure.add_scatter(
        x=x,
        y=curve.values,
        error_y={"array": np.nan_to_num(curve.interval[1] - curve.values), "thickness": 1},
        mode="lines+markers",
        marker={"color": plotting.BEST},
        name=f"head {head.label()}",
        hovertemplate="distance %{x}: %{y:.3f}<extra></extra>",
    )
    figure.update_xaxes(title=curve.axis, type="category")
    figure.update_yaxes(title=curve.name, rangemode="tozero")
    return plotting.finish(figure, 320)


def offsets_curve(result: Reach, head: Head) -> HeadCurve:
    """A head's attention by distance, key minus query; distances that no input has are left out."""
    shares = result.offsets.reshape(len(OFFSETS), -1)
    known = ~np.isnan(shares).all(1)
    low, high = np.quantile(shares[known], MIDDLE, axis=1)
    values = result.offsets[:, *head][known]
    half = result.offset_intervals()[:, *head][known]
    return HeadCurve(
        ticks=tuple(tick for tick, is_known in zip(TICKS, known, strict=True) if is_known),
        values=values,
        interval=np.stack([values - half, values + half]),
        low=low,
        high=high,
        axis="position of the key minus that of the query, tokens",
        name="share of attention",
    )


def token_rows(result: Reach, share: str, head: Head, most: int) -> tuple[HeadRow, ...]:
    """These tokens as rows of the page of a head, beside all heads."""
    rows = []
    for each in result.top_tokens(share, head, most):
        others = result.token_shares[SHARES.index(share), each.place]
        text = measured(each.value, each.half)
        limits = (0.0, max(float(np.nanmax(others)), 1.0))
        ends = (each.value - each.half, each.value + each.half)
        median = f"{np.nanmedian(others):.3g}"
        rows.append(HeadRow(each.label, each.value, text, others, median, head, limits, *ends, 1.0, "uniform 1"))
    return tuple(rows)


def acts_figure(result: Reach, head: Head) -> go.Figure:
    """In how many inputs the largest weight of a head between two ordinary tokens is in each tenth."""
    names = [f"{tenth / TENTHS:.1f}–{(tenth + 1) / TENTHS:.1f}" for tenth in range(TENTHS)]
    template = "%{customdata}: %{y:,} inputs<extra></extra>"
    middles = (np.arange(TENTHS) + 0.5) / TENTHS
    bars = go.Bar(x=middles, y=result.act_counts[head], customdata=names, width=0.8 / TENTHS, hovertemplate=template)
    figure = go.Figure(bars.update(marker_color=plotting.BEST))
    figure.update_xaxes(title="largest weight between two ordinary tokens", range=[0, 1], dtick=1 / TENTHS)
    figure.update_yaxes(title="inputs")
    return plotting.finish(figure, 260)


def pair_svg(act: Act) -> str:
    """The part of an input around its strongest pair, with an arrow from the query to the key."""
    ends = sorted((act.query, act.key))
    first = max(0, ends[0] - CONTEXT)
    labels = read_names(act.tokens)
    shown = labels[first : ends[1] + CONTEXT + 1]
    arrow = Arc(act.key - first, act.query - first, f"{act.value:.2f}")
    name = f"{labels[act.query]} attends to {labels[act.key]} with a weight of {act.value:.2f}"
    return sentence_svg(shown, [arrow], [], name)
