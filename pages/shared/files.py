"""Files to download: their names, and the buttons that save them."""

from collections.abc import Callable, Mapping
from pathlib import Path

import streamlit as st

from bertviz_core import exports

ORIGIN = "origin of files"


def name_after(model: str, corpus: str) -> None:
    """The origin of this page's figures; of a model's path only the folder's name."""
    st.session_state[ORIGIN] = (Path(model).name, corpus)


def picture_name(*shows: str) -> str:
    """File name of a picture without its suffix: what it shows, the model and the corpus."""
    return exports.slug(*shows, *st.session_state.get(ORIGIN, ()))


def offer(files: Mapping[str, tuple[str, Callable[[], bytes]]]) -> None:
    """A button for each file: label -> its name, and what makes its bytes when the button is clicked."""
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        for text, (name, build) in files.items():
            key, icon = f"download-{text}", ":material/download:"
            st.download_button(text, data=build, file_name=name, on_click="ignore", icon=icon, key=key)
