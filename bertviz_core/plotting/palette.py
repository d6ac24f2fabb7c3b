"""Colors and markers with one meaning in every figure, and the look that all figures share: one registered plotly
template, so that a figure names only what differs."""

from typing import Any

import plotly.graph_objects as go
import plotly.io as pio

Marker = tuple[str, str]  # color, plotly symbol: the symbol can be read without the color
Scale = tuple[tuple[float, str], ...]  # (share of the way from the lower to the upper limit, CSS color)
# Alpha instead of a light end: low values fade into the page, light or dark.
SEQUENTIAL: Scale = ((0.0, "rgba(76, 110, 245, 0.06)"), (1.0, "rgba(76, 110, 245, 1)"))
DIVERGING: Scale = ((0.0, "rgba(232, 137, 12, 1)"), (0.5, "rgba(140, 140, 140, 0.08)"), (1.0, "rgba(76, 110, 245, 1)"))

NEUTRAL: Marker = ("#8c8c8c", "circle-open")
PREVIOUS: Marker = ("#2f7fd1", "triangle-left")
NEXT: Marker = ("#e03131", "triangle-right")
BROAD: Marker = ("#e8890c", "triangle-up")
CLS: Marker = ("#9c36b5", "diamond")
SEP: Marker = ("#27823f", "circle")
FIRST: Marker = ("#e8590c", "star")
PUNCTUATION: Marker = ("#0b808c", "square")
OTHER_TO_SEP: Marker = ("#e8890c", "diamond-open")
# Classes of tokens: name, marker.
TOKENS: dict[str, tuple[str, Marker]] = {
    "sep": ("[SEP]", SEP),
    "punct": ("full stops and commas", PUNCTUATION),
    "cls": ("[CLS]", CLS),
    "other": ("other tokens", NEUTRAL),
    "first": ("the first token", FIRST),
}


# Heads that are drawn over each other; each is at least 3:1 on white and on the dark page.
OVERLAY = ("#3a7bd5", "#e8590c", "#2b9348", "#d6336c", "#9a5bd8", "#a8752a", "#0b929c", "#7d8590")

LOOK: dict[str, Any] = {
    "margin": {"l": 55, "r": 10, "t": 40, "b": 45},
    "legend": {"orientation": "h", "x": 0, "xanchor": "left", "y": 1, "yanchor": "bottom"},  # above the panel
    "hovermode": "closest",
    "dragmode": False,
}
ON_WHITE = "plotly_white+bertviz"
pio.templates["bertviz"] = go.layout.Template(layout=LOOK)
ON_PAGES = pio.templates.merge_templates("plotly", "bertviz")


def finish(figure: go.Figure, height: int | None = None, **layout: Any) -> go.Figure:
    """Give a figure the shared look; `layout` is what differs, such as some sides of its margin."""
    figure.update_layout(height=height, **layout)
    figure.layout._validate = False  # plotly does the same for its own: checking it would take longer than all the rest
    figure.layout.template = ON_PAGES
    figure.layout._validate = True
    return figure


def written_out(layout: dict[str, Any]) -> dict[str, Any]:
    """A layout as JSON with the shared look in itself: Streamlit puts margins of its own over a template's."""
    shared = layout.get("template", {}).get("layout", {})
    look = {name: shared[name] for name in LOOK if name in shared}
    own = {name: value | layout.get(name, {}) for name, value in look.items() if isinstance(value, dict)}
    return look | layout | own
