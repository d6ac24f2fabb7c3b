"""Passages of a coreference corpus with one head's guesses, a page at a time. A passage is a run of whole sentences of
one document. Guesses in the first ones are in the result, those in all on disk; words are read from the corpus."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, NamedTuple, Self

import numpy as np

from bertviz_core.analyses.coreference_heads.document_figure import Guess, mention_text
from bertviz_core.analyses.coreference_heads.result import AntecedentCounts, CoreferenceHeads
from bertviz_core.analyses.details import GuessQuery, StoredParts, picked
from bertviz_core.corpora.annotated import CoreferenceCorpus
from bertviz_core.corpora.coreference import CoreferenceDocument, Span
from bertviz_core.corpora.coreference.mentions import TYPES, head_words, mention_type
from bertviz_core.corpora.word_search import has
from bertviz_core.heads import DirectedHead

LONGEST = 4  # passages long may a sentence be before it is cut
Documents = Callable[[Iterable[int]], Iterator[tuple[int, dict[str, Any]]]]
MAX_ITEMS = 1000  # whose guesses are in the result; those for all are on disk beside it


def passages(sentences: Sequence[int], words: int, length: int = 160) -> list[Span]:
    """A document's words in runs of whole sentences of about `length` words, as (first, one past the last); `sentences`
    are the first words of each."""
    starts = [*sentences, words]
    edges = [edge for start, end in pairwise(starts) for edge in (*range(start + LONGEST * length, end, length), end)]
    runs: list[Span] = []
    first, last = 0, 0
    for edge in edges:
        if edge - first > length and last > first:
            runs.append((first, last))
            first = last
        last = edge
    return [*runs, (first, last)]


def document_record(document: CoreferenceDocument, heads: Sequence[int]) -> dict[str, Any]:
    """`{"number", "name", "words", "sentences", "mentions"}`, a mention being [start, end, cluster, head, type]."""
    mentions = [
        [mention.start, mention.end, mention.cluster, head, TYPES[mention_type(document, head)]]
        for mention, head in zip(document.mentions, heads, strict=True)
    ]
    texts = {"words": list(document.words), "sentences": list(document.sentences), "mentions": mentions}
    return {"number": document.number, "name": document.name} | texts


def cut(document: dict[str, Any], guesses: Iterable[Guess], passage: Span) -> tuple[dict[str, Any], list[Guess]]:
    """One passage as a document of its own, and the guesses between mentions whose head words stand in it."""
    first, end = passage
    new: dict[int, int] = {}
    mentions = []
    for index, (start, stop, cluster, head, kind) in enumerate(document["mentions"]):
        if first <= head < end:
            new[index] = len(new)
            mentions.append([max(start, first) - first, min(stop, end) - first, cluster, head - first, kind])
    sentences = [start - first for start in document["sentences"] if first <= start < end]
    texts = {"words": document["words"][first:end], "sentences": sentences, "mentions": mentions}
    inside = (guess for guess in guesses if guess.mention in new and guess.guessed in new)
    return document | texts, [replace(g, mention=new[g.mention], guessed=new[g.guessed]) for g in inside]


class ItemGuesses(NamedTuple):
    """Consecutive items of a corpus with guesses among the preceding mentions.

    items: (item, 5) the number of the document; the mention; the first word of its passage; the first word of the
        window in which it is scored, and one past that window's last.
    guess, weight, right: (..., item) the mention guessed, the attention that it has, and whether it is right; first
        axes (direction, layer, head), or none for one head.
    """

    items: np.ndarray
    guess: np.ndarray
    weight: np.ndarray
    right: np.ndarray

    @classmethod
    def joined(cls, parts: Iterable[Self], shape: Sequence[int] = ()) -> Self:
        """The items of all parts; `shape` is that of the first axes."""
        guess = np.zeros((*shape, 0), dtype=np.uint16)
        none = (np.zeros((0, 5), dtype=np.uint32), guess, guess.astype(np.float16), guess.astype(bool))
        items, *arrays = zip(none, *parts, strict=True)
        return cls(np.concatenate(items), *(np.concatenate(each, -1) for each in arrays))

    def take(self, index: np.ndarray | slice) -> Self:
        """The items with these indices."""
        return type(self)(self.items[index], *(each[..., index] for each in self[1:]))

    def by_passage(self) -> Self:
        """In the order of passages; within one passage in their own order."""
        return self.take(np.argsort(self.passages(), kind="stable"))

    def passages(self) -> np.ndarray:
        """(item,) int64 a number for each passage, which grows with its document and place in it."""
        return self.items[:, 0].astype(np.int64) << 32 | self.items[:, 2]

    def guesses(self) -> list[Guess]:
        """Those of one head."""
        columns = (self.items[:, 1], *self[1:])
        return [Guess(*row) for row in zip(*(column.tolist() for column in columns), strict=True)]


def first_guesses(result: CoreferenceHeads, choice: DirectedHead) -> ItemGuesses:
    """A head's guesses for the items of the `first_documents`."""
    chains = [[mention[2] for mention in document["mentions"]] for document in result.first_documents]
    guess = result.guess[choice.at]
    weight = result.weight[choice.at]
    pairs = zip(*result.items[:, :2].T.tolist(), guess.tolist(), strict=True)
    right = [chains[number][mention] == chains[number][other] for number, mention, other in pairs]
    return ItemGuesses(result.items, guess, weight, np.array(right, dtype=bool))


@dataclass(frozen=True)
class ListedGuess:
    """A guess as words."""

    mention: str
    guessed: str
    weight: float
    right: bool
    window: tuple[str, ...]  # the words of that in which the mention is scored
    head: int  # the mention's head word in the window, from 0


@dataclass(frozen=True)
class PassageExample:
    """One passage with a head's guesses."""

    document: dict[str, Any]  # of its own, see `document_record`
    span: Span  # where it stands in its document
    total: int  # how many of its mentions are scored
    right: int  # how many are guessed right
    drawn: list[Guess]  # those of `listed` whose two mentions stand in the passage
    listed: list[ListedGuess]  # the guesses that the query selects

    @property
    def where(self) -> str:
        return f"{self.document['name']}, words {self.span[0] + 1:,}–{self.span[1]:,}"


@dataclass(frozen=True)
class PassageQuery(GuessQuery[PassageExample]):
    """A selection of passages, of an AntecedentCounts or of StoredParts; see GuessQuery. The searched words may also be
    the name of a passage's document."""

    def listing(self, collection: AntecedentCounts | StoredParts) -> "GuessedPassages":
        if not isinstance(collection, StoredParts):
            first = collection.stored.first_documents
            items = first_guesses(collection.stored, self.choice)
            return GuessedPassages(self, items, lambda numbers: ((number, first[number]) for number in numbers))
        parts, source = [], collection.source
        for values in collection.read(ItemGuesses._fields[1:], self.choice.at):  # see `AntecedentSums.take_detail`
            values["right"] = np.unpackbits(values["right"], count=len(values["items"])).astype(bool)
            parts.append(ItemGuesses(**values))

        def read(numbers: Iterable[int]) -> Iterator[tuple[int, dict[str, Any]]]:
            documents = picked(lambda skipped: CoreferenceCorpus(source).documents(skipped), numbers)
            return ((document.number, document_record(document, head_words(document))) for document in documents)

        return GuessedPassages(self, ItemGuesses.joined(parts), read)


class GuessedPassages:
    """Items with one head's guesses, passage by passage; `documents` gives those with some numbers, which ascend, as
    `document_record` does."""

    def __init__(self, query: PassageQuery, items: ItemGuesses, documents: Documents) -> None:
        self.query = query
        self.items = items.by_passage()
        self.documents = documents
        self.starts = np.flatnonzero(np.diff(self.items.passages(), prepend=-1))  # each passage's first item

    def confidence(self) -> np.ndarray:
        steps = np.rint(255 * self.items.weight.astype(float)).astype(np.int64)
        return np.maximum.reduceat(np.where(self._chosen(self.items), steps, -1), self.starts)

    def having(self, indices: np.ndarray) -> np.ndarray:
        numbers, firsts = self.items.items[self.starts[indices]][:, [0, 2]].T
        have = []
        for number, document in self.documents(np.unique(numbers).tolist()):
            named = has([document["name"]], self.query.searched)
            ends = _ends(document)
            for index, first in zip(indices[numbers == number], firsts[numbers == number].tolist(), strict=True):
                if named or has(document["words"][first : ends[first]], self.query.searched):
                    have.append(index)
        return np.array(have, dtype=np.int64)

    def entries(self, indices: Sequence[int]) -> list[PassageExample]:
        starts = [*self.starts.tolist(), None]
        each = [self.items.take(slice(starts[index], starts[index + 1])) for index in indices]
        documents = dict(self.documents(sorted({int(part.items[0, 0]) for part in each})))
        return [self._entry(part, documents[int(part.items[0, 0])]) for part in each]

    def _entry(self, items: ItemGuesses, document: dict[str, Any]) -> PassageExample:
        first = int(items.items[0, 2])
        end = _ends(document)[first]
        chosen = items.take(self._chosen(items))
        guesses = chosen.guesses()
        windows = list(map(tuple, chosen.items[:, 3:].tolist()))
        words = {window: tuple(document["words"][slice(*window)]) for window in windows}  # each once
        listed = []
        for guess, window in zip(guesses, windows, strict=True):
            mention, guessed = (mention_text(document, index) for index in (guess.mention, guess.guessed))
            head = document["mentions"][guess.mention][3] - window[0]
            listed.append(ListedGuess(mention, guessed, guess.weight, guess.right, words[window], head))
        part, drawn = cut(document, guesses, (first, end))
        return PassageExample(part, (first, end), len(items.items), int(items.right.sum()), drawn, listed)

    def _chosen(self, items: ItemGuesses) -> np.ndarray:
        """(item,) bool: whether the reader asks for the item's guess."""
        chosen: np.ndarray = items.weight >= self.query.minimum
        return chosen if self.query.which == "all" else chosen & (items.right == (self.query.which == "right"))


def _ends(document: Mapping[str, Any]) -> dict[int, int]:
    """The first word of each passage -> one past its last."""
    return dict(passages(document["sentences"], len(document["words"])))
