"""Links between pages. Model, mode and head of the address go along by themselves: the sidebar's controls stay."""

from __future__ import annotations

import streamlit as st

from bertviz_core.heads import Head
from bertviz_core.numbers import small_int
from pages.shared.frame import catalogue


def to(name: str, label: str, head: Head | None = None, icon: str | None = None, **address: str) -> None:
    """A link to a page, at another head where one is given, with the page's own settings as its address has them;
    nothing where there is no such page. The head goes as `at`: the picker, which stays, does not follow `head`."""
    page = catalogue.page(name)
    if page is not None:
        at = {} if head is None else {"at": head.label()}
        st.page_link(page, label=label, icon=icon, query_params=at | address or None)


def drop_bad_numbers(*names: str) -> None:
    """Take parameters that are no small whole number off the address: of 1e400 Streamlit would make an int, and fail.

    Args:
        names: Keys of number inputs that are bound to the address and yet to be drawn.
    """
    bad = [name for name in names if name in st.query_params and small_int(st.query_params[name]) is None]
    for name in bad:
        del st.query_params[name]
    if bad:
        st.rerun()  # this run's inputs take their numbers from the address that it began with
