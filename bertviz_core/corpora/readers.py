"""The corpus that reads a source, by what `recognition` finds in it; and texts, line by line."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from bertviz_core.corpora.annotated import CoreferenceCorpus, Treebank, blocks, check_coreference
from bertviz_core.corpora.examples import ExampleCorpus
from bertviz_core.corpora.recognition import kinds
from bertviz_core.corpora.skipped import Skipped
from bertviz_core.corpora.source import Source
from bertviz_core.corpora.treebank import conll
from bertviz_core.corpora.vectors import read_vectors

SENTENCE_TEXT = re.compile(r"#\s*text\s*=\s*(.*)")
NEW_DOCUMENT = re.compile(r"#\s*newdoc\b")


def read_text(source: Source) -> TextCorpus | ExampleCorpus:
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


def open_corpus(kind: str, source: Source) -> None:
    """Read the beginning of a source as this kind: what is plainly no such file raises InputError."""
    openers: dict[str, Callable[[Source], object]] = {
        "text": read_text,
        "treebank": Treebank,
        "coreference": CoreferenceCorpus,
    }
    openers[kind](source)


def check(kind: str, source: Source) -> None:
    """Read a source of this kind, or of "vectors", to its end, so that an unreadable file is refused before it is
    stored."""
    if kind == "coreference":
        check_coreference(source)
    elif kind == "vectors":
        read_vectors(source, frozenset())
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
                yield Paragraph(document, rows[0][0], sentence or " ".join(_word(text) for _, text in rows).strip())
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
