"""How all pages look: margins, the names of buttons that show an arrow alone."""

from __future__ import annotations

from pathlib import Path

import streamlit as st

HERE = Path(__file__).parent


def apply() -> None:
    """Add the style sheet to the page; nothing of it takes room."""
    st.html(HERE / "appearance.css")
