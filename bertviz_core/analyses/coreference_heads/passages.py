"""Passages of a coreference corpus with one head's guesses: one page of a filtered list, for a corpus of any size.

A passage is a run of whole sentences of one document. The first ones are in the result; the guesses in all of them are
on disk, chunk by chunk, and their words are read from the corpus.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import pairwise
from typing import Any

import numpy as np

from bertviz_core.analyses.coreference_heads.document_figure import mention_text
from bertviz_core.analyses.coreference_heads.guesses import Guess, Items, document_record
from bertviz_core.analyses.coreference_heads.result import AntecedentCounts
from bertviz_core.analyses.details import GuessQuery, InOrder, Ranked, StoredParts
from bertviz_core.corpora.annotated import CoreferenceCorpus
from bertviz_core.corpora.coreference.documents import CoreferenceDocument
from bertviz_core.corpora.coreference.head_words import head_words
from bertviz_core.corpora.skipped import Skipped
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
class Block:
    """Consecutive items with one head's guesses, passage by passage; `text` gives name, beginnings of sentences and
    words of a document by its number in the items, `document` the whole as `guesses.document_record` does."""

    items: Items
    text: Callable[[int], tuple[str, Sequence[int], Sequence[str]]]
    document: Callable[[int], dict[str, Any]]

    def starts(self) -> np.ndarray:
        """(passage,) index of each passage's first item."""
        return np.flatnonzero(np.diff(self.items.passages(), prepend=-1))


@dataclass(frozen=True)
class PassageQuery(GuessQuery[PassageExample]):
    """A selection of passages, of an AntecedentCounts or of StoredParts; see GuessQuery. The searched words may also be
    the name of a passage's document."""

    def blocks(self, collection: AntecedentCounts | StoredParts) -> Iterator[Block]:
        if isinstance(collection, StoredParts):
            yield from self._stored(collection)
        elif len(collection.items):
            yield self._first(collection)

    def ranked(self, block: Block) -> Ranked:
        items, starts = block.items, block.starts()
        confidence = np.rint(255 * items.weight.astype(float)).astype(np.int64)
        highest = np.maximum.reduceat(np.where(self._chosen(items), confidence, -1), starts)
        indices = np.flatnonzero(highest >= 0)
        if self.searched:
            indices = indices[self._have(block, items.table[starts[indices]])]
        return indices, self.confidence_bins(highest)[indices]

    def entry(self, block: Block, index: int) -> PassageExample:
        starts = [*block.starts().tolist(), None]
        items = block.items.take(slice(starts[index], starts[index + 1]))
        number, first = items.table[0, [0, 2]].tolist()
        document = block.document(number)
        span = first, dict(passages(document["sentences"], len(document["words"])))[first]
        chosen = items.take(self._chosen(items))
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
        chosen: np.ndarray = items.weight >= self.minimum
        return chosen if self.which == "all" else chosen & (items.right == (self.which == "right"))

    def _have(self, block: Block, firsts: np.ndarray) -> np.ndarray:
        """(passage,) bool, whether each passage, or its document's name, has the words; `firsts` are their first
        items."""
        have, last = [], -1
        for number, first in firsts[:, [0, 2]].tolist():
            if number != last:
                last, (name, sentences, words) = number, block.text(number)
                named, ends = has([name], self.searched), dict(passages(sentences, len(words)))
            have.append(named or has(words[first : ends[first]], self.searched))
        return np.array(have, dtype=bool)

    def _first(self, result: AntecedentCounts) -> Block:
        """The items that a result has."""
        documents, guess = result.first_documents, result.guess[self.choice.at]
        chains = [[mention[2] for mention in document["mentions"]] for document in documents]
        pairs = zip(*result.items[:, :2].T.tolist(), guess.tolist(), strict=True)
        right = np.array([chains[number][mention] == chains[number][other] for number, mention, other in pairs])
        items = Items(result.items, guess, result.weight[self.choice.at], right).by_passage()

        def text(number: int) -> tuple[str, Sequence[int], Sequence[str]]:
            document = documents[number]
            return document["name"], document["sentences"], document["words"]

        return Block(items, text, documents.__getitem__)

    def _stored(self, parts: StoredParts) -> Iterator[Block]:
        """A chunk's items, from the disk, see `AntecedentSums.take_detail`; a passage on the border of two chunks is in
        the first of them."""
        last: Block | None = None
        documents = InOrder(CoreferenceCorpus(parts.source).documents(Skipped()))
        for values in parts.read(("guess", "weight", "right"), self.choice.at):
            values["right"] = np.unpackbits(values["right"], count=len(values["items"])).astype(bool)
            block = _block(Items.of(values), documents)
            if last is not None:
                own = int(np.searchsorted(block.items.passages(), last.items.passages()[-1], side="right"))
                last = replace(last, items=last.items.joined([block.items.take(slice(own))]))
                block = replace(block, items=block.items.take(slice(own, None)))
            if len(block.items):
                if last is not None:
                    yield last
                last = block
        if last is not None:
            yield last


def _block(items: Items, documents: InOrder[CoreferenceDocument]) -> Block:
    """A block of items whose documents are read on demand."""

    @cache
    def read() -> dict[int, CoreferenceDocument]:
        return documents.take(items.table[:, 0].tolist())

    def text(number: int) -> tuple[str, Sequence[int], Sequence[str]]:
        document = read()[number]
        return document.name, document.sentences, document.words

    return Block(items, text, lambda number: document_record(read()[number], head_words(read()[number])))


def _listed(
    document: dict[str, Any], guess: Guess, window: tuple[str, ...], start: int, span: tuple[int, int]
) -> ListedGuess:
    mention, guessed = (mention_text(document, index) for index in (guess.mention, guess.guessed))
    head, other = (document["mentions"][index][3] for index in (guess.mention, guess.guessed))
    is_outside = not span[0] <= other < span[1]
    return ListedGuess(mention, guessed, guess.weight, guess.right, window, head - start, is_outside)
