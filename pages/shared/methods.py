"""Sections of docs/methods.md, read from the file: they need no network."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

import streamlit as st

FILE = Path(__file__).parents[2] / "docs" / "methods.md"


@cache
def section(number: int) -> tuple[str, str]:
    """Read one section.

    Args:
        number: Number of the section in the file.

    Returns:
        Its heading, as "4. Entropy", and its text in markdown.

    Raises:
        LookupError: The file has no such section.
    """
    for part in re.split(r"(?m)^## ", FILE.read_text(encoding="utf-8"))[1:]:
        heading, _, text = part.partition("\n")
        if heading.startswith(f"{number}. "):
            return heading, text.strip()
    raise LookupError(f"{FILE.name} has no section {number}")


def button(number: int) -> None:
    """A button that opens a section in a dialog."""
    heading, text = section(number)
    if st.button(f"Methods, section {heading}", key="methods", icon=":material/menu_book:"):
        st.dialog(f"Methods, section {heading}", width="large")(st.markdown)(text)
