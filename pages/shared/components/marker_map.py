"""A map of markers drawn by a few lines of script: it stands long before plotly's five megabytes are read."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import streamlit as st

from bertviz_core.heads import Head
from bertviz_core.plotting.drawing import Drawing
from pages.shared.frame import address

HERE = Path(__file__).parent


def marker_map(drawing: Drawing, chosen: Head, *, key: str, alt: str, origin: str) -> None:
    """Draw scatter traces whose `customdata` is (head, hover text), the chosen head ringed; a click chooses a head.

    A legend entry hides and shows its trace. origin: what the figure was made from; the picture that is saved has it.
    """
    spec = drawing.spec(chosen)
    data = {
        "traces": [_trace(trace) for trace in spec["data"]],
        "x": _axis(spec["layout"]["xaxis"]),
        "y": _axis(spec["layout"]["yaxis"]),
        "alt": alt,
        "origin": origin,
        "name": key,
    }
    _component()(data=data, key=key, on_head_change=lambda: _clicked(key))


def _trace(trace: dict[str, Any]) -> dict[str, Any]:
    marker, points = trace["marker"], trace.get("customdata", ())
    line = marker.get("line", {})
    return {
        "x": trace["x"],
        "y": trace["y"],
        "letters": trace.get("text", []),
        "name": trace["name"] if trace.get("showlegend", True) else "",
        "heads": [head for head, _ in points],
        "hover": [hover for _, hover in points],
        "color": marker["color"],
        "symbol": marker["symbol"],
        "size": marker["size"],
        "line": {"width": line.get("width", 0), "color": line.get("color", marker["color"])},
    }


def _axis(axis: dict[str, Any]) -> dict[str, Any]:
    return {"title": axis["title"]["text"], "ticks": axis["ticktext"]}


def _clicked(key: str) -> None:
    if head := st.session_state[key].get("head"):
        address.choose(head=head)


def _component() -> Callable[..., Any]:
    script, style = _files()
    return st.components.v2.component("marker_map", html='<div class="map"></div>', js=script, css=style)


@cache
def _files() -> tuple[str, str]:
    script, style = ((HERE / f"marker_map.{ending}").read_text(encoding="utf-8") for ending in ("js", "css"))
    return script, style
