"""Figure 3 shows gradients by class of target token; another figure, attention to the sink above its gradient."""

from dataclasses import replace

import numpy as np
import plotly.graph_objects as go

from bertviz_core.analyses.base.blocks import Chart
from bertviz_core.analyses.sep_gradients.result import ATTENTION, CLASSES, COLUMNS, GRADIENT, SepGradients, Sink, sink
from bertviz_core.paper import NO_OP_FROM_LAYER
from bertviz_core.plotting import RING, TOKENS, HeadSeries, layer_figure


def paper_figure(result: SepGradients) -> go.Figure:
    """Mean |dL/dA| by layer and class, dots for heads, lines for layer means; log, since values span powers of ten."""
    series = [_series(result, GRADIENT, name) for name in CLASSES if GRADIENT.format(name) in result]
    return _log_axis(layer_figure([series], height=420), 1, series)


def no_op_figure(result: SepGradients, with_ratio: bool = True) -> go.Figure:
    """Attention to the sink above its gradient, layer by layer: a no-op is high above and low below. The gradient to
    other tokens is beside it, since all gradients may fall or rise from layer to layer. The ratio of both may be
    written where most attention goes to the sink, between the two means."""
    peak = sink(result)
    assert peak is not None, "drawn only where there is a sink"
    token = peak.token
    titles = [f"How much attention goes to {TOKENS[token][0]}", "How much that attention matters to the loss"]
    gradients = [_series(result, GRADIENT, name) for name in (token, "other")]
    figure = layer_figure([[_series(result, ATTENTION, token)], gradients], titles, height=560)
    figure.update_yaxes(title="share of attention", range=[-0.02, 1.02], row=1, col=1)
    if with_ratio and peak.ratio > 0:  # It is not NaN and has a place on a logarithmic axis.
        _add_ratio(figure, peak, [float(each.values[peak.layer].mean()) for each in gradients])
    return _log_axis(figure, 2, gradients)


def _add_ratio(figure: go.Figure, peak: Sink, means: list[float]) -> None:
    """The ratio of a layer's two mean gradients, beside a dotted line from one to the other."""
    middle = float(np.sqrt(means[0] * means[1]))  # The middle is that of a logarithmic axis.
    figure.add_scatter(
        x=[peak.layer + 1] * 3,
        y=[means[0], middle, means[1]],
        mode="lines+text",
        text=["", f"{peak.ratio:.2f} times", ""],
        textposition="middle left" if peak.layer else "middle right",
        line={"color": RING, "width": 2, "dash": "dot"},
        hoverinfo="skip",
        showlegend=False,
        row=2,
        col=1,
    )


def _series(result: SepGradients, form: str, token: str) -> HeadSeries:
    column = next(column for column in COLUMNS if column.quantity == form.format(token))
    return replace(column.series(result), name=TOKENS[token][0])


def _log_axis(figure: go.Figure, row: int, series: list[HeadSeries]) -> go.Figure:
    """Labels at powers of ten; at 2 and 5 as well where there are few powers."""
    positive = np.concatenate([each.values[each.values > 0] for each in series])
    figure.update_yaxes(title="mean |∂L/∂A|, nats", type="log", exponentformat="power", dtick=1, row=row, col=1)
    if positive.size and positive.max() / positive.min() < 100:
        lowest = np.floor(np.log10(positive.min()))
        highest = np.ceil(np.log10(positive.max()))
        ticks = [float(f"{digit}e{power:.0f}") for power in np.arange(lowest, highest + 1) for digit in (1, 2, 5)]
        figure.update_yaxes(tickvals=ticks, ticktext=[f"{tick:g}" for tick in ticks], row=row, col=1)
    return figure


def no_op_chart(result: SepGradients) -> Chart:
    """The figure of the no-op, of a result that has a sink."""
    peak = sink(result)
    assert peak, "a result with a sink"
    name = TOKENS[peak.token][0]
    return Chart(
        name="no-op-figure",
        title=f"Is attention to {name} a no-op?",
        build=no_op_figure,
        arguments=(result,),
        alt=f"Attention to {name} by layer, and under it the gradient to {name} and to other tokens",
        note="The gradient says how much the loss would change if a weight changed slightly. Much attention with a "
        f"gradient near 0 is a no-op: the paper finds that of [SEP] in BERT-base from layer {NO_OP_FROM_LAYER} on.",
        has_heads=True,
    )
