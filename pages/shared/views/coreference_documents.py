"""Passages of documents with a head's guesses drawn in, and the way from a guess to the attention behind it."""

from __future__ import annotations

import streamlit as st

from bertviz_core.analyses.coreference_heads.antecedents import AntecedentCounts
from bertviz_core.analyses.coreference_heads.document_figure import draw
from bertviz_core.analyses.coreference_heads.documents import KEPT
from bertviz_core.analyses.coreference_heads.passages import ListedGuess, PassageExample, PassageQuery
from bertviz_core.analyses.ordered_lists import ORDERS
from bertviz_core.analyses.request import Request
from bertviz_core.heads import Choice
from bertviz_core.plotting.writing import isolated
from pages.shared.components import Note, drawings
from pages.shared.frame import address, links
from pages.shared.frame.selection import Selection
from pages.shared.views import guess_list

SHOWN = 3  # passages on one page
INK = "currentColor"


@address.fragment
def documents(result: AntecedentCounts, request: Request, choice: Choice, selection: Selection) -> None:
    """Passages with mentions in the color of their chain, and the chosen head's guesses among preceding mentions."""
    st.subheader(f"Guesses of head {selection.label}")
    query = PassageQuery(choice, *guess_list.choose("guesses", ORDERS[2], "over", "document_search"))
    is_whole = len(result.items) == result.n[0]
    parts = guess_list.all_parts(request, is_whole)
    total, shown = guess_list.shown(parts or result, query, SHOWN, "passage_page")
    every = int(result.n[0])
    part = "" if parts or is_whole else f" in the documents of the first {KEPT:,} of {every:,} mentions"
    st.caption(
        f"{total:,} passages{part}. Head words are bold; mentions of one chain have one color. Right guesses are solid "
        "and green with a check mark, wrong ones dashed and red with a cross. Each guess below a passage is a link to "
        "the attention behind it."
    )
    targets = [_target(guess, choice) for passage in shown for guess in passage.listed]
    addresses = iter(links.hidden("guesses", targets))
    notes = [[Note(_described(guess), next(addresses)) for guess in passage.listed] for passage in shown]
    items = [(_title(passage), draw(passage.document, passage.drawn, INK)) for passage in shown]
    drawings(items, "passages", notes=notes)


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
