"""Coreference documents with a head's guesses drawn in, and the way from a guess to the attention behind it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import streamlit as st

from bertviz_core.analyses.coreference_heads.antecedents import AntecedentCounts, Choice
from bertviz_core.analyses.coreference_heads.document_figure import described, draw, mention_text
from bertviz_core.analyses.coreference_heads.documents import Guess
from bertviz_core.analyses.coreference_heads.passages import cut, passages
from bertviz_core.corpora.word_search import has
from bertviz_core.errors import BertvizError
from pages.shared import boxes
from pages.shared.frame import address, catalogue, choices, viewer_link
from pages.shared.frame.selection import Selection
from pages.shared.views import word_search

if TYPE_CHECKING:
    from bertviz_core.models.windows import Window

FILTERS = ("all", "right", "wrong")
INK = {"light": "#1f2430", "dark": "#e6e8ef"}  # the themes' text colors: an image does not inherit them


@address.fragment
def documents(result: AntecedentCounts, choice: Choice, selection: Selection) -> None:
    """Documents with mentions in the color of their chain, and the chosen head's guesses among preceding mentions."""
    st.subheader(f"Guesses of head {selection.label}")
    names = {number: f"{number}. {document['name']}" for number, document in enumerate(result.documents, start=1)}
    with st.container(horizontal=True, vertical_alignment="bottom"):
        searched = word_search.words("document_search")
        numbers = [number for number in names if has(result.documents[number - 1]["words"], searched)]
        if not numbers:
            st.caption(f"None of the {len(names):,} documents has these words.")
            return
        first = _first_with_guesses(result, choice, numbers)
        number = choices.selectbox("Document", numbers, key="document", default=first, format_func=names.get, width=320)
        outcome = choices.segmented("Guesses", FILTERS, key="guesses", default="all")
        minimum = choices.slider("Minimum weight", 0.0, 1.0, 0.0, 0.05, key="over", width=220)
    index = number - 1
    document = result.documents[index]
    guesses = result.guesses(index, choice)
    right = sum(guess.right for guess in guesses)
    st.caption(f"{right} of {len(guesses)} guesses right: ✓ solid green; wrong: ✗ dashed red. Head words are bold.")
    for passage in _passages(document, guesses, searched):
        selected = [g for g in guesses if outcome == "all" or g.right == (outcome == "right")]
        part, shown = cut(document, [g for g in selected if g.weight >= minimum], passage)
        alt = f"Mentions underlined by chain, and {len(shown)} guesses of head {selection.label}, listed below"
        st.image(draw(part, shown, INK[st.context.theme.type or "light"]), width="stretch", alt=alt)
        _list(part, shown)
        if shown:
            _look_closer(part, shown, passage[0], index, (result, choice, selection))


def _look_closer(
    part: dict[str, Any],
    shown: Sequence[Guess],
    first: int,
    document: int,
    about: tuple[AntecedentCounts, Choice, Selection],
) -> None:
    """From one guess to the attention of the window that it was made in."""
    result, choice, selection = about
    labels = [f"{n}. {described(part, guess)}" for n, guess in enumerate(shown, start=1)]
    with st.container(horizontal=True, vertical_alignment="bottom"):
        label = st.selectbox("Guess", labels, key="guess", width=420)
        icon = catalogue.entry("attention_viewer").icon
        if st.button(
            viewer_link.LABEL, icon=icon, help="Opens the window that contains this guess, with its mention pinned."
        ):
            guess = shown[labels.index(label)]
            mention = part["mentions"][guess.mention]
            try:
                with st.spinner("Reading the window"):
                    window, position = _window(selection, result.documents[document], first, mention)
            except BertvizError as problem:  # this part of the page runs alone, out of the frame's reach
                boxes.error(problem)
                return
            words = window.document.words[slice(*window.span)]
            viewer_link.to_window(words, position, viewer_link.SIDES[choice.direction], document=str(document + 1))


def _window(selection: Selection, document: dict[str, Any], first: int, mention: Sequence[Any]) -> tuple[Window, int]:
    """The window of the corpus in which a mention of a passage that begins at word `first` was scored."""
    from bertviz_core.models.loading import load_tokens
    from bertviz_core.models.windows import Windows, scored_in

    windows = Windows(selection.source, load_tokens(selection.checkpoint), selection.settings)
    return scored_in(windows, document["number"], first + mention[3])


def _list(document: dict[str, Any], guesses: Sequence[Guess]) -> None:
    """The drawn guesses as a table: the weights, and the drawing for those who cannot see it."""
    rows = [
        {
            "mention": mention_text(document, guess.mention),
            "guess": mention_text(document, guess.guessed),
            "weight": guess.weight,
            "": "✓ right" if guess.right else "✗ wrong",
        }
        for guess in guesses
    ]
    with st.expander(f"Guesses as a table ({len(rows)})", icon=":material/table_rows:"):
        formats = {"weight": st.column_config.NumberColumn(format="%.3f")}
        st.dataframe(rows, hide_index=True, column_config=formats, alt="Mention, guess, weight, right or wrong")


def _first_with_guesses(result: AntecedentCounts, choice: Choice, numbers: Sequence[int]) -> int:
    """The first of these documents, counted from 1, in which there is something to guess."""
    return next((number for number in numbers if result.guesses(number - 1, choice)), numbers[0])


def _passages(document: dict[str, Any], guesses: Sequence[Guess], searched: Sequence[str]) -> list[tuple[int, int]]:
    """The passage to draw: all of a short document, of a long one what the reader turns to among those with the
    searched words, at first one with guesses."""
    every = passages(document)
    if len(every) == 1:
        return every
    runs = [run for run in every if has(document["words"][slice(*run)], searched)] or every
    if len(runs) == 1:
        return runs
    labels = [f"words {first + 1:,}–{end:,}" for first, end in runs]
    first = next((number for number, run in enumerate(runs) if cut(document, guesses, run)[1]), 0)
    chosen = choices.select_slider("Passage", labels, key="passage", default=labels[first])
    return [runs[labels.index(chosen)]]
