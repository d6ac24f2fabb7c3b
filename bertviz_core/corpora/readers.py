"""The corpus that reads a source, by what `recognition` finds in it; texts, line by line; and word vectors from text
files as GloVe writes them: a word and its values, between spaces, one a line."""

import re
from collections import deque
from collections.abc import Callable, Iterator, Set
from dataclasses import dataclass
from typing import Any

import numpy as np

from bertviz_core.corpora import Skipped
from bertviz_core.corpora.annotated import CoreferenceCorpus, Treebank, blocks
from bertviz_core.corpora.examples import ExampleCorpus
from bertviz_core.corpora.recognition import kinds
from bertviz_core.corpora.source import Source
from bertviz_core.corpora.treebank import conll
from bertviz_core.numbers import small_int

SENTENCE_TEXT = re.compile(r"#\s*text\s*=\s*(.*)")
NEW_DOCUMENT = re.compile(r"#\s*newdoc\b")


def read_text(source: Source) -> "TextCorpus | ExampleCorpus":
    """Text, the authors' JSON, or the sentences of a treebank or of a corpus with coreference; raises InputError for a
    source with nothing in it."""
    head = ""
    for piece in source.text():  # not by lines: a JSON list of any length may stand on one
        head += piece.strip()
        if len(head) > 1:
            break
    if not head:
        TextCorpus(source).paragraphs().__next__()
    if source.name.lower().endswith(".json") or re.match(r"\[\s*[{\]]", head):
        return ExampleCorpus(source)
    if head.lower().startswith(("<!doctype html", "<html")):
        raise source.error("This is an HTML page, not text.", "Save its text as .txt.")
    return {"treebank": TreebankText, "coreference": CoreferenceText, "text": TextCorpus}[kinds(source)[0]](source)


# Kind -> what opens its corpora, and raises InputError for a file whose beginning is clearly of another kind.
OPENERS: dict[str, Callable[[Source], Any]] = {
    "text": read_text,
    "treebank": Treebank,
    "coreference": CoreferenceCorpus,
}


def check(kind: str, source: Source) -> None:
    """Read a source of this kind, or of "vectors", to its end, so that an unreadable file is refused before it is
    stored."""
    if kind == "vectors":
        read_vectors(source, frozenset())
        return
    corpus = OPENERS[kind](source)
    if isinstance(corpus, CoreferenceCorpus):
        corpus.check()
    elif isinstance(corpus, Treebank):
        deque(corpus.sentences(Skipped()), maxlen=0)
    else:
        deque(corpus.paragraphs() if isinstance(corpus, TextCorpus) else corpus.records(), maxlen=0)


@dataclass(frozen=True)
class Paragraph:
    """One line of text; `document` counts from 0, `line` from 1."""

    document: int
    line: int
    text: str


@dataclass(frozen=True)
class TextCorpus:
    """Documents of paragraphs, read again from the source on every pass: memory does not grow with the file."""

    source: Source

    def paragraphs(self) -> Iterator[Paragraph]:
        """Every line that is not blank; raises InputError when there is none."""
        document, previous, line = 0, None, 0
        for line, text in self.source.lines():
            if text.strip():
                if previous is not None and line - previous > 1:
                    document += 1
                previous = line
                yield Paragraph(document, line, text)
        if previous is None:
            kind = "contains only blank lines" if line else "is empty"
            hint = "Write one paragraph per line, a blank line between documents."
            raise self.source.error(f"The file {kind}.", hint)

    def unended(self) -> int | None:
        """The number of the last document where no blank line follows it, else None; reads the source once."""
        document, blank = -1, True
        for _, text in self.source.lines():
            document += blank and bool(text.strip())
            blank = not text.strip()
        return None if blank else document


@dataclass(frozen=True)
class TreebankText(TextCorpus):
    """A paragraph for each sentence of a treebank: its `# text`, else its words with spaces between."""

    def paragraphs(self) -> Iterator[Paragraph]:
        document, number = 0, 0
        for block in blocks(self.source):
            rows = [(line, text) for line, text in block if not text.startswith("#")]
            comments = [text for _, text in block if text.startswith("#")]
            document += bool(number) and any(map(NEW_DOCUMENT.match, comments))
            if rows:
                number += 1
                sentence = next((match[1] for match in map(SENTENCE_TEXT.match, comments) if match), "")
                words = (_word(text) for _, text in rows)
                yield Paragraph(document, rows[0][0], sentence or " ".join(words).strip())
        if not number:
            raise self.source.error("The treebank has no sentence.")


def _word(row: str) -> str:
    """The word of a line; nothing for the lines of multi-word tokens and empty nodes."""
    if not conll.is_row(row):
        return row.rsplit(maxsplit=1)[0]
    number, word = row.split("\t")[: conll.FORM + 1]
    return word if number.isdigit() else ""


@dataclass(frozen=True)
class CoreferenceText(TextCorpus):
    """A paragraph for each sentence of documents with coreference: its words with spaces between."""

    def paragraphs(self) -> Iterator[Paragraph]:
        for document in CoreferenceCorpus(self.source).documents(Skipped()):
            ends = [*document.sentences[1:], len(document.words)]
            for start, end in zip(document.sentences, ends, strict=True):
                yield Paragraph(document.number, start + 1, " ".join(document.words[start:end]))


EXPECTED = "Give one text file, with a word and its numbers, between spaces, on each line."


def read_vectors(source: Source, words: Set[str]) -> tuple[dict[str, int], np.ndarray]:
    """The row of each of these words in a matrix (row, dimension) of float32: of the word as it is written, else in
    lower case, else row 0, zeros. Read as a stream; blank lines and a first line of two whole numbers (word2vec's
    header) are skipped; of a word that occurs twice the first counts. Raises InputError for a line that is not a word
    and its numbers, and for an archive of several files, which may differ in dimension."""
    forms = words | {word.lower() for word in words}
    rows: dict[str, int] = {}
    selected: list[np.ndarray] = []
    dimension = 0
    for number, line in source.lines():
        if not line.strip():
            continue
        fields = line.rstrip().split(" ") if not dimension else line.rstrip().rsplit(" ", dimension)
        if not dimension:
            if number == 1 and len(fields) == 2 and None not in map(small_int, fields):
                continue
            dimension = len(fields) - 1
            if len(files := source.text_files()) > 1:
                what = f"The archive has {len(files):,} files. Word vectors are read from one."
                raise source.error(what, "Unpack it, and give one of them.")
        if len(fields) != dimension + 1 or not dimension:
            what = f"The line has {len(fields) - 1} numbers, the first had {dimension}."
            raise source.error(what, EXPECTED, number)
        if fields[0] in forms and fields[0] not in rows:
            try:
                with np.errstate(over="ignore"):
                    values = np.array(fields[1:], dtype=np.float32)
            except ValueError as error:
                raise source.error(f"This is not a number: {error}.", EXPECTED, number) from error
            if not np.isfinite(values).all():
                raise source.error("A value is not a finite number.", EXPECTED, number)
            selected.append(values)
            rows[fields[0]] = len(selected)
    if not dimension:
        raise source.error("The file is empty.", EXPECTED)
    matrix = np.stack([np.zeros(dimension, dtype=np.float32), *selected])
    return {word: rows.get(word, rows.get(word.lower(), 0)) for word in words}, matrix
