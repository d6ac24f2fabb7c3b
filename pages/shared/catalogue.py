"""The pages: file, title, address, section of the paper. One entry makes a page appear everywhere."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import streamlit as st


@dataclass(frozen=True, slots=True)
class Entry:
    """`url_path` differs from the file's stem: else a deep link to a fresh server would run the page without app.py.

    corpus: the kind of corpus that the sidebar offers on this page.
    """

    file: str
    title: str
    icon: str
    url_path: str
    section: str
    corpus: str = "text"


PAPER = (
    Entry(
        "surface_patterns", "Surface patterns", ":material/grid_on:", "surface-patterns", "Section 3.1–3.2, Figure 2"
    ),
    Entry("entropy", "Entropy", ":material/blur_on:", "attention-entropy", "Section 3.3, Figure 4"),
)


@cache
def sections() -> dict[str, list[st.Page]]:
    """The sections of the menu, with their pages."""
    pages = [
        st.Page(f"pages/{e.file}.py", title=e.title, icon=e.icon, url_path=e.url_path, default=e is PAPER[0])
        for e in PAPER
    ]
    return {"The paper": pages}


def entry(url_path: str) -> Entry:
    """The entry of the page being shown; the default page's address is empty."""
    return next((e for e in PAPER if e.url_path == url_path), PAPER[0])
