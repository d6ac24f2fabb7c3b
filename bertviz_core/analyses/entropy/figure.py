"""Figure 4: entropy of all rows, and of the [CLS] row alone."""

import plotly.graph_objects as go
from plotly.subplots import make_subplots

from bertviz_core.analyses.entropy.result import COLUMNS, Entropy
from bertviz_core.plotting.style import by_layer, layer_axes

TITLES = {"entropy": "Average over all tokens", "from_cls": "From [CLS] alone"}


def paper_figure(result: Entropy, base: int = 1) -> go.Figure:
    """Entropy by layer in nats, a dot for each head, lines for layer means, the uniform reference dashed."""
    shown = [column for column in COLUMNS if column.quantity in TITLES and column.quantity in result.present]
    titles = [TITLES[column.quantity] for column in shown]
    figure = make_subplots(len(shown), 1, shared_xaxes=True, vertical_spacing=0.12, subplot_titles=titles)
    for row, column in enumerate(shown, start=1):
        by_layer(figure, [column.series(result)], row, base=base)
        figure.add_hline(
            y=result.uniform,
            line={"dash": "dash", "color": "#8c8c8c", "width": 1},
            annotation={"text": f"uniform attention: {result.uniform:.2f}", "font_size": 12},
            annotation_position="top right",
            row=row,
            col=1,
        )
    figure.update_annotations(selector={"yref": "paper"}, x=0, xanchor="left", font_size=14)
    figure.update_yaxes(title="entropy, nats", range=[-0.1, result.uniform * 1.15])
    layer_axes(figure, result["entropy"].shape[0], len(shown), base)
    return figure.update_layout(height=330 * len(shown), showlegend=False)
