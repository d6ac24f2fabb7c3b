"""Treebanks and corpora with coreference, read again on every pass."""

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from itertools import islice
from typing import Any, ClassVar

from bertviz_core.corpora import Skipped
from bertviz_core.corpora.annotation_formats import (
    EXPECTED,
    AnnotationKind,
    CoreferenceFormat,
    TreebankFormat,
    format_of,
)
from bertviz_core.corpora.coreference import CoreferenceDocument
from bertviz_core.corpora.format_sampling import NEW_DOCUMENT, survey
from bertviz_core.corpora.source import LONGEST_LINE, Line, Source
from bertviz_core.corpora.treebank import BrokenSentence, Sentence, conll
from bertviz_core.corpora.word_checks import (
    MIN_ALIKE,
    WHERE_TO_GET_WORDS,
    WHOLE_WORDS,
    find_placeholder,
    find_wordpiece,
)
from bertviz_core.errors import InputError

BROKEN = "a document that cannot be read"
MAX_LABELS = 2000  # labels of a treebank, with which sums and tables grow; the largest treebanks have some hundreds


class AnnotatedCorpus:
    """A corpus in one of the formats.

    Opening one raises InputError for a source in none of the formats, and for one without words.

    Attributes:
        survey: What a first pass over the file has found.
        form: The format of the source.
    """

    kind: ClassVar[AnnotationKind]
    form: Any

    def __init__(self, source: Source) -> None:
        self.source = source
        self.survey = survey(source)
        self.form = format_of(self.kind, self.survey)
        words = list(self.form.words(self.survey))
        if (placeholder := find_placeholder(words, alike=True)) is not None:
            what = f"Read as {self.form.name}, the file has no words: in their place is {placeholder[:40]!r}."
            raise source.error(what, WHERE_TO_GET_WORDS)
        if piece := find_wordpiece(words, special=True):
            what = (
                f"Read as {self.form.name}, the words are pieces of a tokenizer's vocabulary, such as {piece[:40]!r}."
            )
            raise source.error(what, f"{WHOLE_WORDS} Coreference jsonlines may have `subtoken_map`.")


class Treebank(AnnotatedCorpus):
    """A treebank in one of the formats.

    Attributes:
        form: The format of the source.
    """

    kind = "treebank"
    form: TreebankFormat

    def __init__(self, source: Source) -> None:
        super().__init__(source)
        self.reader = self.form.open(self.survey)
        self._check_trees()

    def _check_trees(self) -> None:
        """Raises InputError where every word of the sample is a root, and there are MIN_ALIKE beside others."""
        roots = 0
        for block in self.survey.blocks:
            with suppress(BrokenSentence):
                sentence = self.reader.sentence(0, block.rows)
                if sentence and any(sentence.governors):
                    return
                roots += len(sentence) if sentence and len(sentence) > 1 else 0
        if roots >= MIN_ALIKE:
            what = f"Read as {self.form.name}, the file has no trees: every word is a root."
            raise self.source.error(what, "Give the number of each word's governor, and 0 for one root of a sentence.")

    def names_documents(self, limit: int | None = None) -> bool:
        """Whether several documents begin (`# newdoc`) in the file, or among its first `limit` sentences."""
        if limit is None:
            return self.survey.new_documents > 1
        named = (block for block in islice(blocks(self.source), limit) if begins_document(block))
        return len(list(islice(named, 2))) == 2

    def sentences(self, skipped: Skipped) -> Iterator[Sentence]:
        """Every sentence that is a tree; others are counted.

        Raises:
            InputError: No sentence is a tree, or there are too many labels.
        """
        return (sentence for sentence, _ in self.sentences_with_lines(skipped))

    def sentences_with_lines(self, skipped: Skipped) -> Iterator[tuple[Sentence, list[Line]]]:
        """The sentences as `sentences` has them, each with its lines of the file."""
        number = document = 0
        labels = set[str]()
        first: BrokenSentence | None = None
        for block in blocks(self.source):
            document += bool(number) and begins_document(block)
            try:
                sentence = self.reader.sentence(number, block)
            except BrokenSentence as broken:
                skipped.add(broken.reason, broken.where, unit="sentences")
                first = first or broken
                number += 1
                continue
            if sentence is not None:
                labels.update(sentence.relations, sentence.tags)
                if len(labels) > MAX_LABELS:
                    what = f"There are more than {MAX_LABELS:,} different relations and parts of speech."
                    raise self.source.error(what, "Check that no columns are swapped.", sentence.line)
                yield replace(sentence, document=document) if document else sentence, block
                number += 1
        if first and not labels:
            if first.reason == conll.NO_WORDS:
                what = f"The file has no words: the first sentence has {first.reason} ({first.detail})."
                raise self.source.error(what, WHERE_TO_GET_WORDS, first.line)
            name = self.form.name
            of_all = f"None of the {number:,} sentences can be read as {name}; the first one"
            what = f"{of_all if number > 1 else f'The only sentence cannot be read as {name}; it'} has {first.reason}"
            detail = f" ({first.detail})." if first.detail else "."
            raise self.source.error(what + detail, "Fix the file and try again.", first.line)
        if not labels:
            raise self.source.error("The file has no words.", EXPECTED[self.kind])


class CoreferenceCorpus(AnnotatedCorpus):
    """A corpus with coreference in one of the formats.

    Attributes:
        form: The format of the source.
    """

    kind = "coreference"
    form: CoreferenceFormat

    def documents(self, skipped: Skipped) -> Iterator[CoreferenceDocument]:
        """Every document; broken ones, whose bounds are known, and mentions that are skipped are counted.

        Raises:
            InputError: The bounds of a broken document are not known, or no document can be read.
        """
        number = 0
        first: InputError | None = None
        for draft in self.form.read(self.source):
            if not (draft.words or draft.error):
                continue
            try:
                document = draft.to_document(number)
            except InputError as error:
                if not draft.is_bounded:
                    raise
                skipped.add(BROKEN, f"{error.where.rpartition(', ')[2]}: {error.what}", unit="documents")
                first = first or error
                continue
            skipped.merge(draft.skipped)
            number += 1
            yield document
        if first and not number:
            raise first

    def check_ends(self) -> None:
        """Raises InputError where the spans of jsonlines seem to end after their last word: each mention would have a
        word too many."""
        if self.form.has_exclusive_spans(self.survey):
            what = "No mention has one word, as pronouns have: the spans in `clusters` seem to be [first, end]."
            raise self.source.error(what, "Write [first, last]: subtract 1 from the second number of each span.")

    def check_chains(self, links: int) -> None:
        """Raises InputError where no mention has an earlier one in its chain; `links` is the number of those that
        have."""
        if not links:
            what = f"Read as {self.form.name}, the file has no chain of two mentions."
            raise self.source.error(what, EXPECTED[self.kind])


def begins_document(block: Sequence[Line]) -> bool:
    """Whether a comment of a block begins a document."""
    return any(NEW_DOCUMENT.match(text) for _, text in block)


def blocks(source: Source) -> Iterator[list[Line]]:
    """The lines between blank lines.

    Raises:
        InputError: A block, which is in memory as a whole, is longer than any sentence.
    """
    block: list[Line] = []
    length = 0
    for number, text in source.lines():
        if text.strip():
            block.append((number, text))
            length += len(text) + 1
            if length > LONGEST_LINE:
                what = f"The sentence that begins here is longer than {LONGEST_LINE / 1e6:.0f} MB."
                raise source.error(what, "Put a blank line between sentences.", block[0][0])
        elif block:
            yield block
            block = []
            length = 0
    if block:
        yield block
