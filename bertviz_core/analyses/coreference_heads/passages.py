"""Passages of a coreference corpus with one head's guesses: one page of a filtered list, for a corpus of any size.

A passage is a run of whole sentences of one document. The first ones are in the result; the guesses in all of them are
on disk, and their words are read from the corpus.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np

from bertviz_core.analyses.coreference_heads.document_figure import mention_text
from bertviz_core.analyses.coreference_heads.guesses import Guess, Items, document_record
from bertviz_core.analyses.coreference_heads.result import AntecedentCounts
from bertviz_core.analyses.details import GuessQuery, StoredParts
from bertviz_core.corpora.annotated import CoreferenceCorpus
from bertviz_core.corpora.coreference.mentions import head_words
from bertviz_core.corpora.skipped import Skipped
from bertviz_core.corpora.source import Source
from bertviz_core.corpora.word_search import has

LONGEST = 4  # passages long may a sentence be before it is cut


def passages(sentences: Sequence[int], words: int, length: int = 160) -> list[tuple[int, int]]:
    """A document's words in runs of whole sentences of about `length` words, as (first, one past the last); `sentences`
    are the first words of each."""
    starts = [*sentences, words]
    edges = [edge for start, end in pairwise(starts) for edge in (*range(start + LONGEST * length, end, length), end)]
    runs: list[tuple[int, int]] = []
    first, last = 0, 0
    for edge in edges:
        if edge - first > length and last > first:
            runs.append((first, last))
            first = last
        last = edge
    return [*runs, (first, last)]


def cut(
    document: Mapping[str, Any], guesses: Iterable[Guess], passage: tuple[int, int]
) -> tuple[dict[str, Any], list[Guess]]:
    """One passage as a document of its own, and the guesses between mentions whose head words stand in it."""
    first, end = passage
    inside = [index for index, mention in enumerate(document["mentions"]) if first <= mention[3] < end]
    new = {index: i for i, index in enumerate(inside)}
    mentions = []
    for index in inside:
        start, stop, cluster, head, kind = document["mentions"][index]
        mentions.append([max(start, first) - first, min(stop, end) - first, cluster, head - first, kind])
    part = {
        "name": document["name"],
        "words": document["words"][first:end],
        "sentences": [start - first for start in document["sentences"] if first <= start < end],
        "mentions": mentions,
    }
    selected = [g for g in guesses if g.mention in new and g.guessed in new]
    return part, [Guess(new[g.mention], new[g.guessed], g.weight, g.right) for g in selected]


@dataclass(frozen=True)
class ListedGuess:
    """A guess as words, with the words of the window in which its mention is scored, and in it the mention's head word,
    from 0; `is_outside`: whether the mention guessed stands outside the passage, so that it cannot be drawn."""

    mention: str
    guessed: str
    weight: float
    right: bool
    window: tuple[str, ...]
    head: int
    is_outside: bool


@dataclass(frozen=True)
class PassageExample:
    """One passage with a head's guesses.

    Attributes:
        document: The passage as a document of its own, see `guesses.document_record`.
        span: Its first word in its document, from 0, and one past its last.
        total, right: How many of its mentions are scored, and guessed right.
        drawn: The listed guesses whose two mentions stand in the passage.
        listed: The guesses selected by the query.
    """

    document: dict[str, Any]
    span: tuple[int, int]
    total: int
    right: int
    drawn: list[Guess]
    listed: list[ListedGuess]

    @property
    def where(self) -> str:
        first, end = self.span
        return f"{self.document['name']}, words {first + 1:,}–{end:,}"


@dataclass(frozen=True)
class PassageQuery(GuessQuery[PassageExample]):
    """A selection of passages, of an AntecedentCounts or of StoredParts; see GuessQuery. The searched words may also be
    the name of a passage's document."""

    def listing(self, collection: AntecedentCounts | StoredParts) -> "GuessedPassages":
        if isinstance(collection, StoredParts):
            return self._stored(collection)
        documents, guess = collection.first_documents, collection.guess[self.choice.at]
        chains = [[mention[2] for mention in document["mentions"]] for document in documents]
        pairs = zip(*collection.items[:, :2].T.tolist(), guess.tolist(), strict=True)
        right = np.array([chains[number][mention] == chains[number][other] for number, mention, other in pairs], bool)
        items = Items(collection.items, guess, collection.weight[self.choice.at], right)
        return GuessedPassages(self, items.by_passage(), lambda numbers: ((n, documents[n]) for n in numbers))

    def _stored(self, parts: StoredParts) -> "GuessedPassages":
        """The items on disk, see `AntecedentSums.take_detail`."""
        each = []
        for values in parts.read(("guess", "weight", "right"), self.choice.at):
            right = np.unpackbits(values["right"], count=len(values["items"])).astype(bool)
            each.append(Items.of(values | {"right": right}))
        return GuessedPassages(self, each[0].joined(each[1:]).by_passage(), partial(_read, parts.source))


@dataclass(frozen=True)
class GuessedPassages:
    """Items with one head's guesses, passage by passage; `documents` gives those with some numbers, which ascend, as
    `guesses.document_record` does."""

    query: PassageQuery
    items: Items
    documents: Callable[[Iterable[int]], Iterator[tuple[int, dict[str, Any]]]]

    def confidence(self) -> np.ndarray:
        if not len(self.items):
            return np.zeros(0, dtype=np.int64)
        steps = np.rint(255 * self.items.weight.astype(float)).astype(np.int64)
        return np.maximum.reduceat(np.where(self._chosen(self.items), steps, -1), self._starts())

    def having(self, indices: np.ndarray) -> np.ndarray:
        numbers, firsts = self.items.table[self._starts()[indices]][:, [0, 2]].T
        have = []
        for number, document in self.documents(np.unique(numbers).tolist()):
            named, ends = has([document["name"]], self.query.searched), _ends(document)
            for index, first in zip(indices[numbers == number], firsts[numbers == number].tolist(), strict=True):
                if named or has(document["words"][first : ends[first]], self.query.searched):
                    have.append(index)
        return np.array(have, dtype=np.int64)

    def entries(self, indices: Sequence[int]) -> list[PassageExample]:
        starts = [*self._starts().tolist(), None]
        each = [self.items.take(slice(starts[index], starts[index + 1])) for index in indices]
        documents = dict(self.documents(sorted({int(items.table[0, 0]) for items in each})))
        return [self._entry(items, documents[int(items.table[0, 0])]) for items in each]

    def _entry(self, items: Items, document: dict[str, Any]) -> PassageExample:
        first = int(items.table[0, 2])
        span, chosen = (first, _ends(document)[first]), items.take(self._chosen(items))
        columns = chosen.table[:, 1], chosen.guess, chosen.weight, chosen.right
        guesses = [Guess(*row) for row in zip(*(column.tolist() for column in columns), strict=True)]
        part, drawn = cut(document, guesses, span)
        windows = [(start, end) for start, end in chosen.table[:, 3:].tolist()]
        words = {(start, end): tuple(document["words"][start:end]) for start, end in windows}
        listed = [
            _listed(document, guess, words[window], window[0], span)
            for guess, window in zip(guesses, windows, strict=True)
        ]
        return PassageExample(part, span, len(items), int(items.right.sum()), drawn, listed)

    def _chosen(self, items: Items) -> np.ndarray:
        """(item,) bool: whether the reader asks for the item's guess."""
        chosen: np.ndarray = items.weight >= self.query.minimum
        return chosen if self.query.which == "all" else chosen & (items.right == (self.query.which == "right"))

    def _starts(self) -> np.ndarray:
        """(passage,) index of each passage's first item."""
        return np.flatnonzero(np.diff(self.items.passages(), prepend=-1))


def _ends(document: Mapping[str, Any]) -> dict[int, int]:
    """The first word of each passage -> one past its last."""
    return dict(passages(document["sentences"], len(document["words"])))


def _read(source: Source, numbers: Iterable[int]) -> Iterator[tuple[int, dict[str, Any]]]:
    """The documents of a corpus with these numbers, which ascend; it is read no further."""
    wanted = set(numbers)
    for document in CoreferenceCorpus(source).documents(Skipped()) if wanted else ():
        if document.number in wanted:
            wanted.remove(document.number)
            yield document.number, document_record(document, head_words(document))
        if not wanted:
            return


def _listed(
    document: dict[str, Any], guess: Guess, window: tuple[str, ...], start: int, span: tuple[int, int]
) -> ListedGuess:
    mention, guessed = (mention_text(document, index) for index in (guess.mention, guess.guessed))
    head, other = (document["mentions"][index][3] for index in (guess.mention, guess.guessed))
    is_outside = not span[0] <= other < span[1]
    return ListedGuess(mention, guessed, guess.weight, guess.right, window, head - start, is_outside)
