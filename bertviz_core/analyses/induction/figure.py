"""Attention to the three positions of a repeated sequence, by layer."""

import plotly.graph_objects as go

from bertviz_core.analyses.induction.result import COLUMNS, KINDS, Induction
from bertviz_core.plotting import layer_figure


def paper_figure(result: Induction) -> go.Figure:
    """Mean attention in repeated sequences, a dot for each head, lines for layer means."""
    figure = layer_figure([[column.series(result) for column in COLUMNS[: len(KINDS)]]], height=420)
    return figure.update_yaxes(title="mean attention", range=[-0.02, 1.02])
