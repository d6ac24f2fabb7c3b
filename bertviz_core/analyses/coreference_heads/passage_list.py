"""The list of passages with the chosen head's guesses."""

from typing import Any

import pandas as pd

from bertviz_core.analyses.base.list_view import entries_of, list_note, page_of
from bertviz_core.analyses.base.shown_inputs import Example, OpenedWords
from bertviz_core.analyses.base.table_blocks import InputList, ListPage
from bertviz_core.analyses.coreference_heads.antecedents import AntecedentCounts
from bertviz_core.analyses.coreference_heads.document_figure import draw
from bertviz_core.analyses.coreference_heads.groups import TYPE_NAMES, TYPE_ROWS
from bertviz_core.analyses.coreference_heads.passages import MAX_ITEMS, GuessedPassages, ListedGuess, PassageExample
from bertviz_core.analyses.coreference_heads.result import CoreferenceView
from bertviz_core.text_display import isolated

PER_PAGE = 1  # passages that are drawn, of several sentences
LEGEND = (
    "Head words are bold; mentions of one chain have one color. A green box with a check mark: the guess is right; a "
    "red, dashed one with a cross: it is wrong. Point at a box to see what is guessed."
)
LINKS = " Each guess below a passage is a link to the attention behind it."
WIDTH = 436  # pixels of a line of a passage, which is drawn beside a map


def list_detail(counts: AntecedentCounts, kind: str, total: int) -> str:
    """What the list has, as ": 40 passages"."""
    is_all = counts.is_whole or counts.lists is not None
    part = "" if is_all else f" in the documents of the first {MAX_ITEMS:,} of {counts.n[0]:,} mentions"
    only = "" if kind == TYPE_ROWS[0] else f", with guesses for {TYPE_NAMES[kind]} only"
    return f": {total:,} passages{part}{only}"


def passage_list(counts: AntecedentCounts, view: CoreferenceView) -> InputList:
    """The chosen head's passages."""
    return InputList(
        name="passages",
        result=counts,
        view=view,
        page=passage_page,
        rows=passage_rows,
        size=PER_PAGE,
        fields=("guesses",),
        folded=("order", "least_weight"),
    )


def passage_page(counts: AntecedentCounts, view: CoreferenceView) -> ListPage:
    """A page of the chosen head's passages."""
    choice = view.choice()
    total, entries = page_of(GuessedPassages(counts, view, counts.lists), PER_PAGE)
    return ListPage(
        title=f"Guesses of head {choice.head.label()}",
        detail=list_detail(counts, view.kind, total),
        total=total,
        examples=tuple(_example(each, choice.direction) for each in entries),
        note=list_note(view, len(entries), total, "passages"),
        legend=LEGEND,
        hint=LINKS,
    )


def passage_rows(counts: AntecedentCounts, view: CoreferenceView) -> pd.DataFrame:
    """Of each mention the guess, the antecedents, and whether it is right."""
    entries = entries_of(GuessedPassages(counts, view, counts.lists))
    return pd.DataFrame([row for each in entries for row in guess_rows(each)])


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


def _example(passage: PassageExample, direction: int) -> Example:
    notes = []
    links = []
    for guess in passage.listed:
        truth = "" if guess.right else f"; antecedents: {', '.join(map(isolated, guess.antecedents))}"
        notes.append(f"{guess_text(guess)}{truth}")
        opened = OpenedWords(tuple(guess.window), passage.where, (guess.head,), direction, every_line=True)
        links.append((guess_text(guess), opened))
    svg = draw(passage.document, passage.drawn, WIDTH)
    text = " ".join(passage.document["words"])
    return Example(drawing_title(passage), text, svg, tuple(notes), links=tuple(links))
