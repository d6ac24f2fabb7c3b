"""Lists that are shown page by page: the guesses of a head, and the lines of a corpus with the searched words."""

from collections.abc import Callable
from functools import partial
from typing import Any, Literal, Protocol, TypeVar

import streamlit as st

from bertviz_core.analyses.base import guess_lists
from bertviz_core.analyses.base.list_view import ListView
from bertviz_core.analyses.base.request import Request
from bertviz_core.corpora.source import Source
from bertviz_core.corpora.word_search import Hit, search
from bertviz_core.errors import InputError
from bertviz_core.numbers import plural
from pages.shared import services, widgets
from pages.shared.memoize import memoized
from pages.shared.messages import plain
from pages.shared.page import row
from pages.shared.state import session
from pages.shared.state.choices import AttentionViewerChoices

entries_of = memoized(guess_lists.page)

PER_PAGE = 10  # lines on one page
POPOVER = "corpus-search"
GUESS_OPTIONS = "guess-options"  # key of the popover with what seldom changes of a list
Entry = TypeVar("Entry")


class Listing(Protocol):
    """A result with a list of guesses."""

    @property
    def is_whole(self) -> bool: ...


def search_box(field: str, value: str, *, width: int | Literal["stretch"] = 150, is_labeled: bool = True) -> str:
    """Draw the field of the words that are searched, with its label above or inside it."""
    return widgets.text(
        "Search",
        field,
        value,
        max_chars=60,
        help="A word, or several consecutive words. * matches any ending.",
        width=width,
        label_visibility="visible" if is_labeled else "collapsed",
        placeholder=None if is_labeled else "Search",
    )


def stored_list(result: Listing, request: Request) -> guess_lists.StoredParts | None:
    """The list that is stored beside a result; None where the result has all of it, or the store has dropped it."""
    return None if result.is_whole else guess_lists.stored_parts(services.store(), request.key(), request.source)


def guesses(
    collection: Any,
    query: Callable[[ListView[Any]], guess_lists.GuessQuery[Entry]],
    size: int,
    more: Callable[[], object] | None = None,
) -> tuple[int, list[Entry]]:
    """Draw the choices of a list of guesses, and find the entries of its page.

    Args:
        collection: The result, with the first entries, or the stored list with all of them.
        query: Makes the GuessQuery of the choices.
        size: The most entries of a page.
        more: Draws choices of the page's own beside those that seldom change; None for none.

    Returns:
        The number of entries, and those of the page.
    """
    chosen = session.view(ListView)
    with row("center", gap="xsmall", key="guess-controls"):
        widgets.choice("guesses", help=None, label_visibility="collapsed")
        search_box("search", chosen.search, width="stretch", is_labeled=False)
        panel = widgets.popover("Order and weight", ":material/tune:", GUESS_OPTIONS, help="Order and weight")
        if panel.open:
            with panel:
                widgets.select("Order", guess_lists.ORDERS, "order", chosen.order)
                widgets.choice("least_weight", help=None)
                if more is not None:
                    more()
        list_page = partial(entries_of, collection, query(chosen))
        total, entries = list_page(0, size)
        number = widgets.page_of(total, size, "page", chosen.page)
    if number > 1:
        _, entries = list_page(size * (number - 1), size)
    return total, entries


def corpus_search(source: Source, choose: Callable[[Hit], None]) -> None:
    """Draw the search in a corpus; `choose` is called with the line that the reader opens, and may raise InputError."""
    panel = widgets.popover("Search the corpus", ":material/search:", POPOVER)
    if not panel.open:
        return
    chosen = session.page(AttentionViewerChoices)

    def open_line(hit: Hit) -> None:
        widgets.close(POPOVER)
        try:
            choose(hit)
        except InputError as problem:  # The line is beyond the part of the corpus that has been split into segments.
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
