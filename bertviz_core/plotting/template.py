"""The look that all figures share, as one registered plotly template; a figure names only what differs."""

from __future__ import annotations

from typing import Any

import plotly.graph_objects as go
import plotly.io as pio

LOOK: dict[str, Any] = {
    "margin": {"l": 55, "r": 10, "t": 40, "b": 45},
    "legend": {"orientation": "h", "x": 0, "xanchor": "left", "y": 1, "yanchor": "bottom"},  # above the panel
    "hovermode": "closest",
    "dragmode": False,
}
ON_PAGES, ON_WHITE = "plotly+bertviz", "plotly_white+bertviz"
pio.templates["bertviz"] = go.layout.Template(layout=LOOK)


def finish(figure: go.Figure, height: int | None = None, **layout: Any) -> go.Figure:
    """Give a figure the shared look; `layout` is what differs, such as some sides of its margin."""
    return figure.update_layout(template=ON_PAGES, height=height, **layout)


def written_out(layout: dict[str, Any]) -> dict[str, Any]:
    """A layout as JSON with the shared look in itself: Streamlit puts margins of its own over a template's."""
    shared = layout.get("template", {}).get("layout", {})
    look = {name: shared[name] for name in LOOK if name in shared}
    own = {name: value | layout.get(name, {}) for name, value in look.items() if isinstance(value, dict)}
    return look | layout | own
