"""Every head's map on one input as a small picture, drawn in the browser; head_pictures.js and .css stand beside this
file. A figure that plotly draws would be drawn anew for each head that is chosen, and hold the lines up."""

from __future__ import annotations

import base64
from collections.abc import Callable
from pathlib import Path

import streamlit as st

from bertviz_core.heads import Head
from bertviz_core.viewer.view import InputAttention, thumbnails

HERE = Path(__file__).parent


def head_pictures(seen: InputAttention, chosen: Head, base: int, *, key: str, on_head: Callable[[], None]) -> None:
    """Mount the pictures, the chosen head's ringed; no full map travels.

    on_head: called when a picture is clicked, with the label of its head, from 1, as `head` in session state.
    """
    pictures = thumbnails(seen.weights)
    layers, heads, down, across = pictures.shape
    script, style = ((HERE / f"head_pictures.{ending}").read_text(encoding="utf-8") for ending in ("js", "css"))
    component = st.components.v2.component("head_pictures", js=script, css=style)
    data = {
        "pictures": base64.b64encode(pictures.tobytes()).decode(),
        "layers": layers,
        "heads": heads,
        "down": down,
        "across": across,
        "chosen": chosen.label(),
        "base": base,
        "title": "A small picture of every head's attention, layer by head",
    }
    component(data=data, key=key, on_head_change=on_head)
