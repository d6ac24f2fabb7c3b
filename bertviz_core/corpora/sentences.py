"""The sentences of a treebank or of a corpus with coreference, read as text."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from bertviz_core.corpora.coreference_reader import CoreferenceCorpus
from bertviz_core.corpora.skipped import Skipped
from bertviz_core.corpora.text import Paragraph, TextCorpus
from bertviz_core.corpora.treebank import conll
from bertviz_core.corpora.treebank_reader import blocks
from bertviz_core.errors import InputError

TEXT = re.compile(r"#\s*text\s*=\s*(.*)")
DOCUMENT = re.compile(r"#\s*newdoc\b")


@dataclass(frozen=True, slots=True)
class TreebankText(TextCorpus):
    """A paragraph for each sentence of a treebank: its `# text`, else its words with spaces between."""

    def paragraphs(self) -> Iterator[Paragraph]:
        document, number = 0, 0
        for block in blocks(self.source):
            rows = [(line, text) for line, text in block if not text.startswith("#")]
            comments = [text for _, text in block if text.startswith("#")]
            document += bool(number) and any(map(DOCUMENT.match, comments))
            if rows:
                number += 1
                sentence = next((match[1] for match in map(TEXT.match, comments) if match), "")
                yield Paragraph(document, rows[0][0], sentence or " ".join(_word(text) for _, text in rows).strip())
        if not number:
            raise InputError("The treebank has no sentence.", where=self.source.name)


def _word(row: str) -> str:
    """The word of a line; nothing for the lines of multi-word tokens and empty nodes."""
    if not conll.is_row(row):
        return row.rsplit(maxsplit=1)[0]
    number, word = row.split("\t")[: conll.FORM + 1]
    return word if number.isdigit() else ""


@dataclass(frozen=True, slots=True)
class CoreferenceText(TextCorpus):
    """A paragraph for each sentence of documents with coreference: its words with spaces between."""

    def paragraphs(self) -> Iterator[Paragraph]:
        for document in CoreferenceCorpus(self.source).documents(Skipped()):
            ends = [*document.sentences[1:], len(document.words)]
            for start, end in zip(document.sentences, ends, strict=True):
                yield Paragraph(document.number, start + 1, " ".join(document.words[start:end]))
