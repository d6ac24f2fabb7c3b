"""Passages with one head's guesses: the first guesses from the result, all of them from disk, words from the corpus."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple, Self

import numpy as np

from bertviz_core.analyses.base.guess_lists import StoredParts, picked
from bertviz_core.analyses.base.list_view import GuessList
from bertviz_core.analyses.coreference_heads.antecedents import AntecedentCounts
from bertviz_core.analyses.coreference_heads.document_figure import Guess, mention_text
from bertviz_core.analyses.coreference_heads.groups import TYPE_ROWS
from bertviz_core.analyses.coreference_heads.result import CoreferenceHeads, CoreferenceView, DocumentRecord
from bertviz_core.corpora.annotated import CoreferenceCorpus
from bertviz_core.corpora.coreference import CoreferenceDocument, Span
from bertviz_core.corpora.coreference.mentions import TYPES, head_words, mention_type
from bertviz_core.corpora.word_search import has
from bertviz_core.heads import DirectedHead

MAX_ITEMS = 1000  # items whose guesses are in a result
WHOLE_SENTENCE_PASSAGES = 4  # A sentence is left whole up to so many times the length of a passage.
ReadDocuments = Callable[[Iterable[int]], Iterable[tuple[int, DocumentRecord]]]


def passages(sentences: Sequence[int], words: int, length: int = 160) -> list[Span]:
    """Cut a document into runs of whole sentences (docs/methods.md, section 7, Lists of passages).

    Args:
        sentences: The first word of each sentence, from 0.
        length: About how many words a passage has; a sentence of more than WHOLE_SENTENCE_PASSAGES times as many is
            cut.

    Returns:
        The first word of each passage, and the word after its last one.
    """
    edges: list[int] = []
    for start, end in pairwise([*sentences, words]):
        edges += [*range(start + WHOLE_SENTENCE_PASSAGES * length, end, length), end]
    runs: list[Span] = []
    first = last = 0
    for edge in edges:
        if edge - first > length and last > first:
            runs.append((first, last))
            first = last
        last = edge
    return [*runs, (first, last)]


def document_record(document: CoreferenceDocument, heads: Sequence[int]) -> DocumentRecord:
    """A document as results store it."""
    mentions = []
    for mention, head in zip(document.mentions, heads, strict=True):
        kind = TYPES[mention_type(document, head)]
        mentions.append([mention.start, mention.end, mention.cluster, head, kind])
    return {
        "number": document.number,
        "name": document.name,
        "words": list(document.words),
        "sentences": list(document.sentences),
        "mentions": mentions,
    }


def cut_passage(
    document: DocumentRecord, guesses: Iterable[Guess], passage: Span
) -> tuple[DocumentRecord, list[Guess]]:
    """One passage as a document, and the guesses between mentions whose head words are in it."""
    first, end = passage
    # Indices of mentions: document -> passage.
    indices: dict[int, int] = {}
    mentions = []
    for index, (start, stop, cluster, head, kind) in enumerate(document["mentions"]):
        if first <= head < end:
            indices[index] = len(indices)
            own = [max(start, first) - first, min(stop, end) - first]
            mentions.append([*own, cluster, head - first, kind])
    sentences = [start - first for start in document["sentences"] if first <= start < end]
    inside = []
    for guess in guesses:
        if guess.mention in indices and guess.guessed in indices:
            ends = indices[guess.mention], indices[guess.guessed]
            inside.append(Guess(*ends, guess.weight, guess.right))
    cut: DocumentRecord = {
        "number": document["number"],
        "name": document["name"],
        "words": document["words"][first:end],
        "sentences": sentences,
        "mentions": mentions,
    }
    return cut, inside


class ItemGuesses(NamedTuple):
    """Consecutive items of a corpus with guesses among the preceding mentions.

    Attributes:
        items: (item, 5) number of the document, mention, first word of its passage; first word and end of its window.
        guess: (direction, layer, head, item), or (item,) for one head: the mention that is guessed.
        weight: Of the same shape: the attention to it, 0 to 1.
        right: Of the same shape: whether it is an antecedent.
    """

    items: np.ndarray
    guess: np.ndarray
    weight: np.ndarray
    right: np.ndarray

    @classmethod
    def joined(cls, parts: Iterable[Self], shape: Sequence[int] = ()) -> Self:
        """The items of all parts; `shape` is (direction, layer, head)."""
        guess = np.zeros((*shape, 0), np.uint16)
        none = (np.zeros((0, 5), dtype=np.uint32), guess, guess.astype(np.float16), guess.astype(bool))
        items, *arrays = zip(none, *parts, strict=True)
        return cls(np.concatenate(items), *(np.concatenate(each, -1) for each in arrays))

    def take(self, index: np.ndarray | slice) -> Self:
        """Some of the items, by an index (item,) or a slice."""
        return type(self)(self.items[index], *(each[..., index] for each in self[1:]))

    def by_passage(self) -> Self:
        """The same items, those of a passage one after the other."""
        return self.take(np.argsort(self.passages(), kind="stable"))

    def passages(self) -> np.ndarray:
        """(item,) int64 a number for each passage, in the order of the corpus."""
        return self.items[:, 0].astype(np.int64) << 32 | self.items[:, 2]

    def guesses(self) -> list[Guess]:
        """Those of one head."""
        columns = [column.tolist() for column in (self.items[:, 1], *self[1:])]
        return list(map(Guess, *columns))


def first_guesses(result: CoreferenceHeads, choice: DirectedHead) -> ItemGuesses:
    """A head's guesses in `first_documents`."""
    guess = result.guess[choice.at]
    right = []
    for (number, mention), guessed in zip(result.items[:, :2].tolist(), guess.tolist(), strict=True):
        mentions = result.first_documents[number]["mentions"]
        right.append(mentions[mention][2] == mentions[guessed][2])
    return ItemGuesses(result.items, guess, result.weight[choice.at], np.array(right, dtype=bool))


def of_type(items: ItemGuesses, kind: str, read: ReadDocuments) -> ItemGuesses:
    """The items whose mentions are of one of TYPE_ROWS, which only their documents tell."""
    if kind == TYPE_ROWS[0]:
        return items
    numbers = items.items[:, 0]
    is_kept = np.zeros(len(numbers), dtype=bool)
    for number, document in read(np.unique(numbers).tolist()):
        own = numbers == number
        is_kept[own] = [document["mentions"][mention][-1] == kind for mention in items.items[own, 1].tolist()]
    return items.take(is_kept)


@dataclass(frozen=True)
class ListedGuess:
    """A guess as words.

    Attributes:
        mention: The words of the mention that is scored.
        guessed: The words of the mention that is guessed.
        weight: The attention between the two, 0 to 1.
        right: Whether the guessed mention is an antecedent.
        antecedents: The words of each antecedent in the window.
        window: The words of the window in which the mention is scored.
        head: The mention's head word in the window, from 0.
    """

    mention: str
    guessed: str
    weight: float
    right: bool
    antecedents: tuple[str, ...]
    window: tuple[str, ...]
    head: int


@dataclass(frozen=True)
class PassageExample:
    """One passage with a head's guesses.

    Attributes:
        span: Its words in the whole document.
        total: The number of its mentions that are scored.
        right: The number of right guesses.
        drawn: Those of `listed` whose two mentions are in the passage.
        listed: The guesses that are chosen.
    """

    document: DocumentRecord
    span: Span
    total: int
    right: int
    drawn: list[Guess]
    listed: list[ListedGuess]

    @property
    def where(self) -> str:
        """The document and the words of the passage, from 1."""
        first, end = self.span
        return f"{self.document['name']}, words {first + 1:,}–{end:,}"


class GuessedPassages(GuessList[PassageExample]):
    """Passages; the searched words may also be the name of a passage's document.

    Attributes:
        read: Yields the documents with some ascending numbers.
        items: The items of the mentions of the chosen type, those of a passage together.
        starts: (passage,) the first item of each passage.
    """

    def __init__(self, counts: AntecedentCounts, view: CoreferenceView, lists: StoredParts | None) -> None:
        """Read the guesses of the chosen head.

        Args:
            counts: Of the result.
            view: What is chosen, resolved.
            lists: All passages; None for those of the first documents, which the result has.
        """
        self.view = view
        self.read, items = _items(counts, view.choice(), lists)
        self.items = of_type(items, view.kind, self.read).by_passage()
        self.starts = np.flatnonzero(np.diff(self.items.passages(), prepend=-1))

    def confidence(self) -> np.ndarray:
        """(passage,) int64, as `GuessList.confidence` says."""
        steps = np.rint(255 * self.items.weight.astype(float)).astype(np.int64)
        return np.maximum.reduceat(np.where(self._is_selected(self.items), steps, -1), self.starts)

    def having(self, indices: np.ndarray) -> np.ndarray:
        """Those of the passages, (passage,) indices, that have the searched words, or are of a document with this
        name."""
        searched = self.words
        numbers, _, firsts, *_ = self.items.items[self.starts[indices]].T
        found = []
        for number, document in self.read(np.unique(numbers).tolist()):
            is_named = has([document["name"]], searched)
            ends = _ends(document)
            own = numbers == number
            for index, first in zip(indices[own], firsts[own].tolist(), strict=True):
                if is_named or has(document["words"][first : ends[first]], searched):
                    found.append(index)
        return np.array(found, dtype=np.int64)

    def entries(self, indices: Sequence[int]) -> list[PassageExample]:
        """The passages with these indices in the listing, with the guesses of the head."""
        ends = [*self.starts[1:], None]
        parts = [self.items.take(slice(self.starts[index], ends[index])) for index in indices]
        numbers = [int(part.items[0, 0]) for part in parts]
        documents = dict(self.read(sorted(set(numbers))))
        return [self._entry(part, documents[number]) for part, number in zip(parts, numbers, strict=True)]

    def _entry(self, items: ItemGuesses, document: DocumentRecord) -> PassageExample:
        first = int(items.items[0, 2])
        span = (first, _ends(document)[first])
        selected = items.take(self._is_selected(items))
        guesses = selected.guesses()
        windows = [tuple(ends) for ends in selected.items[:, 3:].tolist()]
        words = {window: tuple(document["words"][slice(*window)]) for window in windows}  # Each window is cut once.
        listed = []
        for guess, window in zip(guesses, windows, strict=True):
            mention = mention_text(document, guess.mention)
            guessed = mention_text(document, guess.guessed)
            head = document["mentions"][guess.mention][3] - window[0]
            right = tuple(mention_text(document, index) for index in antecedents(document, guess.mention, window))
            listed.append(
                ListedGuess(
                    mention=mention,
                    guessed=guessed,
                    weight=guess.weight,
                    right=guess.right,
                    antecedents=right,
                    window=words[window],
                    head=head,
                )
            )
        part, drawn = cut_passage(document, guesses, span)
        return PassageExample(
            document=part, span=span, total=len(items.items), right=int(items.right.sum()), drawn=drawn, listed=listed
        )

    def _is_selected(self, items: ItemGuesses) -> np.ndarray:
        """(item,) bool: whether the item's guess is listed."""
        is_selected: np.ndarray = items.weight >= self.view.least_weight
        if self.view.guesses != "all":
            is_selected &= items.right == (self.view.guesses == "right")
        return is_selected


def _items(
    counts: AntecedentCounts, choice: DirectedHead, lists: StoredParts | None
) -> tuple[ReadDocuments, ItemGuesses]:
    """What reads the documents, and the items with the guesses of one head."""
    if lists is None:
        first = counts.stored.first_documents
        return lambda numbers: ((number, first[number]) for number in numbers), first_guesses(counts.stored, choice)
    parts = []
    # `AntecedentSums.take_detail` has written these.
    for values in lists.read(ItemGuesses._fields[1:], choice.at):
        values["right"] = np.unpackbits(values["right"], count=len(values["items"])).astype(bool)
        parts.append(ItemGuesses(**values))

    def read(numbers: Iterable[int]) -> Iterator[tuple[int, DocumentRecord]]:
        for document in picked(CoreferenceCorpus(lists.source).documents, numbers):
            yield document.number, document_record(document, head_words(document))

    return read, ItemGuesses.joined(parts)


def antecedents(document: DocumentRecord, mention: int, window: Span) -> list[int]:
    """The preceding mentions of a mention's chain that have other head words, within a window, as in `find_items`."""
    mentions = document["mentions"]
    _, _, chain, own, _ = mentions[mention]
    first, end = window
    return [
        index
        for index, (_, _, cluster, head, _) in enumerate(mentions[:mention])
        if cluster == chain and head != own and first <= head < end
    ]


def _ends(document: DocumentRecord) -> dict[int, int]:
    """Each passage's first word -> its end."""
    return dict(passages(document["sentences"], len(document["words"])))
