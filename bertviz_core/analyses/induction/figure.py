"""Attention to the three positions of a repeated sequence, by layer."""

import numpy as np
import plotly.graph_objects as go

from bertviz_core.analyses.induction.result import COLUMNS, KINDS, Induction
from bertviz_core.plotting import NEUTRAL, SEP, finish, layer_figure

COPIES = ("first copy", "second copy")


def paper_figure(result: Induction) -> go.Figure:
    """Mean attention in repeated sequences, a dot for each head, lines for layer means."""
    figure = layer_figure([[column.series(result) for column in COLUMNS[: len(KINDS)]]], height=420)
    return figure.update_yaxes(title="mean attention", range=[-0.02, 1.02])


def losses_figure(result: Induction) -> go.Figure:
    """The mean loss at each place of the sequence, a line for each copy."""
    assert result.copy_losses is not None, "a result of a model that predicts the next word"
    places = np.arange(2, result.length + 1)
    figure = go.Figure()
    for losses, name, (color, symbol) in zip(result.copy_losses, COPIES, (NEUTRAL, SEP), strict=True):
        look = {"marker": {"color": color, "symbol": symbol}, "line": {"color": color}}
        hover = f"{name}, token %{{x}}: %{{y:.2f}} nats<extra></extra>"
        figure.add_scatter(x=places, y=losses, name=name, mode="lines+markers", hovertemplate=hover, **look)
    figure.update_xaxes(title="place in the sequence")
    figure.update_yaxes(title="loss, nats", rangemode="tozero")
    return finish(figure, 300)
