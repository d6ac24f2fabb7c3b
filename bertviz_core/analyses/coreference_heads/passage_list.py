"""The list of passages with the chosen head's guesses, for the files of a result."""

from typing import Any

import pandas as pd

from bertviz_core.analyses.base.blocks import Example, Inputs
from bertviz_core.analyses.base.list_view import ListView, list_note, listed
from bertviz_core.analyses.coreference_heads.antecedents import AntecedentCounts
from bertviz_core.analyses.coreference_heads.document_figure import draw
from bertviz_core.analyses.coreference_heads.groups import TYPE_NAMES, TYPE_ROWS
from bertviz_core.analyses.coreference_heads.passages import MAX_ITEMS, ListedGuess, PassageExample, PassageQuery
from bertviz_core.analyses.coreference_heads.result import CoreferenceView
from bertviz_core.heads import DirectedHead, Head
from bertviz_core.text_display import isolated

PER_PAGE = 1  # passages that are drawn, of several sentences
LEGEND = (
    "Head words are bold; mentions of one chain have one color. A green box with a check mark: the guess is right; a "
    "red, dashed one with a cross: it is wrong. Point at a box to see what is guessed."
)


def passage_query(choice: DirectedHead, kind: str, chosen: ListView[Any]) -> PassageQuery:
    """The passages that the list has."""
    return PassageQuery(
        choice=choice,
        guesses=chosen.guesses,
        least_weight=chosen.least_weight,
        search=chosen.search,
        order=chosen.order,
        kind=kind,
    )


def list_title(counts: AntecedentCounts, head: Head, kind: str, total: int) -> str:
    """What the list has, as "Guesses of head 2-2: 40 passages"."""
    is_all = counts.is_whole or counts.lists is not None
    part = "" if is_all else f" in the documents of the first {MAX_ITEMS:,} of {counts.n[0]:,} mentions"
    only = "" if kind == TYPE_ROWS[0] else f", with guesses for {TYPE_NAMES[kind]} only"
    return f"Guesses of head {head.label()}: {total:,} passages{part}{only}"


def passage_inputs(counts: AntecedentCounts, view: CoreferenceView) -> Inputs:
    """The chosen head's passages, and of each mention the guess, the antecedents, and whether it is right."""
    choice = view.choice()
    found = listed(counts.lists or counts, passage_query(choice, view.kind, view), view.page, PER_PAGE)
    return Inputs(
        name="passages",
        title=list_title(counts, choice.head, view.kind, found.total),
        table=pd.DataFrame([row for each in found.entries for row in guess_rows(each)]),
        note=list_note(view, found, "passages"),
        examples=tuple(map(_example, found.drawn)),
        legend=LEGEND,
    )


def drawing_title(passage: PassageExample) -> str:
    """The title of a drawn passage: where it is, and how many of its guesses are right."""
    outside = len(passage.listed) - len(passage.drawn)
    more = f"; guesses that point out of the passage, listed alone: {outside}" if outside else ""
    return f"{passage.where}: {passage.right} of {passage.total} guesses right{more}"


def guess_text(guess: ListedGuess) -> str:
    """A guess as "✓ it → the cat 0.312"."""
    mark = "✓" if guess.right else "✗"
    return f"{mark} {isolated(guess.mention)} → {isolated(guess.guessed)} {guess.weight:.3f}"


def guess_rows(passage: PassageExample) -> list[dict[str, Any]]:
    """A row for each listed guess; words count from 1 in their document."""
    first, end = passage.span
    return [
        {
            "document": passage.document["name"],
            "first_word": first + 1,
            "last_word": end,
            "text": " ".join(passage.document["words"]),
            "mention": guess.mention,
            "guess": guess.guessed,
            "antecedents": "; ".join(guess.antecedents),
            "right": guess.right,
            "weight": round(guess.weight, 3),
        }
        for guess in passage.listed
    ]


def _example(passage: PassageExample) -> Example:
    notes = []
    for guess in passage.listed:
        truth = "" if guess.right else f"; antecedents: {', '.join(map(isolated, guess.antecedents))}"
        notes.append(f"{guess_text(guess)}{truth}")
    svg = draw(passage.document, passage.drawn)
    return Example(drawing_title(passage), " ".join(passage.document["words"]), svg, tuple(notes))
