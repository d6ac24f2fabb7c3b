"""Items with every head's guess, and the documents that they stand in: what a page draws."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from bertviz_core.corpora.coreference.documents import CoreferenceDocument
from bertviz_core.corpora.coreference.head_words import TYPES, mention_type

KEPT = 1000  # the guesses for so many items are kept in the result; those for all are kept on disk beside it
COLUMNS = 5


@dataclass(frozen=True)
class Guess:
    """A mention, the mention guessed for it (places in the document's list), the attention, and whether it is right."""

    mention: int
    guessed: int
    weight: float
    right: bool


@dataclass(frozen=True)
class Items:
    """Consecutive items of a corpus with guesses among the preceding mentions.

    Attributes:
        table: (item, COLUMNS) the number of the document; the mention; the first word of its passage; the first word of
            the window in which it is scored, and one past that window's last.
        guess: (..., item) the mention guessed; its first axes are (direction, layer, head), or missing for one head.
        weight: (..., item) the attention that it has.
        right: (..., item) bool.
    """

    table: np.ndarray
    guess: np.ndarray
    weight: np.ndarray
    right: np.ndarray

    def __len__(self) -> int:
        return len(self.table)

    @classmethod
    def empty(cls, *shape: int) -> Self:
        """Items of a corpus without any."""
        guess = np.zeros((*shape, 0), dtype=np.uint16)
        return cls(np.zeros((0, COLUMNS), dtype=np.uint32), guess, guess.astype(np.float16), guess.astype(bool))

    def joined(self, others: Iterable[Items]) -> Self:
        """These items and then those of the others."""
        every: list[Items] = [self, *others]
        table = np.concatenate([items.table for items in every])
        rows = zip(*map(_rows, every), strict=True)
        return type(self)(table, *(np.concatenate(each, -1) for each in rows))

    def take(self, index: np.ndarray | slice) -> Self:
        """The items with these indices."""
        return type(self)(self.table[index], *(array[..., index] for array in _rows(self)))

    def by_passage(self) -> Self:
        """The items in the order of passages; within one passage in their own order."""
        return self.take(np.argsort(self.passages(), kind="stable"))

    def passages(self) -> np.ndarray:
        """(item,) int64 a number for each passage, which grows with its document and place in it."""
        return self.table[:, 0].astype(np.int64) << 32 | self.table[:, 2]

    def values(self) -> dict[str, np.ndarray]:
        """The arrays and lists of the items by name, for `packing.pack`."""
        return {"items": self.table, "guess": self.guess, "weight": self.weight, "right": self.right}

    @classmethod
    def of(cls, values: dict[str, Any]) -> Self:
        """Items from what `values` gave for them."""
        return cls(*(values[name] for name in ("items", "guess", "weight", "right")))


def _rows(items: Items) -> Sequence[np.ndarray]:
    return items.guess, items.weight, items.right


def shown(document: CoreferenceDocument, heads: Sequence[int]) -> dict[str, Any]:
    """`{"number", "name", "words", "sentences", "mentions"}`, a mention being [start, end, cluster, head, type]."""
    mentions = [
        [mention.start, mention.end, mention.cluster, head, TYPES[mention_type(document, head)]]
        for mention, head in zip(document.mentions, heads, strict=True)
    ]
    return {
        "number": document.number,
        "name": document.name,
        "words": list(document.words),
        "sentences": list(document.sentences),
        "mentions": mentions,
    }
