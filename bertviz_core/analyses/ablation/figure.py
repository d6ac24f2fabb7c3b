"""The changes of the loss: by layer, beside the gradient estimate, of groups of heads, and while heads are ablated."""

import plotly.graph_objects as go

from bertviz_core.analyses.ablation.result import Ablation
from bertviz_core.analyses.base.blocks import Chart
from bertviz_core.heads import all_heads
from bertviz_core.numbers import nats, number
from bertviz_core.plotting import BEHAVIORS, BEST, NEUTRAL, TOKENS, HeadSeries, finish, layer_figure


def paper_figure(result: Ablation) -> go.Figure:
    """The change of the loss by layer, a dot for each head: without the head, and without its attention to the sink."""
    series = [
        HeadSeries(
            key="loss_change",
            values=result["loss_change"],
            name="without the head",
            marker=(BEST, "circle"),
            label="loss change, nats",
        )
    ]
    if result.sink:
        name, marker = TOKENS[result.sink]
        values = result["to_sink_loss_change"]
        label = f"loss change without attention to {name}, nats"
        series.append(
            HeadSeries(
                key="to_sink_loss_change",
                values=values,
                name=f"without attention to {name}",
                marker=marker,
                label=label,
            )
        )
    return layer_figure([series], height=400).update_yaxes(title="change of the loss, nats")


def estimate_figure(result: Ablation) -> go.Figure:
    """The gradient estimate against the measured change with its 95% interval, a dot for each head."""
    change = result["loss_change"]
    interval = result.interval("loss_change")
    estimate = result["gradient_estimate"]
    texts = []
    for head in all_heads(*change.shape):
        text = nats(change[head], interval[head], result.unit)
        texts.append([head.key(), f"{head.label()}: {text}; estimate {number(estimate[head])}"])
    figure = go.Figure().add_scatter(
        x=estimate.reshape(-1),
        y=change.reshape(-1),
        error_y={"array": interval.reshape(-1), "thickness": 1, "width": 0, "color": "rgba(140, 140, 140, 0.6)"},
        mode="markers",
        marker={"size": 9, "color": BEST, "opacity": 0.7, "symbol": "circle"},
        customdata=texts,
        hovertemplate="%{customdata[1]}<extra></extra>",
    )
    figure.update_xaxes(title="gradient estimate, nats", zeroline=False, exponentformat="e")
    figure.update_yaxes(title="measured change of the loss, nats")
    return finish(figure, 400, showlegend=False)


def curve_figure(result: Ablation) -> go.Figure:
    """The loss while heads are ablated, the least important first."""
    figure = go.Figure().add_scatter(
        x=result.removed / result.removed.max(),
        y=result.removed_loss,
        mode="lines+markers",
        line={"color": BEST, "width": 2},
        customdata=result.removed,
        hovertemplate=f"%{{customdata}} of {result.removed.max()} heads off: loss %{{y:.3f}} nats<extra></extra>",
    )
    figure.add_hline(y=result.loss, line={"dash": "dot", "color": NEUTRAL[0], "width": 1})
    figure.update_xaxes(title="share of the heads ablated, the least important first", tickformat=".0%")
    figure.update_yaxes(title="loss, nats")
    return finish(figure, 360, showlegend=False)


def groups_figure(result: Ablation) -> go.Figure:
    """The change of the loss without each group, with its interval; and without random heads of the same layers."""
    names = [group["name"] for group in result.groups]
    names = [BEHAVIORS[name][-1] if name in BEHAVIORS else name for name in names]
    figure = go.Figure().add_scatter(
        x=[group["loss_change"] for group in result.groups],
        y=names,
        error_x={"array": [group["interval"] or 0.0 for group in result.groups], "thickness": 1.5, "width": 3},
        mode="markers",
        name="the group",
        marker={"size": 10, "color": BEST, "symbol": "circle"},
        customdata=[len(group["heads"]) for group in result.groups],
        hovertemplate="%{y}, %{customdata} heads: %{x:.3f} nats<extra></extra>",
    )
    figure.add_scatter(
        x=[draw for group in result.groups for draw in group["random_draws"]],
        y=[name for name, group in zip(names, result.groups, strict=True) for _ in group["random_draws"]],
        mode="markers",
        name="as many random heads of the same layers",
        marker={"size": 8, "color": NEUTRAL[0], "symbol": "x-thin-open"},
        hovertemplate="%{y}, random heads of the same layers: %{x:.3f} nats<extra></extra>",
    )
    figure.update_yaxes(autorange="reversed")
    figure.update_xaxes(title="change of the loss, nats", zeroline=True, zerolinecolor=NEUTRAL[0], zerolinewidth=1)
    return finish(figure, 120 + 24 * len(names), margin={"l": 130})


def estimate_chart(result: Ablation) -> Chart:
    """Whether the gradient predicts the change."""
    return Chart(
        name="ablation-estimate",
        title="Does the gradient predict it?",
        build=estimate_figure,
        arguments=(result,),
        alt="Scatter plot: the gradient estimate of each head against the measured change of the loss",
        has_heads=True,
    )


def curve_chart(result: Ablation) -> Chart:
    """How many heads are needed."""
    return Chart(
        name="ablation-curve",
        title="How many heads are needed?",
        build=curve_figure,
        arguments=(result,),
        alt="Curve: the loss while heads are ablated, the least important first",
    )


def groups_chart(result: Ablation) -> Chart:
    """The change without groups of heads."""
    return Chart(
        name="ablation-groups",
        title="Groups of heads",
        build=groups_figure,
        arguments=(result,),
        alt="The change of the loss without each group of heads, with intervals, and without random heads",
        note="All heads of a behavior or a layer at once, beside as many heads drawn from the same layers, five times.",
    )
