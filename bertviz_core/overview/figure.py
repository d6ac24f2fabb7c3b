"""The map of all heads colored by what they do, and one head's numbers from every analysis as rows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import plotly.graph_objects as go

from bertviz_core.heads import Head, ranks
from bertviz_core.overview.head_summary import Column, Relation, counted
from bertviz_core.plotting.style import BEHAVIORS, map_axes, number

OUTLINE = {"width": 1, "color": "#adb5bd"}  # keeps a black marker in sight on a dark page
AS_IS = {"selected": {"marker": {"opacity": 1}}, "unselected": {"marker": {"opacity": 1}}}


def behavior_map(
    labels: np.ndarray,
    columns: list[Column],
    named: Mapping[str, str],
    base: int = 1,
) -> go.Figure:
    """Layers from left to right, heads from top to bottom, the behavior's marker; a click on the legend hides and
    shows a behavior. `customdata[0]` is the label counted from 1."""
    layers, heads = labels.shape
    size = max(8, min(22, 320 // max(layers, heads)))
    figure = go.Figure(list(_traces(labels, columns, named, size, base)))
    map_axes(figure, layers, heads, base)
    legend = {"orientation": "h", "x": 0, "xanchor": "left", "y": 1.02, "yanchor": "bottom"}
    return figure.update_layout(
        showlegend=True,
        legend=legend,
        height=max(420, heads * (size + 26) + 150),
        margin={"t": 60, "b": 50},
        hovermode="closest",
    )


def head_rows(columns: list[Column], head: Head, titles: Mapping[str, str]) -> list[dict[str, str]]:
    """One row for each quantity: its value, beside it the baseline where there is one, and its rank."""
    return [
        {
            "quantity": column.label,
            "value": column.text(column.values[head.layer, head.head]),
            "rank": f"{ranks(column.values)[head.layer, head.head]} of {column.values.size}",
            "baseline": f"{column.text(column.baseline)} ({column.baseline_name})" if column.baseline_name else "",
            "analysis": titles.get(column.analysis, column.analysis),
        }
        for column in columns
    ]


def relation_rows(relations: list[Relation], heads: int) -> list[dict[str, str]]:
    """One row for each relation: what the head reaches, what the best fixed offset does, and its rank."""
    return [
        {
            "relation": relation.name,
            "found": f"{relation.accuracy:.1%}",
            "best offset": f"{relation.baseline:.1%} ({relation.offset:+d})",
            "rank": f"{relation.rank} of {heads}",
            "words": f"{relation.n:,}",
            "direction": relation.direction,
        }
        for relation in relations
    ]


def _traces(
    labels: np.ndarray, columns: list[Column], named: Mapping[str, str], size: int, base: int
) -> Iterator[go.Scatter]:
    """A trace for each behavior that some head has, and one for the letters on it."""
    for behavior, count in counted(labels).items():
        color, symbol, letter, name = BEHAVIORS[behavior]
        layer, head = np.nonzero(labels == behavior)
        heads = [Head(int(i), int(j)) for i, j in zip(layer, head, strict=True)]
        marker = {"color": color, "symbol": symbol, "size": size - 6 if behavior == "other" else size}
        yield go.Scatter(
            x=(layer + 1).tolist(),
            y=(head + 1).tolist(),
            mode="markers+text" if letter else "markers",
            text=[letter] * count,
            textfont={"color": "#ffffff", "size": 10},
            name=f"{name} ({count})",
            customdata=[[at.label(), _hover(behavior, at, columns, named, base)] for at in heads],
            hovertemplate="%{customdata[1]}<extra></extra>",
            marker=marker | {"line": OUTLINE if behavior == "linguistic" else {"width": 0}},
            **AS_IS,
        )


def _hover(behavior: str, head: Head, columns: list[Column], named: Mapping[str, str], base: int) -> str:
    """As "8-10: [SEP]; 0.87 attention to [SEP], rank 3 of 48"."""
    name = named.get(head.label(), BEHAVIORS[behavior][-1])
    shows: Any = {"broad": "entropy", "other": "entropy"}.get(behavior, behavior)
    column = next((c for c in columns if c.quantity == shows and c.analysis in ("surface_patterns", "entropy")), None)
    if column is None:
        return f"{head.label(base)}: {name}"
    value, rank = column.values[head.layer, head.head], ranks(column.values)[head.layer, head.head]
    return f"{head.label(base)}: {name}; {number(value)} {column.label}, rank {rank} of {column.values.size}"
