"""Pages of long lists of guesses in an order, from blocks of entries of which one is in memory at a time.

What ranks an entry is its step: its confidence in steps of 1/255, or nothing where the list has the file's order.
Entries of equal steps are in file order.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

import numpy as np

from bertviz_core.heads import Choice

ORDERS = ("most confident first", "least confident first", "file order")
STEPS = 256

Entry = TypeVar("Entry")
Ranked = tuple[np.ndarray, np.ndarray]  # (chosen,) places of the entries of a block that are listed; their steps


@dataclass(frozen=True, slots=True)
class GuessQuery(ABC, Generic[Entry]):
    """A selection of entries (sentences, passages) with the guesses of a head in them, and their order.

    Attributes:
        choice: Whose guesses count.
        which: "right" for entries with a right guess, "wrong" for those with a wrong one, or "all".
        minimum: The weight that a guess has at least.
        searched: Words that stand in an entry one after the other.
        order: One of ORDERS; an entry is as confident as its guess with the highest weight.
    """

    choice: Choice
    which: str = "all"
    minimum: float = 0.0
    searched: tuple[str, ...] = ()
    order: str = ORDERS[0]

    @abstractmethod
    def blocks(self, collection: Any) -> Iterator[Any]:
        """The blocks of a collection of entries, in file order."""

    @abstractmethod
    def ranked(self, block: Any) -> Ranked:
        """Which of a block's entries are listed, and their steps."""

    @abstractmethod
    def entry(self, block: Any, index: int) -> Entry:
        """An entry of a block by its place."""

    def steps(self, confidence: np.ndarray) -> np.ndarray:
        """(entry,) the step of each, from its confidence in steps of 1/255."""
        return {ORDERS[0]: 255 - confidence, ORDERS[1]: confidence, ORDERS[2]: np.zeros_like(confidence)}[self.order]


def tally(collection: Any, query: GuessQuery[Any]) -> np.ndarray:
    """(step, block) how many listed entries each block has of each step; the sum of it is how many there are."""
    each = [np.bincount(query.ranked(block)[1], minlength=STEPS) for block in query.blocks(collection)]
    return np.array(each, dtype=np.int64).reshape(-1, STEPS).T


def page(collection: Any, query: GuessQuery[Entry], counts: np.ndarray, first: int, count: int) -> list[Entry]:
    """The listed entries from number `first` on, in their order.

    Args:
        collection: Has the entries.
        query: Says which are listed.
        counts: Their `tally`, which says what blocks the page is in.
        first: From 0.
        count: How many at most.
    """
    last = first + count
    ends = counts.cumsum().reshape(counts.shape)
    starts = ends - counts
    on_page = (counts > 0) & (starts < last) & (ends > first)
    entries: dict[int, Entry] = {}
    for number, block in enumerate(query.blocks(collection)):
        if not on_page[:, number].any():
            continue
        indices, ranks = query.ranked(block)
        for step in np.flatnonzero(on_page[:, number]):
            start = int(starts[step, number])
            inside = indices[ranks == step][max(0, first - start) : last - start].tolist()
            entries |= {max(first, start) + i: query.entry(block, index) for i, index in enumerate(inside)}
    return [entries[rank] for rank in sorted(entries)]
