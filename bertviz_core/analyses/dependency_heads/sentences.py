"""Sentences with one head's guesses: the first from the result, all of them from disk, words from the treebank."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from bertviz_core.analyses.base.guess_lists import GuessQuery, StoredParts, picked
from bertviz_core.analyses.dependency_heads.guesses import DEFAULT_VIEW, VIEWS, base_of
from bertviz_core.corpora import Skipped
from bertviz_core.corpora.annotated import Treebank
from bertviz_core.corpora.treebank import ALL, UAS, Sentence, SentenceRecord, is_punctuation
from bertviz_core.corpora.word_search import has


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


@dataclass(frozen=True)
class SentenceQuery(GuessQuery[SentenceExample]):
    """A selection of sentences with a relation under a view, whose highest weight is at least `minimum`.

    Attributes:
        relation: A relation, "all" or "UAS".
        view: How trees are read, one of VIEWS.
        merge_subtypes: Whether subtypes count as their relation, nmod:poss as nmod.
        causal: Whether only words count whose arc the direction of a causal model can see.
    """

    relation: str = ALL
    view: str = DEFAULT_VIEW
    merge_subtypes: bool = False
    causal: bool = False

    def listing(self, collection: Any) -> "GuessedSentences":
        at = self.choice.at
        if isinstance(collection, StoredParts):
            parts = list(collection.read(("guesses", "weights"), at))
            return GuessedSentences(self, parts, lambda skipped: Treebank(collection.source).sentences(skipped))
        stored = collection.stored
        part = stored.trees | {"guesses": stored.guesses[at], "weights": stored.weights[at]}
        return GuessedSentences(self, [part], lambda skipped: stored.recorded)


def trees_of(sentences: Sequence[Sentence], views: Iterable[str]) -> dict[str, Any]:
    """(sentence,) number, length; by view (word,) governors from 1, 0 the root, and relations, numbered by `names`."""
    number = [each.number for each in sentences]
    length = list(map(len, sentences))
    values: dict[str, Any] = {
        "number": np.array(number, np.int64),
        "length": np.array(length, np.int64),
    }
    for view in views:
        relations: list[str] = []
        governors: list[int] = []
        for tree in map(VIEWS[view], sentences):
            relations += tree.relations
            governors += tree.governors
        names = {name: index for index, name in enumerate(dict.fromkeys(relations))}
        values[f"{view}/names"] = list(names)
        values[f"{view}/relations"] = np.array([names[name] for name in relations], dtype=np.uint16)
        values[f"{view}/governors"] = np.array(governors, dtype=np.uint16)
    return values


class GuessedSentences:
    """The listing of a SentenceQuery, from parts as `RelationSums.take_detail` stores them.

    The words of all sentences stand one after the other, on the axis `word`.

    Attributes:
        query: Which sentences are listed.
        read: Yields the treebank.
        numbers: (sentence,) their numbers in the treebank.
        lengths: (sentence,) their numbers of words.
        starts: (sentence,) the place of each one's first word.
        governors: (word,) governors under the view, from 1; 0 is the root.
        guesses: (word,) the word that the head guesses, from 0 in its sentence.
        weights: (word,) its attention, in steps of 1/255.
        chosen: (word,) bool, whether the query is about the word.
    """

    def __init__(
        self, query: SentenceQuery, parts: list[dict[str, Any]], read: Callable[[Skipped], Iterable[Sentence]]
    ) -> None:
        self.query = query
        self.read = read
        names = ("number", "length", f"{query.view}/governors", "guesses", "weights")
        arrays = (np.concatenate([part[name] for part in parts]) for name in names)
        self.numbers, self.lengths, self.governors, self.guesses, self.weights = arrays
        self.starts = np.cumsum(self.lengths) - self.lengths
        chosen = []
        for part in parts:
            is_chosen = np.array([self._is_chosen(name) for name in part[f"{query.view}/names"]], dtype=bool)
            chosen.append(is_chosen[part[f"{query.view}/relations"]])
        self.chosen = np.concatenate(chosen)
        if query.causal:  # Only the governors on the side where the direction looks are left.
            words = 1 + np.arange(len(self.governors)) - np.repeat(self.starts, self.lengths)
            is_later = self.governors > words
            self.chosen &= (self.governors > 0) & (is_later == bool(query.choice.direction))

    def _is_chosen(self, relation: str) -> bool:
        asked = self.query.relation
        if asked == UAS:
            return not is_punctuation(relation)
        return asked in (ALL, base_of(relation) if self.query.merge_subtypes else relation)

    def confidence(self) -> np.ndarray:
        """(sentence,) int64, as `Listing.confidence` says."""
        weights = np.where(self.chosen, self.weights.astype(np.int64), -1)
        highest = np.maximum.reduceat(weights, self.starts)
        is_listed = highest / 255 >= self.query.least_weight
        if self.query.guesses != "all":
            is_right = self.guesses.astype(np.int64) + 1 == self.governors
            is_requested = self.chosen & (is_right == (self.query.guesses == "right"))
            is_listed &= np.logical_or.reduceat(is_requested, self.starts)
        return np.where(is_listed, highest, -1)

    def having(self, indices: np.ndarray) -> np.ndarray:
        """Those of the sentences, (sentence,) indices, that have the searched words."""
        sentences = self._sentences(indices.tolist())
        found = [index for index, sentence in sentences if has(sentence.words, self.query.words)]
        return np.array(found, dtype=np.int64)

    def entries(self, indices: Sequence[int]) -> list[SentenceExample]:
        """The sentences with these indices in the listing, with the guesses of the head."""
        sentences = dict(self._sentences(indices))
        examples = []
        for index in indices:
            start = self.starts[index]
            own = slice(start, start + self.lengths[index])
            sentence = VIEWS[self.query.view](sentences[index])
            record = sentence_record(sentence, self.query.merge_subtypes)
            chosen = np.flatnonzero(self.chosen[own]).tolist()
            examples.append(SentenceExample(record, self.guesses[own], self.weights[own], chosen))
        return examples

    def _sentences(self, indices: Iterable[int]) -> Iterator[tuple[int, Sentence]]:
        wanted = {int(self.numbers[index]): index for index in indices}
        return ((wanted[sentence.number], sentence) for sentence in picked(self.read, wanted))
