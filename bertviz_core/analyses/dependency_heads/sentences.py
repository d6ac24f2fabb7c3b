"""Sentences of a treebank with one head's guesses: one page of a filtered list, for a treebank of any size.

The first sentences are in the result. The guesses in all of them are on disk, chunk by chunk, and their words are read
from the treebank in one go, as far as they are needed; of both only one chunk is in memory at a time.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from bertviz_core.analyses.dependency_heads.relations import ALL, DEFAULT_VIEW, UAS
from bertviz_core.analyses.dependency_heads.result import VIEWS, ShownRelations, viewed
from bertviz_core.analyses.details import GuessQuery, InOrder, Ranked, StoredParts
from bertviz_core.corpora.annotated import Treebank
from bertviz_core.corpora.skipped import Skipped
from bertviz_core.corpora.treebank.trees import Sentence
from bertviz_core.corpora.word_search import has


@dataclass(frozen=True)
class SentenceExample:
    """One sentence as a record, with a head's guesses (word,), from 0, their weights in steps of 1/255, and the words
    that count, from 0."""

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


@dataclass(frozen=True)
class Block:
    """Consecutive sentences with one head's guesses, words one after the other: `ends` (sentence,) where each ends;
    (word,) governors from 1 within the sentence, 0 for the root, relations as indices in `names`, and guesses and
    weights as in SentenceExample. `words` and `sentence` give those of one sentence."""

    ends: np.ndarray
    governors: np.ndarray
    relations: np.ndarray
    names: list[str]
    guesses: np.ndarray
    weights: np.ndarray
    words: Callable[[int], Sequence[str]]
    sentence: Callable[[int], dict[str, Any]]


@dataclass(frozen=True)
class SentenceQuery(GuessQuery[SentenceExample]):
    """A selection of sentences, of a ShownRelations or of StoredParts; see GuessQuery. A sentence's highest weight is
    above `minimum`, and it contains the relation, "all" or "UAS", under the view. `causal`: only words count whose arc
    the direction of a causal model can see."""

    relation: str = ALL
    view: str = DEFAULT_VIEW
    merge_subtypes: bool = False
    causal: bool = False

    def blocks(self, collection: ShownRelations | StoredParts) -> Iterator[Block]:
        if isinstance(collection, StoredParts):
            sentences = InOrder(Treebank(collection.source).sentences(Skipped()))
            for values in collection.read(("guesses", "weights"), self.choice.at):
                yield self._stored(values, sentences)
        elif collection.sentences:
            yield self._first(collection)

    def ranked(self, block: Block) -> Ranked:
        chosen = np.array([self._counts_relation(name) for name in block.names], dtype=bool)[block.relations]
        starts = np.append(0, block.ends[:-1]).astype(np.int64)
        if self.causal:
            words = 1 + np.arange(len(chosen)) - np.repeat(starts, np.diff(block.ends, prepend=0))
            chosen &= self._is_visible(words, block.governors)
        highest = np.maximum.reduceat(np.where(chosen, block.weights.astype(np.int64), -1), starts)
        keep = (highest >= 0) & (highest / 255 > self.minimum)
        if self.which != "all":
            is_right = block.guesses.astype(np.int64) == block.governors - 1
            keep &= np.logical_or.reduceat(chosen & (is_right == (self.which == "right")), starts)
        indices = np.flatnonzero(keep)
        if self.searched:
            indices = np.array([i for i in indices.tolist() if has(block.words(i), self.searched)], dtype=np.int64)
        return indices, self.confidence_bins(highest)[indices]

    def entry(self, block: Block, index: int) -> SentenceExample:
        sentence, end = block.sentence(index), int(block.ends[index])
        span = slice(end - len(sentence["words"]), end)
        concerned = np.array([self._counts_relation(name) for name in sentence["relations"]], dtype=bool)
        if self.causal:
            concerned &= self._is_visible(1 + np.arange(len(concerned)), np.array(sentence["governors"]))
        chosen = np.flatnonzero(concerned).tolist()
        return SentenceExample(sentence, block.guesses[span], block.weights[span], chosen)

    def _is_visible(self, words: np.ndarray, governors: np.ndarray) -> np.ndarray:
        """Whether the governor of each word, both counted from 1, is on the side that the direction finds."""
        return np.asarray((governors > 0) & ((governors > words) == bool(self.choice.direction)))

    def _counts_relation(self, name: str) -> bool:
        if self.relation == UAS:
            return name.split(":", maxsplit=1)[0] != "punct"
        return self.relation in (ALL, name)

    def _first(self, result: ShownRelations) -> Block:
        """The sentences that a result has."""
        sentences = result.sentences
        names, relations = np.unique([name for each in sentences for name in each["relations"]], return_inverse=True)
        return Block(
            np.cumsum([len(each["words"]) for each in sentences], dtype=np.int64),
            np.array([governor for each in sentences for governor in each["governors"]], dtype=np.int64),
            relations,
            names.tolist(),
            result.guesses[self.choice.at],
            result.weights[self.choice.at],
            lambda index: sentences[index]["words"],
            sentences.__getitem__,
        )

    def _stored(self, values: dict[str, Any], sentences: InOrder[Sentence]) -> Block:
        """A chunk's sentences, from the disk; see `Guesses.take_detail`."""

        @cache
        def read() -> list[Sentence]:
            return list(sentences.take(values["number"].tolist()).values())

        names = values[f"{self.view}/names"]
        return Block(
            np.cumsum(values["length"]),
            values[f"{self.view}/governors"].astype(np.int64),
            values[f"{self.view}/relations"].astype(np.int64),
            [name.split(":")[0] for name in names] if self.merge_subtypes else names,
            values["guesses"],
            values["weights"],
            lambda index: read()[index].words,
            lambda index: viewed(VIEWS[self.view](read()[index]), self.merge_subtypes),
        )
