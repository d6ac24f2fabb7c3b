"""Opens a source with the reader that `format_detection` chooses; reads texts, and word vectors in GloVe's format."""

import hashlib
import re
from collections.abc import Callable, Iterator, Sequence, Set
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import islice, pairwise
from typing import Any, ClassVar

import numpy as np

from bertviz_core.corpora import Skipped, format_detection
from bertviz_core.corpora.annotated import BROKEN, CoreferenceCorpus, Treebank, blocks
from bertviz_core.corpora.authors_json import ExampleCorpus
from bertviz_core.corpora.format_sampling import DOCUMENT_TAG, NEW_DOCUMENT, OBJECT, Survey, survey
from bertviz_core.corpora.pairs import PairCorpus, recognize
from bertviz_core.corpora.source import Line, Source
from bertviz_core.corpora.treebank import conll
from bertviz_core.corpora.unsupported_formats import find_unsupported
from bertviz_core.corpora.word_checks import (
    ODD,
    WHERE_TO_GET_WORDS,
    WHOLE_WORDS,
    find_oddity,
    find_placeholder,
    find_wordpiece,
    is_left_out,
)
from bertviz_core.errors import InputError

DOCUMENT_TAG_LINE = "a line of <doc> or </doc> (read as the border of documents)"
SAMPLE = 1000  # records whose words are looked at before any is read
LONGEST_START = 10_000  # characters that are read to recognize a format
# A list of objects or of strings, or an empty one; a text may begin with "[".
JSON_LIST = re.compile(r'\[\s*(?:[{\]]|"(?:[^"\\]|\\.)*"\s*[,\]])')
JSON_ROW = re.compile(r'\s*(?:"[^"]*"\s*:|[{}\[\]],?\s*$)')
# Five words or more between spaces, the first of which begins no mark-up, and the last of which is no cell of a column.
PROSE = re.compile(r"(?![\[{<#(\"])(?:[^\t ]+ +){4,}(?![-_*]$|[0-9]+-)[^\t ()]+")
FULL_TEXT = re.compile(r"#\s*text\s*=\s*(.*)")
WORD2VEC_HEADER = re.compile(r"[0-9]{1,9} [0-9]{1,9}")
VECTORS_HINT = "Give one text file, with a word and its numbers, between spaces, on each line."


def read_text(source: Source) -> "TextCorpus | ExampleCorpus":
    """Text, the authors' JSON, or the sentences of an annotated corpus.

    Raises:
        InputError: The source is empty, or has no words.
    """
    start, is_blank = _file_start(source)
    if not start:
        kind = "contains only blank lines" if is_blank else "is empty"
        raise source.error(f"The file {kind}.", "Write one paragraph per line, a blank line between documents.")
    if source.is_text:
        _check_words(survey(source))
        return TextCorpus(source)
    if recognize(survey(source)):
        return PairText(source)
    if JSON_LIST.match(start) or (source.name.lower().endswith(".json") and not start.startswith("{")):
        return _checked(ExampleCorpus(source))
    if start.lower().startswith(("<!doctype html", "<html")):
        raise source.error("This is an HTML page, not text.", "Save its text as .txt.")
    kind = format_detection.kinds(source)[0]
    if kind != "text":
        return {"treebank": TreebankText, "coreference": CoreferenceText}[kind](source)
    found = survey(source)
    if unsupported := find_unsupported(found):
        raise source.error(f"This is {unsupported.what}.", unsupported.hint)
    if 2 * found.share_of_rows(OBJECT.match) >= 1 or source.name.lower().endswith(".json"):
        return _checked(ExampleCorpus(source, has_lines=True))
    if start.startswith("{") and 2 * found.share_of_rows(JSON_ROW.match) >= 1:
        what = "The JSON is one object over several lines."
        raise source.error(what, 'Write [{"text": "..."}, ...], or one object on each line.')
    _check_words(found)
    return TextCorpus(source)


def is_surely_prose(text: str) -> bool:
    """Whether all lines are so plainly sentences that no format has such lines; False where that takes a survey."""
    return all(PROSE.fullmatch(line.rstrip()) for line in text.splitlines() if line.strip())


def as_text(source: Source, *, is_prose: bool) -> Source:
    """The source as text, whatever it looks like. It keeps its digest where a file with the same bytes is read alike;
    else it is another corpus than that file, and has another digest.

    Args:
        source: What is to be read as text.
        is_prose: Whether it is known that every line is a sentence.
    """
    pinned = replace(source, is_text=True)
    if is_prose:
        return pinned
    if survey(source).document_tags < 2:
        with suppress(InputError):
            if type(read_text(source)) is TextCorpus:
                return pinned
    digest = hashlib.sha256(b"text " + source.digest.encode()).hexdigest()
    return replace(pinned, digest=digest)


def _file_start(source: Source) -> tuple[str, bool]:
    """The beginning of the text, in which it is decided whether it is a JSON list of any length in a single line, and
    whether there is any text, be it blank."""
    start = piece = ""
    for piece in source.text():
        start = (start + piece).lstrip()
        if len(start) > LONGEST_START:
            break
    return start[:LONGEST_START], bool(piece)


def _check_words(found: Survey) -> None:
    """Raise InputError for a text of placeholders or of wordpieces."""
    words = [word for text in found.texts for word in text.split()]
    if (placeholder := find_placeholder(words, alike=False)) is not None:
        raise found.source.error(f"The file has no words: most are {placeholder[:40]!r}.", WHERE_TO_GET_WORDS)
    if piece := find_wordpiece(words, special=False):
        raise _pieces_error(found.source, piece)


def _checked(corpus: ExampleCorpus) -> ExampleCorpus:
    """The corpus; raises InputError where `words` are placeholders or wordpieces. What is broken is said when read."""
    words: list[str] = []
    with suppress(InputError):
        for record in islice(corpus.records(), SAMPLE):
            words += record.value if record.form == "words" else ()
    if (placeholder := find_placeholder(words, alike=False)) is not None:
        raise corpus.source.error(f"The file has no words: most are {placeholder[:40]!r}.", WHERE_TO_GET_WORDS)
    # Special tokens are let through here: a record may name them, and they are counted.
    if piece := find_wordpiece(words, special=False):
        raise _pieces_error(corpus.source, piece)
    return corpus


def _pieces_error(source: Source, piece: str) -> InputError:
    what = f"The words are pieces of a tokenizer's vocabulary, such as {piece[:40]!r}."
    return source.error(what, f'{WHOLE_WORDS} Or give pieces as JSON, {{"tokens": [...]}}.')


# Kind -> a function that opens its corpora, and raises InputError for a file that begins as one of another kind.
OPENERS: dict[str, Callable[[Source], Any]] = {
    "text": read_text,
    "treebank": Treebank,
    "coreference": CoreferenceCorpus,
    "pairs": PairCorpus,
}


@dataclass(frozen=True)
class Paragraph:
    """One line of text.

    Attributes:
        document: The document that it is part of, from 0.
        line: Its number in the file, from 1.
    """

    document: int
    line: int
    text: str


@dataclass(frozen=True)
class TextCorpus:
    """Documents of paragraphs, read again from the source on every pass: memory does not grow with the file. They end
    at blank lines; in a file with them, at the lines <doc ...> and </doc> that WikiExtractor writes instead.

    Attributes:
        separator: What stands between the paragraphs of a text.
    """

    source: Source
    separator: ClassVar[str] = "\n"

    def paragraphs(self, skipped: Skipped | None = None) -> Iterator[Paragraph]:
        """Every line that is not blank. Lines of <doc> and </doc>, and lines of mark-up or tables in a text that has
        many, are counted in `skipped`."""
        skipped = skipped or Skipped()
        oddity = find_oddity([text for text in survey(self.source).texts if not DOCUMENT_TAG.fullmatch(text)])
        document = -1
        is_first = True  # whether the line is the first of its document
        for line, text, ends_document in self._lines():
            if ends_document:
                is_first = True
                skipped.add(DOCUMENT_TAG_LINE, f"line {line}", bool(text.strip()))
            elif text.strip():
                if oddity and oddity.match(text):
                    skipped.add(ODD[oddity], f"line {line}")
                document += is_first
                is_first = False
                yield Paragraph(document, line, text)

    def unended(self) -> int | None:
        """The number of the last document where nothing ends it; reads the source once."""
        document = -1
        is_first = True
        for _, text, ends_document in self._lines():
            document += is_first and not ends_document and bool(text.strip())
            is_first = ends_document or (is_first and not text.strip())
        return None if is_first else document

    def _lines(self) -> Iterator[tuple[int, str, bool]]:
        """(number, line, whether it ends a document)."""
        has_tags = survey(self.source).document_tags > 1 and not self.source.is_text
        for line, text in self.source.lines():
            yield line, text, bool(DOCUMENT_TAG.fullmatch(text)) if has_tags else not text.strip()


class TreebankText(TextCorpus):
    """A paragraph for each sentence of a treebank: its `# text`, else its words with spaces between."""

    separator = " "

    def paragraphs(self, skipped: Skipped | None = None) -> Iterator[Paragraph]:
        """The text of every sentence; those without words are counted in `skipped`.

        Raises:
            InputError: No sentence has words.
        """
        reader = Treebank(self.source).reader
        skipped = skipped or Skipped()
        document = 0
        is_empty = True
        for block in blocks(self.source):
            comments = [text for _, text in block if text.startswith("#")]
            document += not is_empty and any(map(NEW_DOCUMENT.match, comments))
            words = [word for _, text in block if (word := reader.word(text)) is not None]
            for line, text in conll.rows_of(block):
                if reader.word(text) is None and not conll.RANGE.match(text):
                    skipped.add("a row of a treebank that has no word", f"line {line}")
            text = _full_text(block) or " ".join(filter(None, words))
            if is_left_out(words):
                skipped.add(f"a sentence with {conll.NO_WORDS}", f"line {block[0][0]}", unit="lines")
            elif text and len(comments) < len(block):
                is_empty = False
                yield Paragraph(document, conll.rows_of(block)[0][0], text)
        if is_empty:
            raise self.source.error("The treebank has no sentence.")


def _full_text(block: Sequence[Line]) -> str:
    """The `# text` of a sentence, with what a line break cut off; "" without one."""
    rows = {line for line, _ in conll.rows_of(block)}
    pieces: list[str] = []
    for line, text in block:
        match = FULL_TEXT.match(text)
        if match and not pieces:
            pieces.append(match[1])
        elif pieces and (text.startswith("#") or line in rows):
            break
        elif pieces:
            pieces.append(text)
    return " ".join(piece for piece in map(str.strip, pieces) if piece)


class CoreferenceText(TextCorpus):
    """A paragraph for each sentence of documents with coreference: its words with spaces between."""

    separator = " "

    def paragraphs(self, skipped: Skipped | None = None) -> Iterator[Paragraph]:
        found = Skipped()
        for document in CoreferenceCorpus(self.source).documents(found):
            for start, end in pairwise([*document.sentences, len(document.words)]):
                yield Paragraph(document.number, start + 1, " ".join(document.words[start:end]))
        if skipped is not None:  # A text has no mentions.
            skipped.merge(Skipped({BROKEN: found.reasons[BROKEN]} if BROKEN in found.reasons else {}))


class PairText(TextCorpus):
    """A paragraph for each minimal pair: its grammatical sentence."""

    def paragraphs(self, skipped: Skipped | None = None) -> Iterator[Paragraph]:
        for pair in PairCorpus(self.source).pairs(skipped or Skipped()):
            yield Paragraph(0, pair.line, pair.good)


def read_vectors(source: Source, words: Set[str]) -> tuple[dict[str, int], np.ndarray]:
    """The row of each word in a matrix (row, dimension) of float32: that of its first line, as written or else in lower
    case, or else row 0, zeros. Blank lines and word2vec's header are skipped.

    Raises:
        InputError: A line is no word and its numbers, or the source is an archive of several files, which may differ in
            dimension.
    """
    forms = words | set(map(str.lower, words))
    rows: dict[str, int] = {}
    vectors: list[np.ndarray] = []
    dimension = 0
    for number, line in source.lines():
        text = line.rstrip()
        if not text or (number == 1 and WORD2VEC_HEADER.fullmatch(text)):
            continue
        word, *values = text.rsplit(" ", dimension or -1)
        if not dimension and len(files := source.text_files()) > 1:
            what = f"The archive has {len(files):,} files. Word vectors are read from one."
            raise source.error(what, "Unpack it, and give one of them.")
        count = len(values)
        dimension = dimension or count
        if count != dimension or not dimension:
            what = f"The line has {count} numbers, the first had {dimension}."
            raise source.error(what, VECTORS_HINT, number)
        if word in forms and word not in rows:
            try:
                with np.errstate(over="ignore"):
                    vector = np.array(values, dtype=np.float32)
            except ValueError as error:
                raise source.error(f"This is not a number: {error}.", VECTORS_HINT, number) from error
            if not np.isfinite(vector).all():
                raise source.error("A value is not a finite number.", VECTORS_HINT, number)
            vectors.append(vector)
            rows[word] = len(vectors)
    if not dimension:
        raise source.error("The file is empty.", VECTORS_HINT)
    matrix = np.stack([np.zeros(dimension, dtype=np.float32), *vectors])
    return {word: rows.get(word, rows.get(word.lower(), 0)) for word in words}, matrix
