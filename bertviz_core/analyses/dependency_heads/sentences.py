"""Sentences of a treebank with one head's guesses: a page of those that a reader asks for, of any treebank.

The first sentences are in the result. The guesses in all of them are on disk, chunk by chunk, and their words are read
from the treebank; of both only one chunk is in memory at a time.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from bertviz_core.analyses.dependency_heads.relations import ALL, UAS
from bertviz_core.analyses.dependency_heads.sentence_blocks import ORDERS, Block, SentenceQuery, Sentences, blocks
from bertviz_core.corpora.word_search import has

STEPS = 256  # of a stored weight


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
    """(step, block) how many query sentences each block has of each weight; the sum of it is how many there are."""
    each = [np.bincount(_steps(block, query)[1], minlength=STEPS) for block in blocks(sentences, query)]
    return np.array(each, dtype=np.int64).reshape(-1, STEPS).T


def find(
    sentences: Sentences, query: SentenceQuery, counts: np.ndarray, first: int, count: int
) -> list[SentenceExample]:
    """The query sentences from number `first` on, in their order; `counts` is their `tally`, which says what blocks
    they are in."""
    last = first + count
    ends = counts.cumsum().reshape(counts.shape)
    starts = ends - counts
    on_page = (counts > 0) & (starts < last) & (ends > first)
    examples: dict[int, SentenceExample] = {}
    for number, block in enumerate(blocks(sentences, query)):
        if not on_page[:, number].any():
            continue
        indices, steps = _steps(block, query)
        for step in np.flatnonzero(on_page[:, number]):
            start = int(starts[step, number])
            inside = indices[steps == step][max(0, first - start) : last - start].tolist()
            examples |= {max(first, start) + i: _example(block, index, query) for i, index in enumerate(inside)}
    return [examples[rank] for rank in sorted(examples)]


def _steps(block: Block, query: SentenceQuery) -> tuple[np.ndarray, np.ndarray]:
    """Select and rank a block's sentences.

    Returns:
        (sentence,) indices of the query's sentences in file order, and (sentence,) their steps in the query's order.
    """
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
    order = {ORDERS[0]: 255 - highest, ORDERS[1]: highest, ORDERS[2]: np.zeros_like(highest)}[query.order]
    return indices, order[indices]


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
