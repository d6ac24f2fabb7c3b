"""Consecutive items with one head's guesses and their documents: those of a result, or a chunk's from the disk."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol

import numpy as np

from bertviz_core.analyses import details
from bertviz_core.analyses.coreference_heads.antecedents import AntecedentCounts, Choice
from bertviz_core.analyses.coreference_heads.documents import Items, shown
from bertviz_core.analyses.ordered_lists import ORDERS
from bertviz_core.corpora.annotated import CoreferenceCorpus
from bertviz_core.corpora.coreference.documents import CoreferenceDocument
from bertviz_core.corpora.coreference.head_words import head_words
from bertviz_core.corpora.skipped import Skipped
from bertviz_core.corpora.source import Source, Start
from bertviz_core.engine.store import Store
from bertviz_core.models.reading import Slices, part_of


@dataclass(frozen=True, slots=True)
class PassageQuery:
    """Which passages, and in which order.

    Attributes:
        choice: Whose guesses count.
        which: "right" for right guesses alone, "wrong" for wrong ones, or "all"; a passage has one of them at least.
        minimum: The weight that a guess has at least.
        searched: Words that stand in it one after the other, or its document's name.
        order: Of ORDERS; a passage is as confident as its guess with the highest weight.
    """

    choice: Choice
    which: str = "all"
    minimum: float = 0.0
    searched: tuple[str, ...] = ()
    order: str = ORDERS[2]


class Block(Protocol):
    """Consecutive items, passage by passage, with their documents.

    Attributes:
        items: Items with one head's guesses.
    """

    items: Items

    def text(self, number: int) -> tuple[str, Sequence[int], Sequence[str]]:
        """Name, beginnings of sentences and words of a document."""

    def document(self, number: int) -> dict[str, Any]:
        """A document as `documents.shown` gives it."""


class FirstDocuments:
    """The items that a result has, as one block."""

    def __init__(self, result: AntecedentCounts, choice: Choice) -> None:
        at, self._documents = (choice.direction, choice.head.layer, choice.head.head), result.documents
        chains = [[mention[2] for mention in document["mentions"]] for document in result.documents]
        guess = result.guess[at]
        pairs = zip(result.items[:, 0].tolist(), result.items[:, 1].tolist(), guess.tolist(), strict=True)
        right = np.array([chains[number][mention] == chains[number][other] for number, mention, other in pairs])
        self.items = Items(result.items, guess, result.weight[at], right).by_passage()

    def text(self, number: int) -> tuple[str, Sequence[int], Sequence[str]]:
        document = self._documents[number]
        return document["name"], document["sentences"], document["words"]

    def document(self, number: int) -> dict[str, Any]:
        return self._documents[number]


class StoredDocuments:
    """A chunk's items, from the disk; see `Selections.take_detail`."""

    def __init__(self, values: dict[str, Any], slices: Slices, source: Source) -> None:
        count = len(values["items"])
        self.items = Items.of(values | {"right": np.unpackbits(values["right"], count=count).astype(bool)})
        self.slices, self.source = slices, source
        self.start, self.end = Start(*values["start"]), values["end"]

    def text(self, number: int) -> tuple[str, Sequence[int], Sequence[str]]:
        document = self._read[number]
        return document.name, document.sentences, document.words

    def document(self, number: int) -> dict[str, Any]:
        document = self._read[number]
        return shown(document, head_words(document))

    def take_over(self, following: StoredDocuments) -> None:
        """Move the items that continue the last passage of this chunk from the next chunk into this one."""
        own = int(np.searchsorted(following.items.passages(), self.items.passages()[-1], side="right"))
        self.items = self.items.joined([following.items.take(slice(own))])
        following.items = following.items.take(slice(own, None))

    @cached_property
    def _read(self) -> dict[int, CoreferenceDocument]:
        part = part_of(self.source, self.start, self.slices.read(self.start.offset, self.end))
        numbers = set(self.items.table[:, 0].tolist())
        every = CoreferenceCorpus(part).documents(Skipped())
        return {document.number: document for document in every if document.number in numbers}


@dataclass(frozen=True, slots=True)
class StoredCorpus:
    """All passages of a corpus with the guesses in them, on disk.

    Attributes:
        store: Has the guesses.
        key: Key of the result.
        source: Has the words.
        chunks: How many there are.
    """

    store: Store
    key: str
    source: Source
    chunks: int

    def blocks(self, choice: Choice) -> Iterator[Block]:
        """One chunk after another; a passage on the border of two is in the first of them."""
        slices, row = Slices(self.source), (choice.direction, choice.head.layer, choice.head.head)
        last: StoredDocuments | None = None
        for number in range(self.chunks):
            values = details.read(self.store, self.key, number, dict.fromkeys(("guess", "weight", "right"), row))
            block = StoredDocuments(values, slices, self.source)
            if last is not None:
                last.take_over(block)
            if not len(block.items):
                continue
            if last is not None:
                yield last
            last = block
        if last is not None:
            yield last


def stored_corpus(store: Store, key: str, source: Source) -> StoredCorpus | None:
    """The passages behind the result with this key; None where the store does not have them all (any more)."""
    chunks = details.parts(store, key)
    return StoredCorpus(store, key, source, chunks) if chunks else None


Passages = AntecedentCounts | StoredCorpus  # those of the first items, or all


def blocks(collection: Passages, choice: Choice) -> Iterator[Block]:
    if isinstance(collection, StoredCorpus):
        yield from collection.blocks(choice)
    elif len(collection.items):
        yield FirstDocuments(collection, choice)
