"""Lists that are shown page by page: the guesses of a head, and the lines of a corpus with the searched words."""

from collections.abc import Callable
from functools import partial
from typing import Any, TypeVar

import streamlit as st

from bertviz_core.analyses.base import guess_lists
from bertviz_core.analyses.base.request import Request
from bertviz_core.analyses.base.result import Result
from bertviz_core.corpora.source import Source
from bertviz_core.corpora.word_search import Hit, search, searched_words
from bertviz_core.errors import InputError
from bertviz_core.numbers import plural
from pages.shared import services, widgets
from pages.shared.memoize import memoized
from pages.shared.messages import plain
from pages.shared.page import row
from pages.shared.state import session
from pages.shared.state.choices import AttentionViewer

entries_of = memoized(guess_lists.page)

PER_PAGE = 10  # lines on one page
POPOVER = "corpus-search"
GUESS_OPTIONS = "guess-options"  # key of the popover with what seldom changes of a list
Entry = TypeVar("Entry")


def search_box(field: str, value: str, **more: Any) -> str:
    about = "A word, or several consecutive words. * matches any ending."
    return widgets.text("Search", field, value, **({"max_chars": 60, "help": about, "width": 150} | more))


def guesses(
    result: Result,
    request: Request,
    is_whole: bool,
    query: Callable[..., guess_lists.GuessQuery[Entry]],
    size: int,
    names: tuple[str, str, str, str],
    more: Callable[[], object] | None = None,
) -> tuple[int, list[Entry], bool]:
    """Draw the choices of a list of guesses, for which `query` makes the GuessQuery; returns the number of entries,
    those of the page, and whether they are of the whole corpus.

    `names` are fields of the page's choices: which guesses, from which weight, the words searched, the page. The order
    has the same name on every page. `more` draws choices of the page's own beside those that seldom change.
    """
    # A result that is not whole has the first entries; the store has all of them until its limit drops them.
    parts = None if is_whole else guess_lists.stored_parts(services.store(), request.key(), request.source)
    which, least, searched, page = names
    chosen: Any = session.current().part(page)
    weight = getattr(chosen, least)
    kinds = ("all", "right", "wrong")
    with row("center", gap="xsmall", key="guess-controls"):
        right = widgets.segmented("Guesses", kinds, which, getattr(chosen, which), label_visibility="collapsed")
        searching = {"label_visibility": "collapsed", "placeholder": "Search", "width": "stretch"}
        words = tuple(searched_words(search_box(searched, getattr(chosen, searched), **searching)))
        panel = widgets.popover("Order and weight", ":material/tune:", GUESS_OPTIONS, help="Order and weight")
        if panel.open:
            with panel:
                widgets.select("Order", guess_lists.ORDERS, "order", chosen.order)
                widgets.slider("Minimum weight", least, weight, 0.05)
                if more is not None:
                    more()
        list_page = partial(entries_of, parts or result, query(right, weight, words, chosen.order))
        total, entries = list_page(0, size)
        number = widgets.page_of(total, size, page, getattr(chosen, page))
    if number > 1:
        _, entries = list_page(size * (number - 1), size)
    return total, entries, is_whole or parts is not None


def corpus_search(source: Source, choose: Callable[[Hit], None]) -> None:
    """Draw the search in a corpus; `choose` is called with the line that the reader opens, and may raise InputError."""
    panel = widgets.popover("Search the corpus", ":material/search:", POPOVER)
    if not panel.open:
        return
    chosen = session.page(AttentionViewer)

    def open_line(hit: Hit) -> None:
        widgets.close(POPOVER)
        try:
            choose(hit)
        except InputError as problem:  # the line is beyond the part of the corpus that has been split into segments
            st.toast(f"{plain(problem.what)} {plain(problem.hint or '')}", icon=":material/error:")

    with panel:
        text = search_box("find", chosen.find)
        if not text.strip():
            st.caption("Finds every line of the corpus that contains these words in sequence.")
            return
        total, hits = _search(source.digest, text, 0, source)
        number = widgets.page_of(total, PER_PAGE, "find_page", chosen.find_page)
        if number > 1:
            total, hits = _search(source.digest, text, PER_PAGE * (number - 1), source)
        st.caption(f"{plural(total, 'lines')} of {plain(source.name)}" if total else "No line contains these words.")
        for index, hit in enumerate(hits):
            left, right = st.columns([1, 4], vertical_alignment="center")
            label = f"Line {hit.line:,}" if hit.record is None else f"Object {hit.record + 1:,}"
            left.button(label, key=f"hit-{index}", on_click=open_line, args=(hit,))
            right.markdown(f"{plain(hit.before.lstrip())}**{plain(hit.match)}**{plain(hit.after)}")


@st.cache_resource(max_entries=64, show_spinner="Searching")
def _search(digest: str, text: str, first: int, _source: Source) -> tuple[int, list[Hit]]:
    return search(_source, text, first, PER_PAGE)
