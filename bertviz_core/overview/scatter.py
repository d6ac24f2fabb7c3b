"""Heads in the plane of two of their numbers, colored by a third."""

from collections.abc import Collection
from html import escape

import numpy as np
import plotly.graph_objects as go

from bertviz_core.heads import Head
from bertviz_core.numbers import number
from bertviz_core.overview.vocabulary import Term, Vocabulary
from bertviz_core.plotting import COLORBAR, LIGHT_TO_DARK, OUTLINE, finish

SIZE, FOUND = 10, 13  # pixels of a dot, and of one that is found
FAINT = 0.25  # opacity of a dot that is not found
HEIGHT = 460


def scatter(known: Vocabulary, axes: tuple[Term, Term, Term], found: Collection[str] | None = None) -> go.Figure:
    """A dot for each head that has both numbers.

    Args:
        axes: What is across, what is up, and what colors the dots, darker for more.
        found: The keys of the heads that an expression finds, which stand out; None without an expression.
    """
    keys = known.heads["label"].to_numpy()
    is_found = np.array([found is None or key in found for key in keys])
    figure = go.Figure()
    if found is not None:
        figure.add_trace(_dots(known, axes, ~is_found, "not found", {"size": SIZE, "opacity": FAINT}))
    figure.add_trace(_dots(known, axes, is_found, "found", {"size": SIZE if found is None else FOUND}))
    bar = COLORBAR | {"title": {"text": escape(axes[2].text), "side": "bottom"}, "len": 0.4, "x": 0.5}
    figure.update_layout(coloraxis={"colorscale": LIGHT_TO_DARK, "colorbar": bar}, showlegend=False)
    figure.update_xaxes(title=escape(axes[0].text)).update_yaxes(title=escape(axes[1].text))
    return finish(figure, HEIGHT, margin={"t": 10, "b": 120})


def _dots(
    known: Vocabulary, axes: tuple[Term, Term, Term], chosen: np.ndarray, name: str, look: dict[str, float]
) -> go.Scatter:
    """The dots of the `chosen` heads, (head,) bool, that have both numbers, each with what pointing at it says."""
    across, up, color = (known.numbers(term) for term in axes)
    indices = np.flatnonzero(chosen & ~np.isnan(across + up))
    return go.Scatter(
        x=across[indices],
        y=up[indices],
        mode="markers",
        name=name,
        customdata=[[known.heads["label"][index], _hover(known, axes, index)] for index in indices.tolist()],
        hovertemplate="%{customdata[1]}<extra></extra>",
        marker=look | {"color": color[indices], "coloraxis": "coloraxis", "line": OUTLINE},
        selected={"marker": {"opacity": look.get("opacity", 1)}},
        unselected={"marker": {"opacity": look.get("opacity", 1)}},
    )


def _hover(known: Vocabulary, axes: tuple[Term, Term, Term], index: int) -> str:
    """The head in a row and its three numbers."""
    numbers = (f"{escape(term.name)} {number(known.numbers(term)[index])}" for term in dict.fromkeys(axes))
    return f"{Head.parse(known.heads['label'][index]).label()}: {', '.join(numbers)}"


def without_numbers(known: Vocabulary, axes: tuple[Term, Term, Term]) -> int:
    """How many heads have no dot."""
    return int(np.isnan(known.numbers(axes[0]) + known.numbers(axes[1])).sum())
