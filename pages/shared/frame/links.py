"""Links between pages. The choices of the sidebar go along; the page's own are given, or those of its last visit."""

from __future__ import annotations

import streamlit as st

from bertviz_core.corpora.files import SAMPLES
from bertviz_core.heads import Head
from pages.shared.frame import address, catalogue


def to(name: str, label: str, head: Head | None = None, icon: str | None = None, **own: str) -> None:
    """A link to a page, at another head where one is given, with the page's own choices as its address has them;
    nothing where there is no such page."""
    page = catalogue.page(name)
    if page is not None:
        st.page_link(page, label=label, icon=icon, query_params=parameters(name, head, **own))


def parameters(name: str, head: Head | None = None, **own: str) -> dict[str, str]:
    """The address of a page with the sidebar's choices, at another head where one is given, and its own choices."""
    kind = catalogue.entry(name).corpus
    last = st.session_state.get("corpora", {}).get(kind)
    corpus = {"corpus": last} if last not in (None, next(iter(SAMPLES[kind]))) else {}
    at = {} if head is None else {"head": head.label()}
    return dict(sorted((address.common() | corpus | at | own).items()))


def back(name: str, label: str, own: dict[str, str]) -> None:
    """A link to a page with these choices of its own."""
    page = catalogue.page(name)
    if page is not None:
        st.page_link(page, label=label, icon=":material/arrow_back:", query_params=parameters(name) | own)


def back_to(name: str) -> dict[str, str]:
    """The address of a page as it was left."""
    return dict(sorted((parameters(name) | address.current().visited.get(name, {})).items()))
