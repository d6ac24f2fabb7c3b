"""The search in a corpus: its lines with the searched words, shown page by page."""

from collections.abc import Callable

import streamlit as st

from bertviz_core.corpora.source import Source
from bertviz_core.corpora.word_search import Hit, search
from bertviz_core.errors import InputError
from bertviz_core.numbers import plural
from pages.shared import widgets
from pages.shared.inputs import search_box
from pages.shared.messages import plain
from pages.shared.state import session
from pages.shared.state.choices import AttentionViewerChoices

PER_PAGE = 10  # lines on one page
POPOVER = "corpus-search"


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
