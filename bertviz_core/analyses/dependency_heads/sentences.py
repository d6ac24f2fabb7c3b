"""Sentences with one head's guesses: the first from the result, all of them from disk, words from the treebank."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from bertviz_core.analyses.base.guess_lists import StoredParts, picked
from bertviz_core.analyses.base.list_view import GuessList
from bertviz_core.analyses.dependency_heads.guesses import VIEWS, base_of
from bertviz_core.analyses.dependency_heads.relations import RelationCounts
from bertviz_core.analyses.dependency_heads.result import RelationView
from bertviz_core.corpora import Skipped
from bertviz_core.corpora.annotated import Treebank
from bertviz_core.corpora.treebank import ALL, UAS, Sentence, SentenceRecord, is_punctuation
from bertviz_core.corpora.word_search import has
from bertviz_core.heads import DirectedHead


def sentence_record(sentence: Sentence, merge_subtypes: bool = False) -> SentenceRecord:
    """A sentence as results store it; `merge_subtypes` names relations without their subtypes."""
    relations = map(base_of, sentence.relations) if merge_subtypes else sentence.relations
    return {
        "number": sentence.number,
        "line": sentence.line,
        "words": list(sentence.words),
        "governors": list(sentence.governors),
        "relations": list(relations),
        "tags": list(sentence.tags),
        "document": sentence.document,
    }


@dataclass(frozen=True)
class SentenceExample:
    """One sentence with a head's guesses.

    Attributes:
        sentence: The sentence, see `sentence_record`.
        guesses: (word,) the word that is guessed, from 0.
        weights: (word,) its attention, in steps of 1/255.
        chosen: The words of the relation, from 0.
    """

    sentence: SentenceRecord
    guesses: np.ndarray
    weights: np.ndarray
    chosen: list[int]

    @property
    def where(self) -> str:
        """The number of the sentence, and its line, from 1."""
        return f"sentence {self.sentence['number'] + 1:,}, line {self.sentence['line']}"

    @property
    def right(self) -> int:
        """How many of the chosen words have a right guess."""
        governors = self.sentence["governors"]
        return sum(int(self.guesses[word]) == governors[word] - 1 for word in self.chosen)

    @property
    def weight(self) -> float:
        """The highest weight of a chosen word's guess, 0 to 1."""
        return float(self.weights[self.chosen].max()) / 255


class GuessedSentences(GuessList[SentenceExample]):
    """Sentences that have words of the chosen relation, from parts as `RelationSums.take_detail` stores them.

    The words of all sentences stand one after the other, on the axis `word`.

    Attributes:
        read: Yields the treebank.
        trees: How trees are read, one of VIEWS.
        is_merged: Whether subtypes count as their relation, nmod:poss as nmod.
        numbers: (sentence,) their numbers in the treebank.
        lengths: (sentence,) their numbers of words.
        starts: (sentence,) the place of each one's first word.
        governors: (word,) governors under the view, from 1; 0 is the root.
        guesses: (word,) the word that the head guesses, from 0 in its sentence.
        weights: (word,) its attention, in steps of 1/255.
        chosen: (word,) bool, whether the list is about the word.
    """

    def __init__(self, counts: RelationCounts, view: RelationView, lists: StoredParts | None) -> None:
        """Read the guesses of the chosen head.

        Args:
            counts: Of the result.
            view: What is chosen, resolved.
            lists: All sentences; None for the first ones, which the result has.
        """
        self.view = view
        relation, choice = view.choice()
        self.trees, self.is_merged = (counts.provenance["options"][name] for name in ("view", "merge_subtypes"))
        self.read, parts = _parts(counts, choice, lists)
        names = ("number", "length", f"{self.trees}/governors", "guesses", "weights")
        arrays = (np.concatenate([part[name] for part in parts]) for name in names)
        self.numbers, self.lengths, self.governors, self.guesses, self.weights = arrays
        self.starts = np.cumsum(self.lengths) - self.lengths
        chosen = []
        for part in parts:
            is_chosen = [self._is_of(relation, name) for name in part[f"{self.trees}/names"]]
            chosen.append(np.array(is_chosen, dtype=bool)[part[f"{self.trees}/relations"]])
        self.chosen = np.concatenate(chosen)
        if counts.is_causal:  # Only the governors on the side where the direction looks are left.
            words = 1 + np.arange(len(self.governors)) - np.repeat(self.starts, self.lengths)
            is_later = self.governors > words
            self.chosen &= (self.governors > 0) & (is_later == bool(choice.direction))

    def _is_of(self, relation: str, name: str) -> bool:
        """Whether words of a relation of the treebank are of the chosen one, which may be a total."""
        if relation == UAS:
            return not is_punctuation(name)
        return relation in (ALL, base_of(name) if self.is_merged else name)

    def confidence(self) -> np.ndarray:
        """(sentence,) int64, as `GuessList.confidence` says."""
        weights = np.where(self.chosen, self.weights.astype(np.int64), -1)
        highest = np.maximum.reduceat(weights, self.starts)
        is_listed = highest / 255 >= self.view.least_weight
        if self.view.guesses != "all":
            is_right = self.guesses.astype(np.int64) + 1 == self.governors
            is_requested = self.chosen & (is_right == (self.view.guesses == "right"))
            is_listed &= np.logical_or.reduceat(is_requested, self.starts)
        return np.where(is_listed, highest, -1)

    def having(self, indices: np.ndarray) -> np.ndarray:
        """Those of the sentences, (sentence,) indices, that have the searched words."""
        sentences = self._sentences(indices.tolist())
        found = [index for index, sentence in sentences if has(sentence.words, self.words)]
        return np.array(found, dtype=np.int64)

    def entries(self, indices: Sequence[int]) -> list[SentenceExample]:
        """The sentences with these indices in the listing, with the guesses of the head."""
        sentences = dict(self._sentences(indices))
        examples = []
        for index in indices:
            start = self.starts[index]
            own = slice(start, start + self.lengths[index])
            sentence = VIEWS[self.trees](sentences[index])
            record = sentence_record(sentence, self.is_merged)
            chosen = np.flatnonzero(self.chosen[own]).tolist()
            examples.append(SentenceExample(record, self.guesses[own], self.weights[own], chosen))
        return examples

    def _sentences(self, indices: Iterable[int]) -> Iterator[tuple[int, Sentence]]:
        wanted = {int(self.numbers[index]): index for index in indices}
        return ((wanted[sentence.number], sentence) for sentence in picked(self.read, wanted))


def _parts(
    counts: RelationCounts, choice: DirectedHead, lists: StoredParts | None
) -> tuple[Callable[[Skipped], Iterable[Sentence]], list[dict[str, Any]]]:
    """What reads the sentences, and the parts with the guesses of one head."""
    if lists is not None:
        return Treebank(lists.source).sentences, list(lists.read(("guesses", "weights"), choice.at))
    stored = counts.stored
    assert stored is not None, "a result with sentences"
    part = stored.trees | {"guesses": stored.guesses[choice.at], "weights": stored.weights[choice.at]}
    return lambda skipped: stored.recorded, [part]
