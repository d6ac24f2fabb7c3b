"""Figure 4: entropy by layer."""

import plotly.graph_objects as go

from bertviz_core import plotting
from bertviz_core.analyses.base.averages import uniform_text
from bertviz_core.analyses.entropy.result import COLUMNS, Entropy

PANELS = {"entropy": "Average over all tokens", "from_cls": "From [CLS] alone"}  # titles of the panels


def paper_figure(result: Entropy) -> go.Figure:
    """Entropy by layer in nats, a dot for each head, lines for layer means, the uniform reference dashed."""
    columns = [column for column in COLUMNS if column.quantity in PANELS and column.quantity in result]
    panels = [[column.series(result)] for column in columns]
    titles = [PANELS[column.quantity] for column in columns]
    figure = plotting.layer_figure(panels, titles, height=330 * len(panels), gap=0.12)
    figure.update_annotations(yshift=0).update_layout(showlegend=False)
    text = f"uniform attention: {uniform_text(result['uniform'], 2)}"
    corner = {"x": 1, "xref": "x domain", "y": result.uniform, "xanchor": "right", "yanchor": "bottom"}
    for row in range(1, len(panels) + 1):
        plotting.add_reference(figure, result["uniform"][:, 0], row)
        figure.add_annotation(text=text, font_size=12, showarrow=False, row=row, col=1, **corner)
    return figure.update_yaxes(title="entropy, nats", range=[-0.1, result.uniform * 1.15])
