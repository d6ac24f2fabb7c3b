"""Figure 3: gradients by class of target token; the no-op argument for [SEP]; and the shares of sensitivity."""

from __future__ import annotations

import numpy as np
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from bertviz_core.analyses.sep_gradients import CLASSES, SepGradients
from bertviz_core.figures import style
from bertviz_core.figures.style import COLOURS, Series, by_layer, layer_axes, stack_legends
from bertviz_core.heads import Head

GAP = 0.17  # between panels, as a share of the figure
NAMES = {
    form.format(name): title.format(style.NAMES[f"to_{name}"])
    for form, title in (
        ("to_{}", "gradient to {}"),
        ("to_{}_times_attention", "attention × gradient to {}"),
        ("attention_to_{}", "attention to {}"),
    )
    for name in CLASSES
}
PATTERNS = {"sep": "", "punct": "/", "cls": "x", "other": "."}  # tells the classes apart without their colours


def paper_figure(result: SepGradients, chosen: Head | None = None, base: int = 1) -> go.Figure:
    """Mean |dL/dA| by layer and class, a dot for each head, lines for layer means; a log axis, since it spans tens."""
    figure = make_subplots(1, 1)
    keys = [f"to_{name}" for name in CLASSES if f"to_{name}" in result.present]
    by_layer(figure, [Series(key, result[key]) for key in keys], 1, chosen=chosen, base=base)
    _log_axis(figure, 1)
    layer_axes(figure, len(result.mean[0]), 1, base)
    stack_legends(figure, 1, GAP)
    return figure.update_layout(height=420)


def no_op_figure(result: SepGradients, chosen: Head | None = None, base: int = 1) -> go.Figure:
    """Attention to [SEP] over its gradient, layer by layer: a no-op is high above and low below. The gradient to other
    tokens stands beside it, for all gradients may fall or rise from layer to layer."""
    titles = ["How much attention goes to [SEP]", "How much that attention matters to the loss"]
    figure = make_subplots(2, 1, shared_xaxes=True, vertical_spacing=GAP, subplot_titles=titles)
    by_layer(figure, [Series("to_sep", result["attention_to_sep"])], 1, chosen=chosen, base=base)
    keys = [key for key in ("to_sep", "to_other") if key in result.present]
    by_layer(figure, [Series(key, result[key]) for key in keys], 2, chosen=chosen, base=base)
    figure.update_yaxes(title="share of attention", range=[-0.02, 1.02], row=1, col=1)
    _log_axis(figure, 2)
    layer_axes(figure, len(result.mean[0]), 2, base)
    stack_legends(figure, 2, GAP)
    return figure.update_layout(height=560)


def shares_figure(result: SepGradients, base: int = 1) -> go.Figure:
    """Of each layer's attention, and of its attention × gradient, the share of each class: stacked bars, to 100%."""
    panels = (("Of the attention", "attention_to_{}"), ("Of the attention × gradient", "to_{}_times_attention"))
    figure = make_subplots(2, 1, shared_xaxes=True, vertical_spacing=GAP, subplot_titles=[title for title, _ in panels])
    for row, (_, form) in enumerate(panels, start=1):
        for name, share in result.shares(form).items():
            colour, _ = COLOURS[f"to_{name}"]
            title = style.NAMES[f"to_{name}"]
            figure.add_bar(
                x=np.arange(1, len(share) + 1),
                y=share,
                name=title,
                marker={"color": colour, "pattern": {"shape": PATTERNS[name], "size": 5, "solidity": 0.25}},
                legendgroup=name,
                legend=f"legend{row if row > 1 else ''}",
                hovertemplate=f"layer %{{x}}: %{{y:.1%}} to {title}<extra></extra>",
                row=row,
                col=1,
            )
    figure.update_yaxes(range=[0, 1], tickformat=".0%")
    layer_axes(figure, len(result.mean[0]), 2, base)
    stack_legends(figure, 2, GAP)
    return figure.update_layout(height=560, barmode="stack", bargap=0.25)


def _log_axis(figure: go.Figure, row: int) -> None:
    """Powers of ten alone get a label: two or three are enough to read by."""
    figure.update_yaxes(title="mean |∂L/∂A|, nats", type="log", dtick=1, exponentformat="power", row=row, col=1)
