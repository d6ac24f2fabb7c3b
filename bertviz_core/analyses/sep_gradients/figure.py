"""Figure 3: gradients by class of target token; the no-op argument for [SEP]; and the shares of sensitivity."""

import math
from collections.abc import Sequence

import numpy as np
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from bertviz_core.analyses.sep_gradients.result import CLASSES, COLUMNS, SepGradients, sink, sinks
from bertviz_core.plotting.palette import TOKENS
from bertviz_core.plotting.style import Series, by_layer, layer_axes, stack_legends

GAP = 0.17  # between panels, as a share of the figure
WRITTEN = 0.1  # colored bars from this share on carry it as text


def paper_figure(result: SepGradients, base: int = 1) -> go.Figure:
    """Mean |dL/dA| by layer and class, a dot for each head, lines for layer means; a log axis, since it spans tens."""
    figure = make_subplots(1, 1)
    series = [_series(result, name) for name in CLASSES if f"to_{name}" in result.present]
    by_layer(figure, series, 1, base=base)
    _log_axis(figure, 1, [each.values for each in series])
    layer_axes(figure, len(result.mean[0]), 1, base)
    stack_legends(figure, 1, GAP)
    return figure.update_layout(height=420)


def no_op_figure(result: SepGradients, base: int = 1) -> go.Figure:
    """Attention to the sink over its gradient, layer by layer: a no-op is high above and low below. The gradient to
    other tokens stands beside it, for all gradients may fall or rise from layer to layer."""
    token = sink(result).token
    titles = [f"How much attention goes to {TOKENS[token][0]}", "How much that attention matters to the loss"]
    figure = make_subplots(2, 1, shared_xaxes=True, vertical_spacing=GAP, subplot_titles=titles)
    by_layer(figure, [_series(result, token, "attention_to_{}")], 1, base=base)
    series = [_series(result, name) for name in (token, "other") if f"to_{name}" in result.present]
    by_layer(figure, series, 2, base=base)
    figure.update_yaxes(title="share of attention", range=[-0.02, 1.02], row=1, col=1)
    _log_axis(figure, 2, [each.values for each in series])
    layer_axes(figure, len(result.mean[0]), 2, base)
    stack_legends(figure, 2, GAP)
    return figure.update_layout(height=560)


def shares_figure(result: SepGradients, base: int = 1) -> go.Figure:
    """Of each layer's attention, and of its attention × gradient, the share of each class: stacked bars, to 100%."""
    panels = (("Of the attention", "attention_to_{}"), ("Of the attention × gradient", "to_{}_times_attention"))
    gap, titles = 1.5 * GAP, [title for title, _ in panels]  # legends of two lines
    figure = make_subplots(2, 1, shared_xaxes=True, vertical_spacing=gap, subplot_titles=titles)
    for row, (panel, form) in enumerate(panels, start=1):
        for name, share in result.shares(form).items():
            title, (color, _) = TOKENS[name]
            figure.add_bar(
                x=np.arange(1, len(share) + 1),
                y=share,
                name=title,
                marker={"color": color, "opacity": 0.3 if name == "other" else 1},
                text=[f"{value:.0%}" if value >= WRITTEN and name != "other" else "" for value in share],
                textposition="inside",
                insidetextanchor="middle",
                insidetextfont={"color": "white", "size": 12},
                textangle=0,
                constraintext="none",
                legendgroup=name,
                legend=f"legend{row if row > 1 else ''}",
                hovertemplate=f"layer %{{x}}: %{{y:.1%}} {panel.lower()} to {title}<extra></extra>",
                row=row,
                col=1,
            )
    figure.update_yaxes(range=[0, 1], tickformat=".0%")
    layer_axes(figure, len(result.mean[0]), 2, base)
    stack_legends(figure, 2, gap)
    return figure.update_layout(height=560, barmode="stack", bargap=0.25)


def more_figures(result: SepGradients) -> dict[str, go.Figure]:
    """Attention to the sink over its gradient, and the shares of attention and of attention × gradient."""
    shares = {"Shares by layer": shares_figure(result)}
    if not sinks(result):
        return shares
    return {f"Is attention to {TOKENS[sink(result).token][0]} a no-op?": no_op_figure(result)} | shares


def _series(result: SepGradients, name: str, form: str = "to_{}") -> Series:
    """The dots of one class of tokens."""
    label = next(column.label for column in COLUMNS if column.quantity == form.format(name))
    return Series(f"to_{name}", result[form.format(name)], *TOKENS[name], label)


def _log_axis(figure: go.Figure, row: int, values: Sequence[np.ndarray]) -> None:
    """Labels at powers of ten; at 2 and 5 as well where there are few powers."""
    shown = np.concatenate([each[each > 0] for each in values])
    figure.update_yaxes(title="mean |∂L/∂A|, nats", type="log", exponentformat="power", dtick=1, row=row, col=1)
    if shown.size and shown.max() / shown.min() < 100:
        powers = range(math.floor(math.log10(shown.min())), math.ceil(math.log10(shown.max())) + 1)
        ticks = [float(f"{digit}e{power}") for power in powers for digit in (1, 2, 5)]
        figure.update_yaxes(tickvals=ticks, ticktext=[f"{tick:g}" for tick in ticks], row=row, col=1)
