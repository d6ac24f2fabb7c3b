"""Figures of ablation: changes by layer, the gradient estimate beside them, groups of heads, and the pruning curve."""

from typing import Any

import numpy as np
import plotly.graph_objects as go

from bertviz_core.analyses.ablation.result import Ablation
from bertviz_core.analyses.head_averages import HeadColumn
from bertviz_core.heads import all_heads
from bertviz_core.numbers import half_width, number
from bertviz_core.plotting import (
    BEHAVIORS,
    DIVERGING,
    NEUTRAL,
    SEQUENTIAL,
    TOKENS,
    Series,
    finish,
    layer_figure,
)
from bertviz_core.plotting.head_map import HeadMap, value_map

LINE = "#4c6ef5"


def paper_figure(result: Ablation, base: int = 1) -> go.Figure:
    """The change of the loss by layer, a dot for each head: without the head, and without its attention to the sink."""
    series = [Series("loss_change", result["loss_change"], "without the head", (LINE, "circle"), "loss change, nats")]
    if result.sink:
        name, marker = TOKENS[result.sink]
        values = result["to_sink_loss_change"]
        label = f"loss change without attention to {name}, nats"
        series.append(Series("to_sink_loss_change", values, f"without attention to {name}", marker, label))
    return layer_figure([series], base=base, height=400).update_yaxes(title="change of the loss, nats")


def more_figures(result: Ablation) -> dict[str, go.Figure]:
    """The figures of the ablation page below the first one."""
    return {
        "The gradient estimate and the measured change": estimate_figure(result),
        "Groups of heads": groups_figure(result),
        "The loss while heads are switched off": curve_figure(result),
    }


def change_map(result: Ablation, column: HeadColumn, base: int = 1) -> HeadMap:
    """The map of one quantity; changes have a scale centered on 0, and the hover text has the interval."""
    values, interval = result[column.quantity], result.interval(column.quantity)
    signed = column.quantity != "gradient_estimate"
    highest = float(np.nanmax(np.abs(values))) or 1.0
    limits, scale = ((-highest, highest), DIVERGING) if signed else ((0.0, highest), SEQUENTIAL)
    unit = "share of words" if column.percent else "nats"
    form, half_form, nats = (".1%", ".1%", "") if column.percent else (".3g", ".2g", " nats")
    texts = [
        f"{format(value, '+' * signed + form)} ± {half_width(half, half_form)}{nats}"
        for value, half in zip(values.flat, interval.flat, strict=True)
    ]
    return value_map(values, base=base, limits=limits, unit=unit, scale=scale, texts=texts)


def estimate_figure(result: Ablation, base: int = 1) -> go.Figure:
    """The gradient estimate against the measured change with its 95% interval, a dot for each head."""
    change, interval, estimate = result["loss_change"], result.interval("loss_change"), result["gradient_estimate"]
    each = zip(all_heads(*change.shape), change.flat, interval.flat, estimate.flat, strict=True)
    texts = [
        [head.label(), f"{head.label(base)}: {number(value)} ± {half_width(half)} nats; estimate {number(guess)}"]
        for head, value, half, guess in each
    ]
    figure = go.Figure().add_scatter(
        x=estimate.reshape(-1),
        y=change.reshape(-1),
        error_y={"array": interval.reshape(-1), "thickness": 1, "width": 0, "color": "rgba(140, 140, 140, 0.6)"},
        mode="markers",
        marker={"size": 9, "color": LINE, "opacity": 0.7, "symbol": "circle"},
        customdata=texts,
        hovertemplate="%{customdata[1]}<extra></extra>",
    )
    figure.update_xaxes(title="gradient estimate, nats", zeroline=False, exponentformat="e")
    figure.update_yaxes(title="measured change of the loss, nats")
    return finish(figure, 400, showlegend=False)


def curve_figure(result: Ablation) -> go.Figure:
    """The loss while heads are switched off, the least important first."""
    shares = result.removed / result.removed.max()
    figure = go.Figure().add_scatter(
        x=shares,
        y=result.removed_loss,
        mode="lines+markers",
        line={"color": LINE, "width": 2},
        customdata=result.removed,
        hovertemplate=f"%{{customdata}} of {result.removed.max()} heads off: loss %{{y:.3f}} nats<extra></extra>",
    )
    figure.add_hline(y=result.loss, line={"dash": "dot", "color": NEUTRAL[0], "width": 1})
    figure.update_xaxes(title="share of the heads switched off, the least important first", tickformat=".0%")
    figure.update_yaxes(title="loss, nats")
    return finish(figure, 360, showlegend=False)


def groups_figure(result: Ablation) -> go.Figure:
    """The change of the loss without each group, with its interval; beside it random heads of the same layers."""
    names = [group_name(group["name"]) for group in result.groups]
    figure = go.Figure().add_scatter(
        x=[group["loss_change"] for group in result.groups],
        y=names,
        error_x={"array": [group["interval"] or 0.0 for group in result.groups], "thickness": 1.5, "width": 3},
        mode="markers",
        name="the group",
        marker={"size": 10, "color": LINE, "symbol": "circle"},
        customdata=[len(group["heads"]) for group in result.groups],
        hovertemplate="%{y}, %{customdata} heads: %{x:.3f} nats<extra></extra>",
    )
    figure.add_scatter(
        x=[draw for group in result.groups for draw in group["random_draws"]],
        y=[group_name(group["name"]) for group in result.groups for _ in group["random_draws"]],
        mode="markers",
        name="as many random heads of the same layers",
        marker={"size": 8, "color": NEUTRAL[0], "symbol": "x-thin-open"},
        hovertemplate="%{y}, random heads of the same layers: %{x:.3f} nats<extra></extra>",
    )
    figure.update_yaxes(autorange="reversed")
    figure.update_xaxes(title="change of the loss, nats", zeroline=True, zerolinecolor=NEUTRAL[0], zerolinewidth=1)
    return finish(figure, 120 + 24 * len(names), margin={"l": 130})


def group_rows(result: Ablation) -> list[dict[str, Any]]:
    """A row for each group: how many heads, the change with its interval, and that of random heads."""
    return [
        {
            "group": group_name(group["name"]),
            "heads": len(group["heads"]),
            "change, nats": f"{number(group['loss_change'])} ± {half_width(group['interval'])}",
            "random heads, nats": "–" if group["random_draws"] == [] else number(group["random_loss_change"]),
        }
        for group in result.groups
    ]


def group_name(name: str) -> str:
    """Display name of a group."""
    return BEHAVIORS[name][-1] if name in BEHAVIORS else name
