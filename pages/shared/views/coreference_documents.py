"""Passages of documents with a head's guesses drawn in, and the way from a guess to the attention behind it."""

from __future__ import annotations

import streamlit as st

from bertviz_core.analyses.coreference_heads.antecedents import AntecedentCounts, Choice
from bertviz_core.analyses.coreference_heads.document_figure import draw
from bertviz_core.analyses.coreference_heads.documents import KEPT
from bertviz_core.analyses.coreference_heads.passage_blocks import PassageQuery, Passages, StoredCorpus, stored_corpus
from bertviz_core.analyses.coreference_heads.passage_list import ListedGuess, PassageExample, find, tally
from bertviz_core.analyses.ordered_lists import ORDERS
from bertviz_core.analyses.request import Request
from bertviz_core.plotting.writing import isolated
from pages.shared import services
from pages.shared.components import Note, drawings
from pages.shared.derived import derived
from pages.shared.frame import address, choices, links
from pages.shared.frame.selection import Selection
from pages.shared.views import corpus_search

SHOWN = 3  # passages on one page
INK = "currentColor"


@address.fragment
def documents(result: AntecedentCounts, request: Request, choice: Choice, selection: Selection) -> None:
    """Passages with mentions in the color of their chain, and the chosen head's guesses among preceding mentions."""
    st.subheader(f"Guesses of head {selection.label}")
    with st.container(horizontal=True, vertical_alignment="bottom"):
        which = choices.segmented("Guesses", ("all", "right", "wrong"), key="guesses", default="all")
        order = choices.selectbox("Order", ORDERS, key="order", default=ORDERS[2], width=200)
        minimum = choices.slider("Minimum weight", 0.0, 1.0, 0.0, 0.05, key="over", width=220)
        searched = corpus_search.words("document_search")
    query = PassageQuery(choice, which, minimum, searched, order)
    collection = _collection(result, request)
    counts = derived(tally, collection, query)
    total = int(counts.sum())
    number = choices.page_of(total, SHOWN, key="passage_page")
    every = int(result.n[0])
    part = "" if _is_whole(result, collection) else f" in the documents of the first {KEPT:,} of {every:,} mentions"
    st.caption(
        f"{total:,} passages{part}. Head words are bold; mentions of one chain have one color. Right guesses are solid "
        "and green with a check mark, wrong ones dashed and red with a cross. Each guess below a passage is a link to "
        "the attention behind it."
    )
    shown = derived(find, collection, query, counts, SHOWN * (number - 1), SHOWN)
    targets = [_target(guess, choice) for passage in shown for guess in passage.listed]
    addresses = iter(links.hidden("guesses", targets))
    notes = [[Note(_described(guess), next(addresses)) for guess in passage.listed] for passage in shown]
    items = [(_title(passage), draw(passage.document, passage.drawn, INK)) for passage in shown]
    drawings(items, "passages", notes=notes)


def _collection(result: AntecedentCounts, request: Request) -> Passages:
    """All passages where their guesses are on disk, else those of the items that the result has."""
    if len(result.items) < result.n[0]:
        return stored_corpus(services.store(), request.key(), request.source) or result
    return result


def _is_whole(result: AntecedentCounts, collection: Passages) -> bool:
    return isinstance(collection, StoredCorpus) or len(result.items) == result.n[0]


def _title(passage: PassageExample) -> str:
    outside = sum(guess.is_outside for guess in passage.listed)
    more = f"; guesses that point out of the passage, listed alone: {outside}" if outside else ""
    return f"{passage.where}: {passage.right} of {passage.total} guesses right{more}"


def _described(guess: ListedGuess) -> str:
    mark = "✓" if guess.right else "✗"
    return f"{mark} {isolated(guess.mention)} → {isolated(guess.guessed)} {guess.weight:.3f}"


def _target(guess: ListedGuess, choice: Choice) -> dict[str, str] | None:
    """The window in which the guess was made, with the mention's head word pinned."""
    pinned = f"{links.SIDES[choice.direction]}{guess.head + 1}"
    return links.to_words(guess.window, dependents=pinned, least="0")
