"""How all pages look: margins, the names of buttons that show an arrow alone, the projector, light and dark."""

from __future__ import annotations

from pathlib import Path

import streamlit as st

from pages.shared.components import component
from pages.shared.frame import catalogue, choices

HERE = Path(__file__).parent


def apply() -> None:
    """Add the style sheets to the page; they take no room."""
    st.html(HERE / "appearance.css")
    if choices.projecting():
        st.html(HERE / "projector.css")


def choose() -> None:
    """The switches of the sidebar."""
    choices.toggle(
        "Projector",
        key=choices.PROJECTOR,
        help="Larger type, stronger lines and no sidebar, to be read from the back of a room.",
    )
    component("theme_switch")(data={"pages": [entry.name for entry in catalogue.ENTRIES]}, key="theme")


def leave_projector() -> None:
    """The way back to the sidebar, on the page itself."""
    if choices.projecting():
        st.button("Close projector", key="leave-projector", on_click=_leave, icon=":material/close_fullscreen:")


def _leave() -> None:
    st.session_state[choices.PROJECTOR] = False
