"""Links between pages that keep what the reader has chosen."""

from __future__ import annotations

import streamlit as st

from bertviz_core.heads import Head
from pages.shared import catalogue

KEPT = ("model", "mode", "zero", "head")


def to(name: str, label: str, head: Head | None = None, icon: str | None = None, **address: str) -> None:
    """A link to a page with the model, mode and head of the present address, but for `head` and what else is given;
    nothing where there is no such page."""
    page = catalogue.page(name)
    if page is not None:
        kept = {key: st.query_params[key] for key in KEPT if key in st.query_params}
        given = {"head": head.label()} if head is not None else {}
        st.page_link(page, label=label, icon=icon, query_params=kept | given | address)
