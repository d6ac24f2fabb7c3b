"""The window of a long input in the attention viewer: which tokens are drawn, and a search among them."""

from collections.abc import Sequence
from typing import Any

import streamlit as st

from bertviz_core.inputs.labels import Layout
from bertviz_core.viewer.window import LONG, TokenRange, matches
from pages.shared import page, widgets
from pages.shared.state import session
from pages.shared.state.choices import AttentionViewerChoices


def choose(chosen: AttentionViewerChoices, layout: Layout) -> tuple[TokenRange, list[int]]:
    """The window, and the positions, from 0, of the words that are searched; drawn for a long input alone."""
    window = TokenRange.of(len(layout.tokens), chosen.first, chosen.last)
    if window.total <= LONG:
        return window, []
    found = matches(layout.words, chosen.seek)
    with page.row("center", gap="small", key="viewer-window"):
        _draw_positions(window)
        _draw_search(window, chosen.seek, layout, found)
    return window, found


def _draw_positions(window: TokenRange) -> None:
    narrow: dict[str, Any] = {"width": 84, "label_visibility": "collapsed"}
    before, after = window.moved(-1), window.moved(1)
    key = "step-previous-window"
    st.button("Previous window", key=key, on_click=_show, args=(before,), disabled=window.first == 1)
    widgets.number("First token", "first", window.first, window.total, on_change=_let_last_follow, **narrow)
    st.markdown("to", width="content")
    widgets.number("Last token", "last", window.last, window.total, **narrow)
    st.markdown(f"of {window.total:,} tokens", width="content")
    key = "step-next-window"
    st.button("Next window", key=key, on_click=_show, args=(after,), disabled=window.last == window.total)


def _draw_search(window: TokenRange, text: str, layout: Layout, found: Sequence[int]) -> None:
    def go() -> None:
        entered = session.page(AttentionViewerChoices).seek
        if places := matches(layout.words, entered):
            _show(window.around(_next(places, window.first - 1)))

    name = "Find words"
    widgets.text(name, "seek", text, placeholder=name, width=170, label_visibility="collapsed", on_change=go)
    if not text.strip():
        return
    here = sum(window.first <= place + 1 <= window.last for place in found)
    st.markdown(f"{len(found):,} found, {here:,} here" if found else "not found", width="content")
    if len(found) > here:
        beyond = window.around(_next(found, window.last))
        st.button("Next match", on_click=_show, args=(beyond,), icon=":material/search:", type="tertiary")


def _let_last_follow() -> None:
    session.choose(last=None)


def _next(places: Sequence[int], start: int) -> int:
    """The first place from `start` on, or else the first of all."""
    return next((place for place in places if place >= start), places[0])


def _show(window: TokenRange) -> None:
    """Choose a window, in a callback."""
    session.choose(first=window.first, last=window.last)
