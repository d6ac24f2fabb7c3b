"""The sentences of treebanks, and windows of documents with coreference, as encoded examples."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import count

import numpy as np

from bertviz_core.corpora import Skipped
from bertviz_core.corpora.annotated import CoreferenceCorpus, Treebank
from bertviz_core.corpora.coreference import CoreferenceDocument, Span
from bertviz_core.corpora.coreference.mentions import Item, find_items, head_word_source, head_words
from bertviz_core.corpora.treebank import Sentence
from bertviz_core.inputs.encoded_corpus import EncodedCorpus, Reading
from bertviz_core.inputs.encoding import Encoded, framed, pieces_of


@dataclass(frozen=True, slots=True, kw_only=True)
class EncodedSentence(Encoded):
    """An encoded sentence with its words, governors and relations. Its `document_number` is that of its unit: of the
    document where the treebank names several, else of the sentence itself.

    Attributes:
        is_unit: Whether the sentence is the unit of intervals; else its document is.
    """

    sentence: Sentence
    is_unit: bool = True


@dataclass
class Sentences(EncodedCorpus[EncodedSentence]):
    """The encoded sentences of a treebank; a reading's `split_words` are the words in several pieces."""

    unit = "sentences"

    def encoded(self, reading: Reading) -> Iterator[EncodedSentence]:
        """Every sentence that is a tree and fits; others are counted in `reading`."""
        treebank = Treebank(self.source)
        maximum = self.settings.max_length
        counts = reading.counts
        is_unit = not treebank.names_documents(self.settings.limit)
        counts |= {"format": treebank.form.name, "words": 0, "split_words": 0, "vocabulary": len(self.tokens.ordinary)}
        counts |= {"unit": "sentences"} if is_unit else {"unit": "documents", "documents": 0}
        last = -1
        for sentence in treebank.sentences(reading.skipped):
            number, where = sentence.number, sentence.where
            changed = Skipped()
            pieces = pieces_of(sentence.words, self.tokens, where, changed)
            encoded = framed([pieces], self.tokens.single)
            if len(encoded[0]) > maximum:
                reading.skipped.add(f"a sentence of more than {maximum} tokens", where, unit="sentences")
                continue
            reading.skipped.merge(changed)
            counts["words"] += len(pieces)
            counts["split_words"] += sum(len(piece) > 1 for piece in pieces)
            unit = number if is_unit else sentence.document
            if not is_unit:
                counts["documents"] += unit != last
                last = unit
            yield EncodedSentence(number, where, *encoded, sentence=sentence, document_number=unit, is_unit=is_unit)


@dataclass(frozen=True, slots=True, kw_only=True)
class DocumentWindow(Encoded):
    """`document.words[span[0]:span[1]]`; the `words` of its tokens count from the window's first word.

    Attributes:
        document: The whole document.
        heads: The head word of each of the document's mentions, counted in the document.
        span: The window's first word in the document, and the word after its last one.
        items: The mentions to score.
        item_number: The number in the corpus of the first item.
    """

    document: CoreferenceDocument
    heads: tuple[int, ...]
    span: Span
    items: tuple[Item, ...]
    item_number: int


@dataclass
class Windows(EncodedCorpus[DocumentWindow]):
    """The windows of a coreference corpus with mentions to score: the beginning of each document in mode paper, else
    windows that overlap by half, in which a mention is scored with as much text before it as possible."""

    unit = "windows"

    def encoded(self, reading: Reading) -> Iterator[DocumentWindow]:
        """Every window with a mention to score.

        Raises:
            InputError: No mention has an antecedent that could be guessed.
        """
        corpus = CoreferenceCorpus(self.source)
        corpus.check_ends()
        counts = reading.counts
        numbers = count()
        decided = set()
        counts |= {"format": corpus.form.name, "head_words": "", "vocabulary": len(self.tokens.ordinary)}
        counts |= dict.fromkeys(("documents", "sentences", "words", "split_words", "mentions", "chains", "items"), 0)
        for document in corpus.documents(reading.skipped):
            decided.add(head_word_source(document))
            counts["head_words"] = " and ".join(sorted(decided))
            counts["documents"] += 1
            counts["sentences"] += len(document.sentences)
            counts["words"] += len(document.words)
            counts["mentions"] += len(document.mentions)
            counts["chains"] += len({mention.cluster for mention in document.mentions})
            if document.words:
                yield from self._windows(document, numbers, reading)
        if not counts["items"]:
            hint = f"Read as {corpus.form.name}: check that its last column, or `Entity=`, holds chains."
            raise self.source.error("No mention has an antecedent that could be guessed.", hint)

    def _windows(
        self, document: CoreferenceDocument, numbers: Iterator[int], reading: Reading
    ) -> Iterator[DocumentWindow]:
        budget = self.room(self.tokens.single)
        name = document.name
        counts = reading.counts
        skipped = reading.skipped
        pieces = pieces_of(document.words, self.tokens, name, skipped)
        counts["split_words"] += sum(len(piece) > 1 for piece in pieces)
        long = sum(len(piece) > budget // 2 for piece in pieces)
        skipped.add("a word longer than half a window (cut)", name, long)
        pieces = [piece[: budget // 2] for piece in pieces]
        ends = np.cumsum(list(map(len, pieces)))
        if self.settings.paper:
            fit = int(np.searchsorted(ends, budget, side="right"))
            # Whole sentences; of a first one that does not fit, what does.
            end = max(start for start in (*document.sentences, len(ends)) if start <= fit) or fit
            spans = [(0, end)]
            mentions = sum(mention.end > end for mention in document.mentions)
            tokens = self.settings.max_length
            skipped.add(f"a word past the cut at {tokens} tokens", name, len(ends) - end)
            skipped.add(f"a mention cut off at {tokens} tokens", name, mentions)
        else:
            spans = _overlapping(ends, budget)
        heads = head_words(document)
        for span, items in zip(spans, find_items(document, heads, spans, skipped), strict=True):
            if not items:
                continue
            item_number = counts["items"]
            counts["items"] += len(items)
            yield DocumentWindow(
                next(numbers),
                f"{name}, word {span[0] + 1}",
                *framed([pieces[slice(*span)]], self.tokens.single),
                document=document,
                heads=heads,
                span=span,
                items=tuple(items),
                item_number=item_number,
                document_number=document.number,
            )


def _overlapping(ends: np.ndarray, budget: int) -> list[Span]:
    """Windows of at most `budget` tokens that overlap by half; `ends`, (word,), counts the tokens up to its end."""
    starts = np.concatenate([[0], ends[:-1]])
    spans: list[Span] = []
    first = 0
    while not spans or spans[-1][1] < len(ends):
        spans.append((first, int(np.searchsorted(ends, starts[first] + budget, side="right"))))
        first = int(np.searchsorted(starts, starts[first] + budget // 2))
    return spans
