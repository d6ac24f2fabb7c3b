"""The accuracy by phenomenon with all heads, and without each of them."""

from collections.abc import Sequence
from dataclasses import replace
from html import escape
from typing import Any

import numpy as np
import plotly.graph_objects as go

from bertviz_core.analyses.base.averages import HeadColumn
from bertviz_core.analyses.base.head_figures import HeadFigure, columns_figure
from bertviz_core.analyses.minimal_pairs.result import QUANTITIES, MinimalPairs
from bertviz_core.heads import Head, all_heads
from bertviz_core.plotting import BEST, CATEGORIES, DIVERGING, NEUTRAL, finish

ROW = 34  # pixels of a phenomenon
ROOM, WIDEST = 640, 30  # pixels of all squares of a row, and of one at most, which has room for a number
LONGEST_NAME = 34  # characters of a phenomenon beside its row
HALF = LONGEST_NAME // 2  # characters of each end of a longer one


def paper_figure(result: MinimalPairs) -> go.Figure:
    """For each phenomenon the accuracy of the whole model with its interval, and small, without each head."""
    names = result.phenomena
    heads = all_heads(*result.changes.shape[2:])
    figure = go.Figure()
    without = result.accuracy[:, None] + result.changes[:, 0].reshape(len(names), -1)  # (phenomenon, head)
    figure.add_scatter(
        x=(100 * without).reshape(-1),
        y=[name for name in names for _ in heads],
        mode="markers",
        name="without one head",
        marker={"size": 7, "color": NEUTRAL[0], "symbol": "circle-open"},
        customdata=[[head.key(), head.label()] for _ in names for head in heads],
        hovertemplate="%{y}, without %{customdata[1]}: %{x:.1f}%<extra></extra>",
    )
    low, high = (100 * ends for ends in result.accuracy_limits())
    accuracy = 100 * result.accuracy
    figure.add_scatter(
        x=accuracy,
        y=names,
        mode="markers",
        name="all heads",
        marker={"size": 10, "color": BEST, "symbol": "diamond"},
        error_x={"array": high - accuracy, "arrayminus": accuracy - low, "color": BEST, "thickness": 1.5},
        hovertemplate="%{y}, all heads: %{x:.1f}%<extra></extra>",
    )
    figure.add_vline(x=100 * result.chance, line={"dash": "dash", "color": NEUTRAL[0], "width": 1})
    figure.update_yaxes(_rows(names))
    figure.update_xaxes(title="pairs that are right (dashed: chance)", ticksuffix="%")
    return finish(figure, 150 + ROW * len(names))


def set_figure(result: MinimalPairs, quantity: str) -> go.Figure:
    """For each phenomenon the change of a quantity without the set that is removed, with its interval, and small,
    without each random set."""
    index = QUANTITIES.index(quantity)
    factor, unit = ((100, " points"), (1, " nats"))[index]
    names = result.phenomena
    controls = factor * result.control_changes[:-1, index]  # (phenomenon, control)
    sets = [", ".join(Head.parse(key).label() for key in keys) for keys in result.controls]
    figure = go.Figure()
    figure.add_scatter(
        x=controls.reshape(-1),
        y=[name for name in names for _ in sets],
        mode="markers",
        name="other heads of its layer" if sets and "," not in sets[0] else "random sets",
        marker={"size": 7, "color": NEUTRAL[0], "symbol": "circle-open"},
        customdata=[heads for _ in names for heads in sets],
        hovertemplate=f"%{{y}}, without %{{customdata}}: %{{x:+.2f}}{unit}<extra></extra>",
    )
    widest = (200, np.inf)[index]  # An interval beyond the scale would leave no room for the rest.
    half = np.minimum(factor * result.set_intervals(quantity)[:-1, 0], widest)
    figure.add_scatter(
        x=factor * result.set_changes[:-1, index, 0],
        y=names,
        mode="markers",
        name="the set, with its 95% interval",
        marker={"size": 10, "color": BEST, "symbol": "diamond"},
        error_x={"array": half, "color": BEST, "thickness": 1.5},
        hovertemplate=f"%{{y}}: %{{x:+.2f}}{unit}<extra></extra>",
    )
    figure.add_vline(x=0, line={"dash": "dash", "color": NEUTRAL[0], "width": 1})
    figure.update_yaxes(_rows(names))
    figure.update_xaxes(title=f"change,{unit} (dashed: none)")
    return finish(figure, 150 + ROW * len(names))


def matrix_figure(result: MinimalPairs) -> go.Figure:
    """The change of accuracy in points without the heads of each relation, a row for each phenomenon."""
    names = result.phenomena
    sets = [f"{each['name']} ({len(each['heads'])})" for each in result.sets]
    points = 100 * result.set_changes[:-1, 0]  # (phenomenon, set)
    limit = float(np.abs(points).max()) or 1.0
    size = min(WIDEST, ROOM // len(sets))
    figure = go.Figure()
    figure.add_scatter(
        x=[name for _ in names for name in sets],
        y=[name for name in names for _ in sets],
        mode="markers+text" if size == WIDEST else "markers",
        marker={
            "symbol": "square",
            "size": size,
            "color": points.reshape(-1),
            "colorscale": [list(step) for step in DIVERGING],
            "cmin": -limit,
            "cmax": limit,
        },
        text=[f"{value:+.1f}" if value else "0" for value in points.reshape(-1).tolist()],
        textfont={"size": 11},
        hovertemplate="%{y}, without the heads of %{x}: %{text} points<extra></extra>",
    )
    figure.update_yaxes(CATEGORIES | _rows(names))
    figure.update_xaxes(side="top", tickangle=-60, automargin=True, **CATEGORIES)
    return finish(figure, 120 + (size + 4) * len(names), showlegend=False, margin={"b": 10})


def _rows(names: Sequence[str]) -> dict[str, Any]:
    """An axis with a row for each phenomenon, whatever its name looks like; long names are cut in their middle, since
    many differ at their end alone."""
    short_names = [name if len(name) <= LONGEST_NAME else f"{name[:HALF]}…{name[-HALF:]}" for name in names]
    texts = [escape(name, quote=False) for name in short_names]
    return {"type": "category", "autorange": "reversed", "automargin": True, "tickvals": names, "ticktext": texts}


def head_figure(title: str, columns: Sequence[HeadColumn], result: MinimalPairs, head: Head) -> HeadFigure:
    """What the model loses without a head in all phenomena; heads are found by the change of accuracy in each of them,
    in points."""
    changes = zip(result.phenomena, 100 * result.changes[:, 0], strict=True)
    return replace(columns_figure(title, columns, result, head), searched=dict(changes))
