"""Attention to the three positions of a repeated sequence, by layer, and beside what papers have named heads."""

from collections.abc import Iterable

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from bertviz_core.analyses.base.table_blocks import Table
from bertviz_core.analyses.induction.result import COLUMNS, CONTROL_QUANTITY, KINDS, Induction
from bertviz_core.heads import ranks
from bertviz_core.plotting import NEUTRAL, SEP, finish, layer_figure
from bertviz_core.published import PublishedHead

COPIES = ("first copy", "second copy")
EXPECTED = {f"{Induction.analysis}.{kind}": kind for kind in KINDS}  # what published heads are measured by


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
        figure.add_scatter(
            x=places,
            y=losses,
            name=name,
            mode="lines+markers",
            marker_color=color,
            marker_symbol=symbol,
            line_color=color,
            hovertemplate=f"{name}, token %{{x}}: %{{y:.2f}} nats<extra></extra>",
        )
    figure.update_xaxes(title="place in the sequence")
    figure.update_yaxes(title="loss, nats", rangemode="tozero")
    return finish(figure, 300)


def expected_table(result: Induction, named: Iterable[PublishedHead]) -> Table:
    """Heads that papers have named in this model, with the number that is published, if any, and that of this run."""
    rows = []
    for each in named:
        quantity = EXPECTED[each.quantity]
        if quantity in result:
            control = CONTROL_QUANTITY.format(quantity)
            rows.append(
                {
                    "head": each.head.label(),
                    "named": each.role,
                    "by": each.paper.name,
                    "published": each.value,
                    "here": float(result[quantity][each.head]),
                    "control": float(result[control][each.head]) if control in result else None,
                    "rank": int(ranks(result[quantity])[each.head]),
                }
            )
    note = "Published numbers are of repeated random tokens after a BOS token: expect them to agree only roughly."
    return Table("published", "Heads that papers have named", pd.DataFrame(rows), note=note, decimals=2)
