"""The corpus that reads a source, as `recognition` decides; texts; and word vectors in GloVe's text format."""

import re
from collections import deque
from collections.abc import Callable, Iterator, Set
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from bertviz_core.corpora import Skipped, recognition
from bertviz_core.corpora.annotated import CoreferenceCorpus, Treebank, blocks
from bertviz_core.corpora.examples import ExampleCorpus
from bertviz_core.corpora.source import Source
from bertviz_core.corpora.treebank import conll

FULL_TEXT = re.compile(r"#\s*text\s*=\s*(.*)")
NEW_DOCUMENT = re.compile(r"#\s*newdoc\b")
WORD2VEC_HEADER = re.compile(r"[0-9]{1,9} [0-9]{1,9}")
VECTORS_HINT = "Give one text file, with a word and its numbers, between spaces, on each line."


def read_text(source: Source) -> "TextCorpus | ExampleCorpus":
    """Text, the authors' JSON, or the sentences of an annotated corpus; raises InputError for an empty source."""
    head = piece = ""
    for piece in source.text():  # a JSON list of any length may be a single line
        head += piece.strip()
        if len(head) > 1:
            break
    if not head:
        kind = "contains only blank lines" if piece else "is empty"
        raise source.error(f"The file {kind}.", "Write one paragraph per line, a blank line between documents.")
    if source.name.lower().endswith(".json") or re.match(r"\[\s*[{\]]", head):
        return ExampleCorpus(source)
    if head.lower().startswith(("<!doctype html", "<html")):
        raise source.error("This is an HTML page, not text.", "Save its text as .txt.")
    corpora = {"treebank": TreebankText, "coreference": CoreferenceText, "text": TextCorpus}
    return corpora[recognition.kinds(source)[0]](source)


# Kind -> a function that opens its corpora, and raises InputError for a file that begins as one of another kind.
OPENERS: dict[str, Callable[[Source], Any]] = {
    "text": read_text,
    "treebank": Treebank,
    "coreference": CoreferenceCorpus,
}


def check(kind: str, source: Source) -> None:
    """Read a source of this kind, or of "vectors", to its end; raises InputError where it cannot be read."""
    if kind == "vectors":
        read_vectors(source, frozenset())
    elif kind == "coreference":
        CoreferenceCorpus(source).check()
    elif kind == "treebank":
        deque(Treebank(source).sentences(Skipped()), maxlen=0)
    else:
        corpus = read_text(source)
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
        """Every line that is not blank."""
        document = -1
        is_after_blank = True
        for line, text in self.source.lines():
            is_blank = not text.strip()
            if not is_blank:
                document += is_after_blank
                yield Paragraph(document, line, text)
            is_after_blank = is_blank

    def unended(self) -> int | None:
        """The number of the last document where no blank line follows it; reads the source once."""
        document = -1
        is_blank = True
        for _, text in self.source.lines():
            is_after_blank = is_blank
            is_blank = not text.strip()
            document += is_after_blank and not is_blank
        return None if is_blank else document


class TreebankText(TextCorpus):
    """A paragraph for each sentence of a treebank: its `# text`, else its words with spaces between."""

    def paragraphs(self) -> Iterator[Paragraph]:
        document = 0
        is_empty = True
        for block in blocks(self.source):
            rows = [(line, text) for line, text in block if not text.startswith("#")]
            comments = [text for _, text in block if text.startswith("#")]
            document += not is_empty and any(map(NEW_DOCUMENT.match, comments))
            if rows:
                is_empty = False
                sentence = next((match[1] for match in map(FULL_TEXT.match, comments) if match), "")
                words = filter(None, (_word(text) for _, text in rows))
                yield Paragraph(document, rows[0][0], sentence or " ".join(words))
        if is_empty:
            raise self.source.error("The treebank has no sentence.")


def _word(row: str) -> str:
    """The word of a line; nothing for the lines of multi-word tokens and empty nodes."""
    if not conll.is_row(row):
        return row.rsplit(maxsplit=1)[0]
    number, word, *_ = row.split("\t")
    return word if number.isdigit() else ""


class CoreferenceText(TextCorpus):
    """A paragraph for each sentence of documents with coreference: its words with spaces between."""

    def paragraphs(self) -> Iterator[Paragraph]:
        for document in CoreferenceCorpus(self.source).documents(Skipped()):
            for start, end in pairwise([*document.sentences, len(document.words)]):
                yield Paragraph(document.number, start + 1, " ".join(document.words[start:end]))


def read_vectors(source: Source, words: Set[str]) -> tuple[dict[str, int], np.ndarray]:
    """The row of each word in a matrix (row, dimension) of float32: that of its first line, as written or else in lower
    case, or else row 0, zeros. Blank lines and word2vec's header are skipped. Raises InputError for other lines than a
    word and its numbers, and for an archive of several files, which may differ in dimension."""
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
