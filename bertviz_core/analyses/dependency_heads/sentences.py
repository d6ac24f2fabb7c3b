"""Sentences of a treebank with one head's guesses: one page of a filtered list, for a treebank of any size.

The first sentences are in the result. The guesses in all of them are on disk, and their words are read from the
treebank, as far as they are needed.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from bertviz_core.analyses.dependency_heads.guesses import DEFAULT_VIEW, VIEWS, base_of, sentence_record
from bertviz_core.analyses.dependency_heads.relations import ALL, UAS
from bertviz_core.analyses.dependency_heads.result import ShownRelations
from bertviz_core.analyses.details import GuessQuery, StoredParts, picked
from bertviz_core.corpora.annotated import Treebank
from bertviz_core.corpora.treebank import Sentence, sentence_of
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
class GuessedSentences:
    """Consecutive sentences with one head's guesses, words one after the other: `lengths` (sentence,); (word,)
    governors from 1 within the sentence, 0 for the root, whether each word counts, and guesses and weights as in
    SentenceExample. `sentences` gives those with some indices, in file order, `record` one as the query views it."""

    query: "SentenceQuery"
    lengths: np.ndarray
    governors: np.ndarray
    chosen: np.ndarray
    guesses: np.ndarray
    weights: np.ndarray
    sentences: Callable[[Iterable[int]], Iterator[tuple[int, Sentence]]]
    record: Callable[[Sentence], dict[str, Any]]

    def confidence(self) -> np.ndarray:
        if not len(self.lengths):
            return np.zeros(0, dtype=np.int64)
        starts = np.cumsum(self.lengths) - self.lengths
        highest = np.maximum.reduceat(np.where(self.chosen, self.weights.astype(np.int64), -1), starts)
        keep = highest / 255 > self.query.minimum
        if self.query.which != "all":
            is_right = self.guesses.astype(np.int64) == self.governors - 1
            keep &= np.logical_or.reduceat(self.chosen & (is_right == (self.query.which == "right")), starts)
        return np.where(keep, highest, -1)

    def having(self, indices: np.ndarray) -> np.ndarray:
        sentences = self.sentences(indices.tolist())
        return np.array([i for i, sentence in sentences if has(sentence.words, self.query.searched)], dtype=np.int64)

    def entries(self, indices: Sequence[int]) -> list[SentenceExample]:
        sentences, ends, examples = dict(self.sentences(sorted(indices))), np.cumsum(self.lengths), []
        for index in indices:
            at = slice(ends[index] - self.lengths[index], ends[index])
            chosen = np.flatnonzero(self.chosen[at]).tolist()
            record = self.record(sentences[index])
            examples.append(SentenceExample(record, self.guesses[at], self.weights[at], chosen))
        return examples


@dataclass(frozen=True)
class SentenceQuery(GuessQuery[SentenceExample]):
    """A selection of sentences, of a ShownRelations or of StoredParts; see GuessQuery. A sentence's highest weight is
    above `minimum`, and it contains the relation, "all" or "UAS", under the view. `causal`: only words count whose arc
    the direction of a causal model can see."""

    relation: str = ALL
    view: str = DEFAULT_VIEW
    merge_subtypes: bool = False
    causal: bool = False

    def listing(self, collection: ShownRelations | StoredParts) -> GuessedSentences:
        if isinstance(collection, StoredParts):
            return self._stored(collection)
        sentences, at = list(map(sentence_of, collection.sentences)), self.choice.at
        lengths = np.array([len(sentence) for sentence in sentences], dtype=np.int64)
        governors = np.array([governor for sentence in sentences for governor in sentence.governors], dtype=np.int64)
        counted = self._counted([name for sentence in sentences for name in sentence.relations])
        chosen = self._chosen(lengths, governors, counted)

        def given(indices: Iterable[int]) -> Iterator[tuple[int, Sentence]]:
            return ((i, sentences[i]) for i in indices)

        guesses, weights = collection.guesses[at], collection.weights[at]
        return GuessedSentences(self, lengths, governors, chosen, guesses, weights, given, sentence_record)

    def _stored(self, parts: StoredParts) -> GuessedSentences:
        """The sentences on disk, see `Guesses.take_detail`."""
        each, view = list(parts.read(("guesses", "weights"), self.choice.at)), self.view
        names = ("number", "length", f"{view}/governors", "guesses", "weights")
        numbers, lengths, governors, guesses, weights = (np.concatenate([part[n] for part in each]) for n in names)
        governors = governors.astype(np.int64)
        counted = [self._counted(part[f"{view}/names"])[part[f"{view}/relations"]] for part in each]
        chosen = self._chosen(lengths, governors, np.concatenate(counted))

        def read(indices: Iterable[int]) -> Iterator[tuple[int, Sentence]]:
            wanted = {int(numbers[i]): i for i in indices}
            sentences = picked(lambda skipped: Treebank(parts.source).sentences(skipped), wanted)
            return ((wanted[sentence.number], sentence) for sentence in sentences)

        def record(sentence: Sentence) -> dict[str, Any]:
            return sentence_record(VIEWS[view](sentence), self.merge_subtypes)

        return GuessedSentences(self, lengths, governors, chosen, guesses, weights, read, record)

    def _counted(self, relations: Sequence[str]) -> np.ndarray:
        """Whether words of these relations count."""
        names = [base_of(name) if self.merge_subtypes or self.relation == UAS else name for name in relations]
        if self.relation == UAS:
            return np.array([name != "punct" for name in names], dtype=bool)
        return np.array([self.relation in (ALL, name) for name in names], dtype=bool)

    def _chosen(self, lengths: np.ndarray, governors: np.ndarray, counted: np.ndarray) -> np.ndarray:
        """(word,) whether it counts; of a causal model only where the governor is on the side that the direction
        finds."""
        if not self.causal:
            return counted
        words = 1 + np.arange(len(governors)) - np.repeat(np.cumsum(lengths) - lengths, lengths)
        is_visible = (governors > words) == bool(self.choice.direction)
        return np.asarray(counted & (governors > 0) & is_visible)
