"""Figures of one input's attention: lines (Figures 1 and 5), a heatmap, and a query's products with the keys."""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

import numpy as np
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from bertviz_core.heads import Head
from bertviz_core.inputs.labels import Units
from bertviz_core.plotting import BEST, CATEGORIES, COLORBAR, DIVERGING, RING, SEQUENTIAL, finish
from bertviz_core.text_display import PICTURES, cut_end, isolated
from bertviz_core.viewer.input_attention import InputAttention
from bertviz_core.viewer.query_key import MASKED, QueryKey

LEVELS = 20  # levels of darkness, each of which is one trace
FAINT = 0.005  # weight of an invisible line
INK = "#1f2430"
SPECIAL = "#8a90a0"
ROW = 20  # pixels between two tokens
COLUMN_GAP = 0.4  # share of a panel's width
LABELS = 45  # the most labels along one side of the heatmap; hovering shows the others
SHORT = 16  # letters of a label in a figure


@dataclass(frozen=True)
class Panel:
    """One head on one input: two columns of tokens, and lines between them that are darker for larger weights.

    Attributes:
        queries: The units of the left column.
        keys: The units of the right column.
        weights: (query, key) attention.
        red: Indices of queries that are red with their lines.
        red_keys: Indices of keys that are red with their lines.
    """

    title: str
    queries: Units
    keys: Units
    weights: np.ndarray
    red: Collection[int] = ()
    red_keys: Collection[int] = ()

    def __len__(self) -> int:
        return max(self.weights.shape)


def lines_figure(panels: Sequence[Panel], across: int = 1, min_weight: float = 0.01) -> go.Figure:
    """Draw panels, `across` in a row, as in the paper's figures, without the lines under `min_weight`."""
    rows = [panels[start : start + across] for start in range(0, len(panels), across)]
    heights = [max(map(len, row)) + 3 for row in rows]  # These include the title, and room below.
    letters = 24 if across == 1 else 13
    figure = make_subplots(len(rows), across, row_heights=heights, horizontal_spacing=0, vertical_spacing=0)
    side = (1 / COLUMN_GAP - 1) / 2
    figure.update_xaxes(visible=False, range=[-side, 1 + side], fixedrange=True)
    for number, (row, height) in enumerate(zip(rows, heights, strict=True), start=1):
        figure.update_yaxes(visible=False, range=[height - 2, -2], fixedrange=True, row=number)
        for column, panel in enumerate(row, start=1):
            for trace in _traces(panel, min_weight, letters):
                figure.add_trace(trace, row=number, col=column)
    figure.update_traces(hoverinfo="skip", showlegend=False)
    margin = {"l": 0, "r": 0, "t": 0, "b": 0}
    return finish(figure, ROW * sum(heights), width=640 if across == 1 else 900, margin=margin)


def _traces(panel: Panel, min_weight: float, letters: int) -> Iterator[go.Scatter]:
    """The lines, the darkest last and red ones on top of all, then the texts, of so many letters at most."""
    queries, keys = np.nonzero(panel.weights >= max(min_weight, FAINT))
    red = np.isin(queries, list(panel.red))
    red |= np.isin(keys, list(panel.red_keys))
    levels = np.ceil(panel.weights[queries, keys] * LEVELS).astype(int)
    for is_red, level in sorted(set(zip(red.tolist(), levels.tolist(), strict=True))):
        chosen = (red == is_red) & (levels == level)
        breaks = np.full(chosen.sum(), np.nan)
        ends = np.stack([queries[chosen], keys[chosen], breaks], axis=1)
        xs = np.tile([0, 1, np.nan], len(ends))
        line = {"color": RING if is_red else INK, "width": 1.6}
        yield go.Scatter(x=xs, y=ends.reshape(-1), mode="lines", line=line, opacity=level / LEVELS)
    title = panel.title.translate(PICTURES)
    yield _texts([title], {"x": [0.5], "y": [-1], "textposition": "middle center"}, [INK])
    columns = ((panel.queries, -0.03, "left", panel.red), (panel.keys, 1.03, "right", panel.red_keys))
    for units, x, side, red_rows in columns:
        colors = [SPECIAL if special else INK for special in units.special]
        for row, label in enumerate(units.labels):
            if row in red_rows or label == "[MASK]":
                colors[row] = RING
        labels = [isolated(cut_end(label, letters)) for label in units.labels]
        points = {"x": [x] * len(units), "y": list(range(len(units))), "textposition": f"middle {side}"}
        yield _texts(labels, points, colors)


def _texts(texts: Sequence[str], points: dict[str, Any], colors: list[str]) -> go.Scatter:
    """Texts at some points, escaped, since plotly reads markup."""
    font = {"color": colors, "size": 13}
    return go.Scatter(text=[escape(text) for text in texts], mode="text", textfont=font, **points)


def heatmap(attention: InputAttention, head: Head) -> go.Figure:
    """Queries from top to bottom, keys from left to right, weight as color from 0 to 1."""
    queries = _axis_labels(attention.queries)
    keys = _axis_labels(attention.keys)
    maximum = max(len(queries), len(keys), 1)
    gap = 1 if maximum <= 40 else 0
    figure = go.Figure()
    figure.add_heatmap(
        x=keys,
        y=queries,
        z=attention.weights[head],
        colorscale=SEQUENTIAL,
        zmin=0,
        zmax=1,
        xgap=gap,
        ygap=gap,
        hovertemplate="%{y} → %{x}: %{z:.3f}<extra></extra>",
        colorbar=COLORBAR | {"title": {"text": "weight", "side": "bottom"}},
    )
    size = 12 if maximum <= 30 else 11
    every = -(-maximum // LABELS)
    for axis, labels in ((figure.layout.xaxis, keys), (figure.layout.yaxis, queries)):
        ticks = labels[::every]
        names = [label.partition(" ")[2] for label in ticks]
        axis.update(CATEGORIES, tickvals=ticks, ticktext=names, tickfont={"size": size})
    figure.update_xaxes(side="top", tickangle=-90, title="to")
    figure.update_yaxes(autorange="reversed", title="from")
    grid = min(640, max(200, len(queries) * 18))
    return finish(figure, 220 + grid, margin={"l": 10, "t": 10, "b": 70})


def products_figure(products: QueryKey) -> go.Figure:
    """The query above the keys, and its products with them, by dimension; the weights that result from their sums."""
    names = _axis_labels(products.tokens)
    rows = ["query", *names]
    gap = 1 if len(names) <= 40 else 0
    sums = "score + bias = logit → weight" if products.has_bias else "score → weight"
    titles = ["query, and keys", "query × keys", sums]
    widths = [0.36, 0.36, 0.28]
    figure = make_subplots(
        1, 3, column_widths=widths, shared_yaxes=True, horizontal_spacing=0.015, subplot_titles=titles
    )
    empty = np.full_like(products.query, np.nan)  # Empty rows keep the rows of both level.
    vectors = np.vstack([products.query, products.keys])
    by_key = np.vstack([empty, products.products])
    for column, (name, values) in enumerate((("", vectors), ("query × key ", by_key)), start=1):
        largest = max(np.nanmax(np.abs(values)), 1e-9)
        figure.add_heatmap(
            z=values,
            y=rows,
            x0=1,
            dx=1,
            colorscale=DIVERGING,
            zmin=-largest,
            zmax=largest,
            ygap=gap,
            showscale=False,
            row=1,
            col=column,
            hovertemplate=f"dimension %{{x}}: {name}%{{z:.3f}}<extra>%{{y}}</extra>",
        )
    figure.add_bar(
        x=products.weights,
        y=names,
        orientation="h",
        marker={"color": BEST},
        text=_sums(products),
        row=1,
        col=3,
        textposition="outside",
        hovertemplate="%{text}<extra>%{y}</extra>",
        cliponaxis=False,
    )
    figure.update_xaxes(showgrid=False, zeroline=False, showticklabels=False, fixedrange=True)
    figure.update_xaxes(range=[0, 2.6 * max(products.weights.max(), 1e-9)], col=3)  # This leaves room for the sums.
    figure.update_yaxes(showgrid=False, type="category", autorange="reversed", fixedrange=True)
    labels = [_label(text) for text in products.tokens.labels]
    ticks = [f"query: {labels[products.position]}", *labels]
    figure.update_yaxes(tickvals=rows, ticktext=ticks, tickfont={"size": 12}, col=1)
    figure.update_annotations(font_size=13)
    return finish(figure, 90 + 20 * len(names), margin={"l": 10, "t": 30, "b": 10}, showlegend=False)


def _sums(products: QueryKey) -> list[str]:
    texts = []
    columns = (products.scores, products.bias, products.logits, products.weights)
    for score, bias, logit, weight in zip(*columns, strict=True):
        sign = "+" if bias >= 0 else "−"
        added = f" {sign} {abs(bias):.2f} = {logit:.2f}" if products.has_bias else ""
        text = f"{score:.2f}{added} → {weight:.3f}" if logit > MASKED else "not seen"
        texts.append(text.replace("-", "−"))
    return texts


def _label(text: str) -> str:
    return isolated(escape(cut_end(text, SHORT)))


def _axis_labels(units: Units) -> list[str]:
    """Position and label of each unit, so that all differ."""
    return [f"{start + 1} {_label(text)}" for start, text in zip(units.start, units.labels, strict=True)]
