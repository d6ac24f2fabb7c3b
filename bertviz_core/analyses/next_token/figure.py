"""What heads add to the logit of the next token, by layer."""

import plotly.graph_objects as go

from bertviz_core.analyses.next_token.result import COLUMNS, NextToken
from bertviz_core.plotting import layer_figure


def paper_figure(result: NextToken) -> go.Figure:
    """What is added to the logit of the next token, a dot for each head, a line for layer means."""
    figure = layer_figure([[column.series(result) for column in COLUMNS]], height=400)
    return figure.update_yaxes(title="contribution to the logit, nats").update_layout(showlegend=False)
