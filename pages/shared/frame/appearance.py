"""How all pages look: margins, the names of buttons that show an arrow alone, light and dark."""

from __future__ import annotations

from pathlib import Path

import streamlit as st

from pages.shared.components import component
from pages.shared.frame import catalogue

STYLE = Path(__file__).parent / "appearance.css"


def apply() -> None:
    """Add the style sheet to the page; it takes no room."""
    st.html(STYLE)


def choose() -> None:
    """The switch of the sidebar between light and dark."""
    component("theme_switch")(data={"pages": [entry.name for entry in catalogue.ENTRIES]}, key="theme")
