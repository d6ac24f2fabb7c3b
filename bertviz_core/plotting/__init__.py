"""Colors, layout and markers that can be read without color, for all figures. `layer_figure` draws heads by layer."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go
import plotly.io as pio
from plotly.subplots import make_subplots

from bertviz_core.heads import Head, first_number, ranks
from bertviz_core.numbers import quantity
from bertviz_core.plotting.plotly_internals import set_template

Marker = tuple[str, str]  # color, and symbol of plotly
Scale = tuple[tuple[float, str], ...]  # (position between the limits, from 0 to 1; CSS color)
# Alpha instead of a light end: low values fade into the page, light or dark.
SEQUENTIAL: Scale = ((0.0, "rgba(76, 110, 245, 0.06)"), (1.0, "rgba(76, 110, 245, 1)"))
DIVERGING: Scale = ((0.0, "rgba(232, 137, 12, 1)"), (0.5, "rgba(140, 140, 140, 0.08)"), (1.0, "rgba(76, 110, 245, 1)"))
LIGHT_TO_DARK: Scale = ((0.0, "#dbe4ff"), (0.5, "#748ffc"), (1.0, "#2b3a9e"))  # of dots; early layers are light
OUTLINE = {"width": 1, "color": "#adb5bd"}  # keeps the lightest and the darkest dot in sight on any background

NEUTRAL: Marker = ("#8c8c8c", "circle-open")
PREVIOUS: Marker = ("#2f7fd1", "triangle-left")
NEXT: Marker = ("#e03131", "triangle-right")
BROAD: Marker = ("#cc7000", "triangle-up")
CLS: Marker = ("#9c36b5", "diamond")
SEP: Marker = ("#27823f", "circle")
FIRST: Marker = ("#c2410c", "star")
PUNCTUATION: Marker = ("#0b808c", "square")
OTHER_TO_SEP: Marker = ("#cc7000", "diamond-open")
# Class of tokens -> name, marker
TOKENS: dict[str, tuple[str, Marker]] = {
    "sep": ("[SEP]", SEP),
    "punct": ("full stops and commas", PUNCTUATION),
    "cls": ("[CLS]", CLS),
    "other": ("other tokens", NEUTRAL),
    "first": ("the first token", FIRST),
}
# Behavior of a head (analyses.behaviors) -> color, symbol, letter on it, name
BEHAVIORS = {
    "next": (*NEXT, "", "next token"),
    "previous": (*PREVIOUS, "", "previous token"),
    "broad": (*BROAD, "", "broad attention"),
    "to_cls": (CLS[0], "circle", "C", "[CLS]"),
    "to_sep": (SEP[0], "circle", "S", "[SEP]"),
    "to_first": (FIRST[0], "circle", "1", "first token"),
    "to_punct": (*PUNCTUATION, "", "full stop or comma"),
    "induction": ("#c2255c", "hexagon", "I", "induction"),
    "duplicate": ("#8a6d00", "hexagon", "D", "duplicate token"),
    "other": ("#8c8c8c", "circle", "", "other"),
    "linguistic": ("#000000", "x", "", "linguistic"),
}
# Colors of overlaid heads, each with a contrast of at least 3:1 on white and on the dark page
OVERLAY = ("#3a7bd5", "#e8590c", "#2b9348", "#d6336c", "#9a5bd8", "#a8752a", "#0b929c", "#7d8590")
RING = "#e03131"  # color of the ring around the chosen head
BEST = "#4c6ef5"  # color of the best head, or of this run
COLORBAR = {"orientation": "h", "thickness": 10, "outlinewidth": 0, "yref": "container", "y": 0.04, "yanchor": "bottom"}
CATEGORIES = {  # an axis of squares
    "type": "category",
    "showgrid": False,
    "zeroline": False,
    "fixedrange": True,
    "ticks": "",
}
CROWD = 1000  # heads; dots of more would hide each other, and make a page slow

LOOK: dict[str, Any] = {
    "margin": {"l": 55, "r": 10, "t": 40, "b": 45},
    "legend": {"orientation": "h", "x": 0, "xanchor": "left", "y": 1, "yanchor": "bottom"},  # above the panel
    "hovermode": "closest",
    "dragmode": False,
}
TEXT_HEIGHT = 160  # pixels of a figure of one sentence
ON_WHITE = "plotly_white+bertviz"
pio.templates["bertviz"] = go.layout.Template(layout=LOOK)
ON_PAGES = pio.templates.merge_templates("plotly", "bertviz")


def finish(figure: go.Figure, height: int | None = None, **more: Any) -> go.Figure:
    """Give a figure the shared look; `more` overrides parts of it."""
    figure.update_layout(height=height, **more)
    set_template(figure, ON_PAGES)
    return figure


def text_figure(text: str) -> go.Figure:
    """A figure that says why there is nothing to draw."""
    figure = go.Figure()
    figure.add_annotation(text=escape(text), showarrow=False, x=0.5, y=0.5, xref="paper", yref="paper")
    return finish(figure, TEXT_HEIGHT, xaxis={"visible": False}, yaxis={"visible": False})


def percent(share: float, n: int) -> str:
    """A share of `n` cases: whole percents, or one decimal where a single case is worth no more than 0.1."""
    return "–" if np.isnan(share) else f"{share:.{percent_decimals(n)}%}"


def percent_decimals(n: int) -> int:
    """Decimals that `n` cases support in a percentage."""
    return 1 if n >= 1000 else 0


@dataclass(frozen=True)
class HeadSeries:
    """One quantity of every head, drawn as dots with a line through the layer means.

    Attributes:
        key: The name of the quantity.
        values: (layer, head) values.
        name: Its name in the legend.
        marker: Color and symbol of its dots.
        label: Its name with the unit, in hover texts.
    """

    key: str
    values: np.ndarray
    name: str
    marker: Marker
    label: str


def layer_figure(
    panels: Sequence[Sequence[HeadSeries]], titles: Sequence[str] = (), *, height: int, gap: float = 0.17
) -> go.Figure:
    """Draw quantities by layer: a dot for each head, and a line through the layer means of each series.

    Of more than CROWD heads there is a band for the middle half, and a dot for the highest, in place of all dots.

    Args:
        panels: For each panel its series, one panel above another.
        titles: A title for each panel.
        height: The height of the figure in pixels.
        gap: The distance between panels, as a share of the figure.
    """
    rows = len(panels)
    panel_height = (1 - gap * (rows - 1)) / rows
    layers, heads = panels[0][0].values.shape
    figure = make_subplots(rows, 1, shared_xaxes=True, vertical_spacing=gap, subplot_titles=titles)
    for row, series in enumerate(panels):
        for index, each in enumerate(series):
            shift = 0.16 * (index - (len(series) - 1) / 2)  # side by side, so that series do not hide each other
            _add_heads(figure, each, row + 1, shift)
            add_means(figure, each, row + 1, shift)
        legend = LOOK["legend"] | {"y": 1 - row * (panel_height + gap)}
        if len(series) > 1 and titles:  # the title is the legend's: on narrow screens that takes several lines
            title = figure.layout.annotations[row]
            legend["title"] = {"text": title.text, "side": "top", "font": {"size": 14}}
            title.visible = False
        figure.update_layout({f"legend{row + 1}": legend})
    # Where there are many layers, every second, third or later one has a tick.
    ticks = list(range(1, layers + 1, -(-layers // 24)))
    names = [str(tick - 1 + first_number()) for tick in ticks]
    figure.update_xaxes(tickvals=ticks, ticktext=names, range=[0.5, layers + 0.5])
    note = "; band: the middle half of its heads, dot: the highest, line: the mean" if layers * heads > CROWD else ""
    figure.update_xaxes(title=f"layer{note}", row=rows, col=1)
    figure.update_annotations(x=0, xanchor="left", yshift=24, font_size=14)
    return finish(figure, height, margin={"t": 60})


def add_reference(figure: go.Figure, by_layer: np.ndarray, row: int) -> None:
    """Add a dashed line to a panel of `layer_figure`.

    Args:
        by_layer: (layer,) the reference of each layer; where they differ, the line has steps.
        row: The panel, from 1.
    """
    line = {"dash": "dash", "color": NEUTRAL[0], "width": 1}
    if (by_layer == by_layer[0]).all():
        figure.add_hline(float(by_layer[0]), row=row, col=1, line=line)
        return
    x = np.arange(len(by_layer)) + 1
    line["shape"] = "hvh"
    figure.add_scatter(x=x, y=by_layer, mode="lines", line=line, hoverinfo="skip", showlegend=False, row=row, col=1)


def _add_heads(figure: go.Figure, series: HeadSeries, row: int, shift: float) -> None:
    values = series.values
    color, symbol = series.marker
    group = f"{row}-{series.key}"
    layers, heads = np.indices(values.shape).reshape(2, -1)
    if values.size > CROWD:
        layers = np.arange(len(values))
        heads = np.nan_to_num(values, nan=-np.inf).argmax(1)
        low, high = np.nanquantile(values, (0.25, 0.75), axis=1)
        x = layers + 1 + shift
        figure.add_scatter(
            x=np.concatenate([x, x[::-1]]),
            y=np.concatenate([high, low[::-1]]),
            fill="toself",
            mode="lines",
            line={"color": color, "width": 0},
            opacity=0.35,
            hoverinfo="skip",
            legendgroup=group,
            showlegend=False,
            row=row,
            col=1,
        )
    hover = quantity(series.label, "%{y:.3~r}")
    drawn = map(Head, layers.tolist(), heads.tolist())
    head_ranks = ranks(values)
    figure.add_scatter(
        x=layers + 1 + shift,
        y=values[layers, heads],
        customdata=[[head.key(), head.label(), str(head_ranks[head])] for head in drawn],
        hovertemplate=f"%{{customdata[1]}}: {hover}; rank %{{customdata[2]}} of {values.size}<extra></extra>",
        mode="markers",
        name=series.name,
        legendgroup=group,
        legend=f"legend{row}",
        marker={"color": color, "symbol": symbol, "size": 8, "opacity": 0.75},
        row=row,
        col=1,
    )


def add_means(figure: go.Figure, series: HeadSeries, row: int, shift: float = 0.0, dash: str = "solid") -> None:
    """Add the line through a series' layer means to a panel, rows from 1."""
    layers = np.arange(len(series.values))
    figure.add_scatter(
        x=layers + 1 + shift,
        y=np.nanmean(series.values, axis=1),
        text=layers + first_number(),
        mode="lines",
        line={"color": series.marker[0], "width": 2, "dash": dash},
        legendgroup=f"{row}-{series.key}",
        showlegend=False,
        hovertemplate=f"layer %{{text}}: mean {quantity(series.label, '%{y:.3~r}')}<extra></extra>",
        row=row,
        col=1,
    )


def scores(names: Sequence[str], percent: pd.DataFrame, columns: Sequence[str], **more: Any) -> go.Scatter:
    """A dot with its interval for each name.

    Args:
        names: The names, one below the other.
        percent: A row for each name, in percent.
        columns: The columns of the scores, and of the lower and the upper ends of their intervals.
        more: Further options of the trace.
    """
    score, low, high = (percent[name] for name in columns)
    bars = {"array": high - score, "arrayminus": score - low, "color": BEST, "thickness": 1.2}
    return go.Scatter(x=score, y=names, mode="markers", error_x=bars, **more)


# A file is a document of its own, and within a document that has loaded booktabs a table alone.
BEFORE = r"""% Needs booktabs, which this file loads where it is compiled alone.
\ifdefined\toprule\else
\documentclass{article}\usepackage[landscape,margin=1cm]{geometry}\pagestyle{empty}
\usepackage[T1]{fontenc}\usepackage{booktabs}
\begin{document}\small\def\bertvizend{\end{document}}
\fi
"""
AFTER = "\\ifdefined\\bertvizend\\expandafter\\bertvizend\\fi\n"
MATHS = {"->": r" $\to$ ", "→": r"$\to$", "–": "--", "−": "$-$"}


def tabular(frame: pd.DataFrame) -> str:
    """A table as a LaTeX tabular, numbers with one decimal; every text is escaped. It compiles as it is, and within a
    document that loads booktabs."""
    shown = frame.style.hide(axis="index").format_index(escape="latex", axis=1)
    shown = shown.format(escape="latex", precision=1, thousands=",", na_rep="--")
    rows = str(shown.to_latex(hrules=True))
    for written, typeset in MATHS.items():
        rows = rows.replace(written, typeset)
    # A line break and \midrule take what follows in brackets, or a star, as theirs.
    rows = re.sub(r"^(\s*)([\[*])", r"\1{\2}", rows, flags=re.MULTILINE)
    return f"{BEFORE}{rows}{AFTER}"
