"""A map of markers drawn by a few lines of script: it stands long before plotly's five megabytes are read."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import plotly.graph_objects as go
import streamlit as st

HERE = Path(__file__).parent


def marker_map(figure: go.Figure, *, key: str, alt: str, origin: str) -> None:
    """Draw a plotly figure of scatter traces whose `customdata` is (head, hover text); a click chooses the head.

    A legend entry hides and shows its trace. origin: what the figure was made from; the picture that is saved has it.
    """
    data = {
        "traces": [_trace(trace) for trace in figure.data],
        "x": _axis(figure.layout.xaxis),
        "y": _axis(figure.layout.yaxis),
        "alt": alt,
        "origin": origin,
        "name": key,
    }
    _component()(data=data, key=key, on_head_change=lambda: _clicked(key))


def _trace(trace: go.Scatter) -> dict[str, Any]:
    marker = trace.marker
    points = [] if trace.customdata is None else trace.customdata
    return {
        "x": [int(x) for x in trace.x],
        "y": [int(y) for y in trace.y],
        "letters": list(trace.text or []),
        "name": trace.name if trace.showlegend is not False else "",
        "heads": [str(head) for head, _ in points],
        "hover": [str(hover) for _, hover in points],
        "colour": marker.color,
        "symbol": marker.symbol,
        "size": marker.size,
        "line": {"width": marker.line.width or 0, "colour": marker.line.color or marker.color},
    }


def _axis(axis: Any) -> dict[str, Any]:
    return {"title": axis.title.text, "ticks": list(axis.ticktext)}


def _clicked(key: str) -> None:
    if head := st.session_state[key].get("head"):
        st.session_state["head"] = head


def _component() -> Callable[..., Any]:
    script, style = _files()
    return st.components.v2.component("marker_map", html='<div class="map"></div>', js=script, css=style)


@cache
def _files() -> tuple[str, str]:
    script, style = ((HERE / f"marker_map.{ending}").read_text(encoding="utf-8") for ending in ("js", "css"))
    return script, style
