"""Links between pages. Model, mode and head of the address go along by themselves: the sidebar's controls stay."""

from __future__ import annotations

import streamlit as st

from bertviz_core.heads import Head
from pages.shared import catalogue


def to(name: str, label: str, head: Head | None = None, icon: str | None = None, **address: str) -> None:
    """A link to a page, at another head where one is given, with the page's own settings as its address has them;
    nothing where there is no such page. The head goes as `at`: the picker, which stays, does not follow `head`."""
    page = catalogue.page(name)
    if page is not None:
        at = {} if head is None else {"at": head.label()}
        st.page_link(page, label=label, icon=icon, query_params=at | address or None)
