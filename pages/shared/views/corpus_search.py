"""Searches by word: in a list of sentences, and over the whole corpus of a text page with the way to a segment."""

from collections.abc import Callable

import streamlit as st

from bertviz_core.corpora.source import Source
from bertviz_core.corpora.word_search import Hit, search, searched_words
from bertviz_core.errors import InputError
from bertviz_core.numbers import plural
from pages.shared.frame import address, choices
from pages.shared.messages import plain

SHOWN = 10  # lines on one page
POPOVER = "corpus-search"
MAX_LETTERS = 60


def words(key: str) -> tuple[str, ...]:
    """The words of the reader's search, in lower case; empty without a search."""
    return tuple(searched_words(box(key)))


def box(key: str) -> str:
    """The box of a search; returns its text as the reader typed it."""
    help_text = "A word, or several consecutive words. * matches any ending."
    return choices.text("Search", key=key, default="", max_chars=MAX_LETTERS, help=help_text, width=150)


def draw(source: Source, choose: Callable[[Hit], None]) -> None:
    """Draw the search; `choose` is called with the line that the reader opens, and may raise InputError."""
    panel = st.popover("Search the corpus", icon=":material/search:", key=POPOVER, on_change="rerun")
    if not panel.open:  # a box that is drawn while nobody sees it would lose the words of a link
        for key in ("find", "find_page"):
            address.get(key)
        return
    with panel:
        text = box("find")
        if not text.strip():
            st.caption("Finds every line of the corpus that contains these words in sequence.")
            return
        total, hits = _search(source.digest, text, 0, source)
        number = choices.page_of(total, SHOWN, key="find_page")
        if number > 1:
            total, hits = _search(source.digest, text, SHOWN * (number - 1), source)
        st.caption(f"{plural(total, 'lines')} of {plain(source.name)}" if total else "No line contains these words.")
        for index, hit in enumerate(hits):
            left, right = st.columns([1, 4], vertical_alignment="center")
            label = f"Line {hit.line:,}" if hit.record is None else f"Object {hit.record + 1:,}"
            left.button(label, key=f"hit-{index}", on_click=_open, args=(hit, choose))
            right.markdown(f"{_cut(hit.before)}**{plain(hit.match)}**{_cut(hit.after)}")


def _cut(text: str) -> str:
    """A text in gray, with its spaces outside of the color, where Markdown keeps them."""
    shown = text.strip()
    before, after = (" " if text[:1].isspace() else ""), (" " if text[-1:].isspace() else "")
    return f"{before}:gray[{plain(shown)}]{after}" if shown else " "


def _open(hit: Hit, choose: Callable[[Hit], None]) -> None:
    st.session_state[POPOVER] = False
    try:
        choose(hit)
    except InputError as problem:  # a line beyond the segments that are looked up
        st.toast(f"{plain(problem.what)} {plain(problem.hint or '')}", icon=":material/error:")


@st.cache_resource(max_entries=64, show_spinner="Searching")
def _search(digest: str, text: str, first: int, _source: Source) -> tuple[int, list[Hit]]:
    return search(_source, text, first, SHOWN)
