"""Attention within repeated sequences by layer, a dot for each head."""

import plotly.graph_objects as go
from plotly.subplots import make_subplots

from bertviz_core.analyses.induction.result import COLUMNS, KINDS, Induction
from bertviz_core.plotting.style import by_layer, layer_axes, stack_legends


def paper_figure(result: Induction, base: int = 1) -> go.Figure:
    """The three quantities, a dot for each head, a line through the layers' means."""
    figure = make_subplots(1, 1)
    by_layer(figure, [column.series(result) for column in COLUMNS[: len(KINDS)]], 1, base=base)
    figure.update_yaxes(title="mean attention", range=[-0.02, 1.02])
    layer_axes(figure, len(result.mean[0]), 1, base)
    stack_legends(figure, 1, 0.17)
    return figure.update_layout(height=420)
