"""Passages of a coreference corpus with one head's guesses: a page of those that a reader asks for, of any corpus."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from bertviz_core.analyses import ordered_lists
from bertviz_core.analyses.coreference_heads.document_figure import mention_text
from bertviz_core.analyses.coreference_heads.documents import Guess, Items
from bertviz_core.analyses.coreference_heads.passage_blocks import Block, PassageQuery, Passages, blocks
from bertviz_core.analyses.coreference_heads.passages import cut, passages
from bertviz_core.corpora.word_search import has


@dataclass(frozen=True, slots=True)
class ListedGuess:
    """A guess in words, and where it was made.

    Attributes:
        mention: The words of the mention.
        guessed: Words of the mention guessed.
        weight: The attention that it has.
        right: Whether the mention guessed is an antecedent.
        window: The words of the window in which the mention is scored.
        head: The mention's head word among them, from 0.
        is_outside: Whether the mention guessed stands outside the passage, so that it cannot be drawn.
    """

    mention: str
    guessed: str
    weight: float
    right: bool
    window: tuple[str, ...]
    head: int
    is_outside: bool


@dataclass(frozen=True, slots=True)
class PassageExample:
    """One passage with a head's guesses.

    Attributes:
        document: The passage as a document of its own, see `documents.shown`.
        span: Its first word in its document, from 0, and one past its last.
        total: How many of its mentions are scored.
        right: How many of them the head guesses right.
        drawn: The listed guesses whose two mentions stand in the passage.
        listed: The guesses that the reader asks for.
    """

    document: dict[str, Any]
    span: tuple[int, int]
    total: int
    right: int
    drawn: list[Guess]
    listed: list[ListedGuess]

    @property
    def where(self) -> str:
        first, end = self.span
        return f"{self.document['name']}, words {first + 1:,}–{end:,}"


def tally(collection: Passages, query: PassageQuery) -> np.ndarray:
    """(step, block) how many query passages each block has of each step; the sum of it is how many there are."""
    return ordered_lists.tally(blocks(collection, query.choice), partial(_ranked, query=query))


def find(collection: Passages, query: PassageQuery, counts: np.ndarray, first: int, count: int) -> list[PassageExample]:
    """The query passages from number `first` on, in their order; `counts` is their `tally`."""
    rank, read = partial(_ranked, query=query), partial(_example, query=query)
    return ordered_lists.page(blocks(collection, query.choice), rank, read, counts, first, count)


def _ranked(block: Block, query: PassageQuery) -> ordered_lists.Ranked:
    """A block's query passages, and the step of each."""
    items, starts = block.items, _starts(block.items)
    confidence = np.rint(255 * items.weight.astype(float)).astype(np.int64)
    highest = np.maximum.reduceat(np.where(_chosen(items, query), confidence, -1), starts)
    indices = np.flatnonzero(highest >= 0)
    if query.searched:
        indices = indices[_have(block, items.table[starts[indices]], query.searched)]
    return indices, ordered_lists.steps(highest, query.order)[indices]


def _chosen(items: Items, query: PassageQuery) -> np.ndarray:
    """(item,) bool: whether the reader asks for the item's guess."""
    chosen: np.ndarray = items.weight >= query.minimum
    return chosen if query.which == "all" else chosen & (items.right == (query.which == "right"))


def _starts(items: Items) -> np.ndarray:
    """(passage,) index of each passage's first item."""
    return np.flatnonzero(np.diff(items.passages(), prepend=-1))


def _have(block: Block, firsts: np.ndarray, searched: Sequence[str]) -> np.ndarray:
    """(passage,) bool, whether each passage, or its document's name, has the words; `firsts` are their first items."""
    have, last = [], -1
    for number, first in firsts[:, [0, 2]].tolist():
        if number != last:
            last, (name, sentences, words) = number, block.text(number)
            named, ends = has([name], searched), dict(passages(sentences, len(words)))
        have.append(named or has(words[first : ends[first]], searched))
    return np.array(have, dtype=bool)


def _example(block: Block, index: int, query: PassageQuery) -> PassageExample:
    starts = _starts(block.items)
    end = starts[index + 1] if index + 1 < len(starts) else len(block.items)
    items = block.items.take(slice(starts[index], end))
    number, first = items.table[0, [0, 2]].tolist()
    document = block.document(number)
    span = first, dict(passages(document["sentences"], len(document["words"])))[first]
    chosen = items.take(_chosen(items, query))
    rows = zip(chosen.table[:, 1].tolist(), chosen.guess.tolist(), chosen.weight.tolist(), chosen.right, strict=True)
    guesses = [Guess(mention, guessed, weight, bool(right)) for mention, guessed, weight, right in rows]
    part, drawn = cut(document, guesses, span)
    texts: dict[tuple[int, int], tuple[str, ...]] = {}
    listed = []
    for guess, (start, stop) in zip(guesses, chosen.table[:, 3:].tolist(), strict=True):
        window = texts.setdefault((start, stop), tuple(document["words"][start:stop]))
        listed.append(_listed(document, guess, window, start, span))
    return PassageExample(part, span, len(items), int(items.right.sum()), drawn, listed)


def _listed(
    document: dict[str, Any], guess: Guess, window: tuple[str, ...], start: int, span: tuple[int, int]
) -> ListedGuess:
    mention, guessed = (mention_text(document, index) for index in (guess.mention, guess.guessed))
    head, other = (document["mentions"][index][3] for index in (guess.mention, guess.guessed))
    return ListedGuess(
        mention, guessed, guess.weight, guess.right, window, head - start, not span[0] <= other < span[1]
    )
