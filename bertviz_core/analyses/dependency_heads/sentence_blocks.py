"""Consecutive sentences of a treebank with one head's guesses: those of a result, or a chunk's from the disk."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol

import numpy as np

from bertviz_core.analyses import details
from bertviz_core.analyses.dependency_heads.relations import ShownRelations
from bertviz_core.analyses.dependency_heads.result import VIEWS, viewed
from bertviz_core.analyses.ordered_lists import ORDERS
from bertviz_core.corpora.annotated import Treebank
from bertviz_core.corpora.skipped import Skipped
from bertviz_core.corpora.source import Source, Start
from bertviz_core.corpora.treebank.trees import Sentence
from bertviz_core.engine.store import Store
from bertviz_core.heads import Head
from bertviz_core.models.reading import Slices, part_of


@dataclass(frozen=True, slots=True)
class SentenceQuery:
    """A selection of sentences and their order.

    Attributes:
        head: Whose guesses count.
        direction: The index in DIRECTIONS in which it is read.
        relation: What a sentence must have, "all" and "UAS" among them.
        view: One of VIEWS.
        merge_subtypes: Whether `nmod:poss` counts as `nmod`.
        which: "right" for sentences with a right guess for such a word, "wrong" for those with a wrong one, or "all".
        minimum: The highest weight of such a word is above it; -1 for all.
        searched: Words that stand in it one after the other.
        order: One of ORDERS.
    """

    head: Head
    direction: int
    relation: str
    view: str = "as-is"
    merge_subtypes: bool = False
    which: str = "all"
    minimum: float = -1.0
    searched: tuple[str, ...] = ()
    order: str = ORDERS[0]


class Block(Protocol):
    """Consecutive sentences with one head's guesses, words one after the other.

    Attributes:
        ends: (sentence,) where each ends.
        governors: (word,) from 1 within the sentence, 0 for the root.
        relations: (word,) indices in `names`.
        names: Names of the relations.
        guesses: (word,) as in SentenceExample.
        weights: (word,) as in SentenceExample.
    """

    ends: np.ndarray
    governors: np.ndarray
    relations: np.ndarray
    names: list[str]
    guesses: np.ndarray
    weights: np.ndarray

    def words(self, index: int) -> Sequence[str]:
        """The words of one sentence."""

    def sentence(self, index: int) -> dict[str, Any]:
        """One sentence, as in `SentenceExample`."""


class FirstSentences:
    """The sentences that a result has, as one block."""

    def __init__(self, result: ShownRelations, query: SentenceQuery) -> None:
        at = (query.direction, query.head.layer, query.head.head)
        self._sentences, self.guesses, self.weights = result.sentences, result.guesses[at], result.weights[at]
        flat = [name for sentence in result.sentences for name in sentence["relations"]]
        self.names = list(dict.fromkeys(flat))
        indices = {name: index for index, name in enumerate(self.names)}
        self.ends = np.cumsum([len(sentence["words"]) for sentence in result.sentences], dtype=np.int64)
        self.relations = np.array([indices[name] for name in flat], dtype=np.int64)
        self.governors = np.array([g for sentence in result.sentences for g in sentence["governors"]], dtype=np.int64)

    def words(self, index: int) -> Sequence[str]:
        words: list[str] = self._sentences[index]["words"]
        return words

    def sentence(self, index: int) -> dict[str, Any]:
        return self._sentences[index]


class StoredSentences:
    """A chunk's sentences, from the disk; see `Guesses.take_detail`."""

    def __init__(self, values: dict[str, Any], query: SentenceQuery, slices: Slices, source: Source) -> None:
        self.view, self.merge, self.slices, self.source = query.view, query.merge_subtypes, slices, source
        self.start, self.end = Start(*values["start"]), values["end"]
        self.number, self.ends = values["number"], np.cumsum(values["length"])
        self.guesses, self.weights = values["guesses"], values["weights"]
        self.relations = values[f"{query.view}/relations"].astype(np.int64)
        self.governors = values[f"{query.view}/governors"].astype(np.int64)
        self.names = [name.split(":")[0] if self.merge else name for name in values[f"{query.view}/names"]]

    def words(self, index: int) -> Sequence[str]:
        return self._read[index].words

    def sentence(self, index: int) -> dict[str, Any]:
        return viewed(VIEWS[self.view](self._read[index]), self.merge)

    @cached_property
    def _read(self) -> list[Sentence]:
        data = self.slices.read(self.start.offset, self.end)
        every = Treebank(part_of(self.source, self.start, data)).sentences(Skipped())
        numbers = set(self.number.tolist())
        return [sentence for sentence in every if sentence.number in numbers]


@dataclass(frozen=True, slots=True)
class StoredTreebank:
    """All sentences of a treebank with the guesses in them, on disk.

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

    def blocks(self, query: SentenceQuery) -> Iterator[Block]:
        """The blocks of the treebank, one chunk after another."""
        slices, row = Slices(self.source), (query.direction, query.head.layer, query.head.head)
        for number in range(self.chunks):
            values = details.read(self.store, self.key, number, {"guesses": row, "weights": row})
            yield StoredSentences(values, query, slices, self.source)


def stored_treebank(store: Store, key: str, source: Source) -> StoredTreebank | None:
    """The sentences behind the result with this key; None where the store does not have them all (any more)."""
    chunks = details.parts(store, key)
    return StoredTreebank(store, key, source, chunks) if chunks else None


Sentences = ShownRelations | StoredTreebank  # the first ones, or all


def blocks(sentences: Sentences, query: SentenceQuery) -> Iterator[Block]:
    if isinstance(sentences, StoredTreebank):
        yield from sentences.blocks(query)
    elif sentences.sentences:
        yield FirstSentences(sentences, query)
