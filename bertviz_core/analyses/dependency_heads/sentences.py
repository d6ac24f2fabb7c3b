"""Sentences of a treebank with one head's guesses: a page of those that a reader asks for, of any treebank.

The first sentences are in the result. The guesses in all of them are on disk, chunk by chunk, and their words are read
from the treebank; of both only one chunk is in memory at a time.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from bertviz_core.analyses import ordered_lists
from bertviz_core.analyses.dependency_heads.relations import ALL, UAS
from bertviz_core.analyses.dependency_heads.sentence_blocks import Block, SentenceQuery, Sentences, blocks
from bertviz_core.corpora.word_search import has


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
        """Number of the words that count."""
        return len(self.chosen)

    @property
    def right(self) -> int:
        """Number of the words that count and are guessed right."""
        return sum(int(self.guesses[i]) == self.sentence["governors"][i] - 1 for i in self.chosen)

    @property
    def weight(self) -> float:
        """The highest weight of a word that counts."""
        return float(self.weights[self.chosen].max()) / 255


def tally(sentences: Sentences, query: SentenceQuery) -> np.ndarray:
    """(step, block) how many query sentences each block has of each step; the sum of it is how many there are."""
    return ordered_lists.tally(blocks(sentences, query), partial(_ranked, query=query))


def find(
    sentences: Sentences, query: SentenceQuery, counts: np.ndarray, first: int, count: int
) -> list[SentenceExample]:
    """The query sentences from number `first` on, in their order; `counts` is their `tally`."""
    rank, read = partial(_ranked, query=query), partial(_example, query=query)
    return ordered_lists.page(blocks(sentences, query), rank, read, counts, first, count)


def _ranked(block: Block, query: SentenceQuery) -> ordered_lists.Ranked:
    """A block's query sentences, and the step of each."""
    chosen = np.array([concerns(name, query.relation) for name in block.names], dtype=bool)[block.relations]
    starts = np.append(0, block.ends[:-1]).astype(np.int64)
    highest = np.maximum.reduceat(np.where(chosen, block.weights.astype(np.int64), -1), starts)
    keep = (highest >= 0) & (highest / 255 > query.minimum)
    if query.which != "all":
        is_right = block.guesses.astype(np.int64) == block.governors - 1
        keep &= np.logical_or.reduceat(chosen & (is_right == (query.which == "right")), starts)
    indices = np.flatnonzero(keep)
    if query.searched:
        indices = np.array([i for i in indices.tolist() if has(block.words(i), query.searched)], dtype=np.int64)
    return indices, ordered_lists.steps(highest, query.order)[indices]


def _example(block: Block, index: int, query: SentenceQuery) -> SentenceExample:
    sentence, end = block.sentence(index), int(block.ends[index])
    span = slice(end - len(sentence["words"]), end)
    chosen = [i for i, name in enumerate(sentence["relations"]) if concerns(name, query.relation)]
    return SentenceExample(sentence, block.guesses[span], block.weights[span], chosen)


def concerns(name: str, relation: str) -> bool:
    """Whether a word of relation `name` counts for the row `relation`."""
    if relation == ALL:
        return True
    if relation == UAS:
        return name.split(":", maxsplit=1)[0] != "punct"
    return name == relation
