"""Sentences of a treebank with one head's guesses: a page of those that a reader asks for, of any treebank.

The first sentences are in the result. The guesses in all of them are on disk, chunk by chunk, and their words are read
from the treebank; of both only one chunk is in memory at a time.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol

import numpy as np

from bertviz_core.analyses import details
from bertviz_core.analyses.dependency_heads.relations import ALL, UAS, ShownRelations
from bertviz_core.analyses.dependency_heads.result import VIEWS, viewed
from bertviz_core.corpora.parts import Slices, part_of
from bertviz_core.corpora.skipped import Skipped
from bertviz_core.corpora.source import Source, Start
from bertviz_core.corpora.treebank.trees import Sentence
from bertviz_core.corpora.treebank_reader import Treebank
from bertviz_core.corpora.word_search import has
from bertviz_core.engine.store import Store
from bertviz_core.heads import Head

ORDERS = ("most confident first", "least confident first", "file order")
STEPS = 256  # of a stored weight


@dataclass(frozen=True, slots=True)
class Wanted:
    """Which sentences, and in which order.

    Attributes:
        head: Whose guesses count.
        direction: The index in DIRECTIONS in which it is read.
        relation: What a sentence must have, "all" and "UAS" among them.
        view: Of VIEWS.
        merge_subtypes: Whether `nmod:poss` counts as `nmod`.
        which: "right" for sentences with a right guess for such a word, "wrong" for those with a wrong one, or "all".
        minimum: The highest weight of such a word is above it; -1 for all.
        searched: Words that stand in it one after the other.
        order: Of ORDERS.
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


@dataclass(frozen=True, slots=True)
class SentenceExample:
    """One sentence with a head's guesses.

    Attributes:
        sentence: {"number", "line", "words", "governors", "relations"}.
        guesses: (word,) the word guessed, from 0.
        weights: (word,) its attention, in steps of 1/255.
        chosen: The words that count, from 0.
    """

    sentence: dict[str, Any]
    guesses: np.ndarray
    weights: np.ndarray
    chosen: list[int]

    @property
    def where(self) -> str:
        return f"sentence {self.sentence['number'] + 1:,}, line {self.sentence['line']}"

    @property
    def words(self) -> int:
        """How many of its words count."""
        return len(self.chosen)

    @property
    def right(self) -> int:
        """How many of the words that count are guessed right."""
        return sum(int(self.guesses[i]) == self.sentence["governors"][i] - 1 for i in self.chosen)

    @property
    def weight(self) -> float:
        """The highest weight of a word that counts."""
        return float(self.weights[self.chosen].max()) / 255


class Block(Protocol):
    """Consecutive sentences with one head's guesses, words one after the other.

    Attributes:
        ends: (sentence,) where each ends.
        governors: (word,) from 1 within the sentence, 0 for the root.
        relations: (word,) indices in `names`.
        names: Of relations.
        guesses: (word,) as in SentenceExample.
        weights: (word,) as in SentenceExample.
    """

    ends: np.ndarray
    governors: np.ndarray
    relations: np.ndarray
    names: list[str]
    guesses: np.ndarray
    weights: np.ndarray

    def words(self, place: int) -> Sequence[str]:
        """Of one sentence."""

    def sentence(self, place: int) -> dict[str, Any]:
        """As in SentenceExample."""


class FirstSentences:
    """The sentences that a result has, as one block."""

    def __init__(self, result: ShownRelations, wanted: Wanted) -> None:
        at = (wanted.direction, wanted.head.layer, wanted.head.head)
        self._sentences, self.guesses, self.weights = result.sentences, result.guesses[at], result.weights[at]
        flat = [name for sentence in result.sentences for name in sentence["relations"]]
        self.names = list(dict.fromkeys(flat))
        places = {name: place for place, name in enumerate(self.names)}
        self.ends = np.cumsum([len(sentence["words"]) for sentence in result.sentences], dtype=np.int64)
        self.relations = np.array([places[name] for name in flat], dtype=np.int64)
        self.governors = np.array([g for sentence in result.sentences for g in sentence["governors"]], dtype=np.int64)

    def words(self, place: int) -> Sequence[str]:
        words: list[str] = self._sentences[place]["words"]
        return words

    def sentence(self, place: int) -> dict[str, Any]:
        return self._sentences[place]


class StoredSentences:
    """A chunk's sentences, from the disk; see `Guesses.take_detail`."""

    def __init__(self, values: dict[str, Any], wanted: Wanted, slices: Slices, source: Source) -> None:
        self.view, self.merge, self.slices, self.source = wanted.view, wanted.merge_subtypes, slices, source
        self.start, self.end = Start(*values["start"]), values["end"]
        self.number, self.ends = values["number"], np.cumsum(values["length"])
        self.guesses, self.weights = values["guesses"], values["weights"]
        self.relations = values[f"{wanted.view}/relations"].astype(np.int64)
        self.governors = values[f"{wanted.view}/governors"].astype(np.int64)
        self.names = [name.split(":")[0] if self.merge else name for name in values[f"{wanted.view}/names"]]

    def words(self, place: int) -> Sequence[str]:
        return self._read[place].words

    def sentence(self, place: int) -> dict[str, Any]:
        return viewed(VIEWS[self.view](self._read[place]), self.merge)

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
        key: Of the result.
        source: Has the words.
        chunks: How many there are.
    """

    store: Store
    key: str
    source: Source
    chunks: int

    def blocks(self, wanted: Wanted) -> Iterator[Block]:
        """One chunk after another."""
        slices, row = Slices(self.source), (wanted.direction, wanted.head.layer, wanted.head.head)
        for number in range(self.chunks):
            values = details.read(self.store, self.key, number, {"guesses": row, "weights": row})
            yield StoredSentences(values, wanted, slices, self.source)


def stored_treebank(store: Store, key: str, source: Source) -> StoredTreebank | None:
    """The sentences behind the result with this key; None where the store does not have them all (any more)."""
    chunks = details.parts(store, key)
    return StoredTreebank(store, key, source, chunks) if chunks else None


Sentences = ShownRelations | StoredTreebank  # the first ones, or all


def tally(where: Sentences, wanted: Wanted) -> np.ndarray:
    """(step, block) how many wanted sentences each block has of each weight; the sum of it is how many there are."""
    each = [np.bincount(_steps(block, wanted)[1], minlength=STEPS) for block in _blocks(where, wanted)]
    return np.array(each, dtype=np.int64).reshape(-1, STEPS).T


def find(where: Sentences, wanted: Wanted, counts: np.ndarray, first: int, count: int) -> list[SentenceExample]:
    """The wanted sentences from number `first` on, in their order; `counts` is their `tally`, which says what blocks
    they are in."""
    last = first + count
    ends = counts.cumsum().reshape(counts.shape)
    starts = ends - counts
    on_page = (counts > 0) & (starts < last) & (ends > first)
    examples: dict[int, SentenceExample] = {}
    for number, block in enumerate(_blocks(where, wanted)):
        if not on_page[:, number].any():
            continue
        places, steps = _steps(block, wanted)
        for step in np.flatnonzero(on_page[:, number]):
            start = int(starts[step, number])
            inside = places[steps == step][max(0, first - start) : last - start].tolist()
            examples |= {max(first, start) + i: _example(block, place, wanted) for i, place in enumerate(inside)}
    return [examples[rank] for rank in sorted(examples)]


def _blocks(where: Sentences, wanted: Wanted) -> Iterator[Block]:
    if isinstance(where, StoredTreebank):
        yield from where.blocks(wanted)
    elif where.sentences:
        yield FirstSentences(where, wanted)


def _steps(block: Block, wanted: Wanted) -> tuple[np.ndarray, np.ndarray]:
    """(found,) indices of a block's wanted sentences, and the step of each in their order; equal steps are in file
    order."""
    chosen = np.array([concerns(name, wanted.relation) for name in block.names], dtype=bool)[block.relations]
    starts = np.append(0, block.ends[:-1]).astype(np.int64)
    highest = np.maximum.reduceat(np.where(chosen, block.weights.astype(np.int64), -1), starts)
    keep = (highest >= 0) & (highest / 255 > wanted.minimum)
    if wanted.which != "all":
        is_right = block.guesses.astype(np.int64) == block.governors - 1
        keep &= np.logical_or.reduceat(chosen & (is_right == (wanted.which == "right")), starts)
    places = np.flatnonzero(keep)
    if wanted.searched:
        places = np.array([i for i in places.tolist() if has(block.words(i), wanted.searched)], dtype=np.int64)
    order = {ORDERS[0]: 255 - highest, ORDERS[1]: highest, ORDERS[2]: np.zeros_like(highest)}[wanted.order]
    return places, order[places]


def _example(block: Block, place: int, wanted: Wanted) -> SentenceExample:
    sentence, end = block.sentence(place), int(block.ends[place])
    span = slice(end - len(sentence["words"]), end)
    chosen = [i for i, name in enumerate(sentence["relations"]) if concerns(name, wanted.relation)]
    return SentenceExample(sentence, block.guesses[span], block.weights[span], chosen)


def concerns(name: str, relation: str) -> bool:
    """Whether a word of relation `name` counts for the row `relation`."""
    if relation == ALL:
        return True
    if relation == UAS:
        return name.split(":", maxsplit=1)[0] != "punct"
    return name == relation
