"""The map of heads, drawn in the browser by head_map.js beside this file: pointing, the arrow keys, a legend, SVG."""

from __future__ import annotations

import base64

import streamlit as st

from bertviz_core.heads import Head
from bertviz_core.plotting.head_map import HeadMap
from pages.shared.components import component
from pages.shared.frame import address


def head_map(described: HeadMap, chosen: Head, *, key: str, alt: str, origin: str, name: str) -> None:
    """Mount the map with the chosen head ringed; a click, Enter or the space bar on a head chooses it.

    Args:
        described: What is drawn.
        chosen: The head to ring.
        key: Key of the component.
        alt: What the map shows, for those who cannot see it.
        origin: What it was made from; written at its foot, in the saved file too.
        name: Name of the saved file, without its suffix.
    """
    data = described.to_json() | {"chosen": chosen.label(), "alt": alt, "origin": origin, "name": name, "key": key}
    if described.pictures is not None:
        packed = base64.b64encode(described.pictures.tobytes()).decode()
        data |= {"pictures": packed, "down": described.pictures.shape[2], "across": described.pictures.shape[3]}
    component("head_map")(data=data, key=key, on_head_change=lambda: _clicked(key))


def _clicked(key: str) -> None:
    if head := st.session_state[key].get("head"):
        address.choose(head=head)
