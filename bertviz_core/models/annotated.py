"""Annotated corpora as encoded examples: the sentences of a treebank, and documents with coreference in windows, whole
or, in mode "as in the paper", their beginning (docs/methods.md, sections 1, 5 and 7)."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import count, islice
from typing import ClassVar

import numpy as np

from bertviz_core.corpora import Skipped
from bertviz_core.corpora.annotated import CoreferenceCorpus, Treebank
from bertviz_core.corpora.coreference import CoreferenceDocument, Span
from bertviz_core.corpora.coreference.mentions import Item, head_word_source, head_words, items_of
from bertviz_core.corpora.treebank import Sentence
from bertviz_core.models.encoding import Encoded, framed, pieces_of
from bertviz_core.models.reading import Examples, Reading

COUNTED = ("documents", "sentences", "words", "split_words", "mentions", "chains", "items")


@dataclass(frozen=True, slots=True, kw_only=True)
class EncodedSentence(Encoded):
    """An encoded sentence with its words, governors and relations."""

    sentence: Sentence


@dataclass
class Sentences(Examples[EncodedSentence]):
    """The encoded sentences of a treebank; a reading's `split_words` are the words in several pieces."""

    unit: ClassVar[str] = "sentences"

    def __post_init__(self) -> None:
        self.treebank = Treebank(self.source)

    def read(self, reading: Reading) -> Iterator[EncodedSentence]:
        reading.counts |= {"format": self.treebank.form.name, "words": 0, "split_words": 0}
        return islice(self._encoded(reading), self.settings.limit)

    def _encoded(self, reading: Reading) -> Iterator[EncodedSentence]:
        maximum = self.settings.max_length
        for sentence in self.treebank.sentences(reading.skipped):
            noted = Skipped()
            pieces = pieces_of(sentence.words, self.tokens, sentence.where, noted)
            encoded = framed([pieces], self.tokens.single)
            if len(encoded[0]) > maximum:
                reading.skipped.add(f"a sentence of more than {maximum} tokens", sentence.where)
                continue
            for reason, entry in noted.reasons.items():
                reading.skipped.add(reason, sentence.where, entry["count"])
            reading.counts["words"] += len(pieces)
            reading.counts["split_words"] += sum(len(piece) > 1 for piece in pieces)
            number = sentence.number
            yield EncodedSentence(number, sentence.where, *encoded, sentence=sentence, document_number=number)


@dataclass(frozen=True, slots=True, kw_only=True)
class Window(Encoded):
    """`document.words[span[0]:span[1]]`; the `words` of its tokens count from the window's first word."""

    document: CoreferenceDocument
    heads: tuple[int, ...]  # the head word of each of the document's mentions, counted in the document
    span: Span
    items: tuple[Item, ...]  # what is scored here; the first of them is number `item_number` of the corpus
    item_number: int


@dataclass
class Windows(Examples[Window]):
    """The windows of a coreference corpus that have items: the beginning of each document, or all of it in windows that
    overlap by half, an item scored where most text stands before it. Of a reading's counts, `items` are the mentions
    that are scored and `head_words` says what decided the head words."""

    unit: ClassVar[str] = "windows"

    def __post_init__(self) -> None:
        self.corpus = CoreferenceCorpus(self.source)

    def read(self, reading: Reading) -> Iterator[Window]:
        reading.counts |= {"format": self.corpus.form.name, "head_words": "", **dict.fromkeys(COUNTED, 0)}
        yield from islice(self._all(reading), self.settings.limit)
        if not reading.counts["items"]:
            hint = f"Read as {self.corpus.form.name}: check that its last column, or `Entity=`, holds chains."
            raise self.source.error("No mention has an antecedent that could be guessed.", hint)

    def _all(self, reading: Reading) -> Iterator[Window]:
        numbers, decided, counts = count(), set(), reading.counts
        for document in self.corpus.documents(reading.skipped):
            decided.add(head_word_source(document))
            counts["head_words"] = " and ".join(sorted(decided))
            counts["documents"] += 1
            counts["sentences"] += len(document.sentences)
            counts["words"] += len(document.words)
            counts["mentions"] += len(document.mentions)
            counts["chains"] += len({mention.cluster for mention in document.mentions})
            for window in self._windows(document, numbers, reading) if document.words else ():
                counts["items"] += len(window.items)
                yield window

    def _windows(self, document: CoreferenceDocument, numbers: Iterator[int], reading: Reading) -> Iterator[Window]:
        budget = self.room(self.tokens.single)
        pieces = pieces_of(document.words, self.tokens, document.name, reading.skipped)
        reading.counts["split_words"] += sum(len(piece) > 1 for piece in pieces)
        if long := sum(len(piece) > budget // 2 for piece in pieces):
            reading.skipped.add("a word longer than half a window (cut)", document.name, long)
        pieces = [piece[: budget // 2] for piece in pieces]
        ends = np.cumsum([len(piece) for piece in pieces])
        spans = [(0, _whole_sentences(document.sentences, ends, budget))]
        if not self.settings.paper:
            spans = _overlapping(ends, budget)
        elif (end := spans[0][1]) < len(document.words):
            mentions, tokens = sum(mention.end > end for mention in document.mentions), self.settings.max_length
            reading.skipped.add(f"a word past the cut at {tokens} tokens", document.name, len(document.words) - end)
            if mentions:
                reading.skipped.add(f"a mention cut off at {tokens} tokens", document.name, mentions)
        heads = head_words(document)
        items_of_spans = items_of(document, heads, spans, reading.skipped)
        for span, items in zip(spans, items_of_spans, strict=True):
            if items:
                frame = framed([pieces[slice(*span)]], self.tokens.single)
                where = f"{document.name}, word {span[0] + 1}"
                yield Window(
                    next(numbers), where, *frame, document=document, heads=heads, span=span, items=tuple(items),
                    item_number=reading.counts["items"], document_number=document.number,
                )  # fmt: skip


def _whole_sentences(starts: Sequence[int], ends: np.ndarray, budget: int) -> int:
    """How many words the sentences hold that fit `budget` tokens; of a first one that does not fit, what does."""
    fit = int(np.searchsorted(ends, budget, side="right"))
    return max(start for start in (*starts, len(ends)) if start <= fit) or fit


def _overlapping(ends: np.ndarray, budget: int) -> list[Span]:
    """Windows of at most `budget` tokens, each beginning half a window after the last.

    `ends` counts the tokens up to the end of each word; no word is longer than half a window.
    """
    starts = np.concatenate([[0], ends[:-1]])
    spans: list[Span] = []
    first = 0
    while not spans or spans[-1][1] < len(ends):
        spans.append((first, int(np.searchsorted(ends, starts[first] + budget, side="right"))))
        first = int(np.searchsorted(starts, starts[first] + budget // 2))
    return spans
