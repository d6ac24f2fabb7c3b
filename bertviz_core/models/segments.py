"""Segments: `[CLS] A [SEP] B [SEP]` from raw text, and the authors' examples, as encoded examples.

From raw text, as BERT's pre-training did: lines accumulate until there are at least two and the token budget is
reached, or the document ends; a seeded random cut between lines makes A and B; while the pair is too long, a token
is dropped from the longer side, at its front or back with equal chance. A last chunk of one line becomes
`[CLS] A [SEP]`, cut to fit. Token types are 0 for `[CLS] A [SEP]` and 1 for `B [SEP]`.

Mode "as in the paper" follows the release: a chunk ends as soon as the budget is reached; a chunk of one line is left
out, and so is the rest of its document; the last document is left out where no blank line follows it; a `text` record
that is too long is left out, not cut; token types are 0.

Definitions: docs/methods.md, section 1.
"""

import random
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import chain, islice
from typing import ClassVar

import numpy as np

from bertviz_core.corpora.examples import Record
from bertviz_core.corpora.readers import Paragraph, TextCorpus, read_text
from bertviz_core.corpora.skipped import UNKNOWN, Skipped
from bertviz_core.models.encoding import Encoded, count_unknown, encode_words, framed
from bertviz_core.models.reading import Examples, Reading

Line = tuple[int, list[int]]  # line number, ids
ONE_LINE = "a chunk of one line (the release drops it)"
REST = "a line after a chunk of one line (the release drops the rest of the document)"
UNENDED = "a line of the last document, which no blank line ends (the release drops it)"


@dataclass
class Segments(Examples[Encoded]):
    """The encoded segments of a text corpus."""

    unit: ClassVar[str] = "segments"

    def __post_init__(self) -> None:
        self.corpus = read_text(self.source)

    def read(self, reading: Reading) -> Iterator[Encoded]:
        reading.counts["documents"] = 0
        if isinstance(self.corpus, TextCorpus):
            segments = self._from_text(self.corpus.paragraphs(), reading)
        else:
            segments = self._from_records(self.corpus.records(), reading)
        return islice(segments, self.settings.limit)

    def _from_text(self, paragraphs: Iterator[Paragraph], reading: Reading) -> Iterator[Encoded]:
        chunks = self._chunks(paragraphs, reading)
        if self.settings.paper:
            unended = self.corpus.unended() if type(self.corpus) is TextCorpus else None
            chunks = self._released(chunks, unended, reading.skipped)
        for number, (document, chunk) in enumerate(chunks):
            rng = random.Random(f"{self.settings.seed}/{document}/{chunk[0][0]}")
            yield replace(self._segment(number, chunk, rng, reading.skipped), document_number=document)

    @staticmethod
    def _released(
        chunks: Iterator[tuple[int, list[Line]]], unended: int | None, skipped: Skipped
    ) -> Iterator[tuple[int, list[Line]]]:
        """The chunks that the release makes segments of; the lines of the others are counted."""
        ended_early = None
        for document, chunk in chunks:
            if document == unended:
                reason = UNENDED
            elif document == ended_early:
                reason = REST
            elif len(chunk) == 1:
                reason, ended_early = ONE_LINE, document
            else:
                yield document, chunk
                continue
            skipped.add(reason, _where(chunk), len(chunk))

    def _chunks(self, paragraphs: Iterator[Paragraph], reading: Reading) -> Iterator[tuple[int, list[Line]]]:
        """(document, lines) for each run of lines that becomes one segment."""
        budget = self.settings.max_length - sum(map(len, self.tokens.frame))
        minimum = 1 if self.settings.paper else 2
        document, length = 0, 0
        chunk: list[Line] = []
        for paragraph in paragraphs:
            if chunk and (paragraph.document != document or (len(chunk) >= minimum and length >= budget)):
                yield document, chunk
                chunk, length = [], 0
            document = paragraph.document
            reading.counts["documents"] = document + 1
            ids = self.tokens.encode(paragraph.text)
            count_unknown(ids, self.tokens, f"line {paragraph.line}", reading.skipped)
            if ids:
                chunk.append((paragraph.line, ids))
                length += len(ids)
            else:
                reading.skipped.add("a line in which the tokenizer finds no token", f"line {paragraph.line}")
        if chunk:
            yield document, chunk

    def _segment(self, number: int, chunk: list[Line], rng: random.Random, skipped: Skipped) -> Encoded:
        cut = rng.randint(1, len(chunk) - 1) if len(chunk) > 1 else 1
        sides = [[i for _, ids in part for i in ids] for part in (chunk[:cut], chunk[cut:]) if part]
        frame = self.tokens.frame if len(sides) == 2 else self.tokens.single
        selected = _fit(sides, self.settings.max_length - sum(map(len, frame)), rng)
        for line, ids in chunk:
            if len(ids) > self.settings.max_length - sum(map(len, self.tokens.single)):
                skipped.add("a line longer than a segment (cut to fit)", f"line {line}")
        return self._framed(number, _where(chunk), selected, frame)

    def _framed(self, number: int, where: str, sides: list[list[int]], frame: list[list[int]]) -> Encoded:
        ids, types, _ = framed([[side] for side in sides], frame, 0 if self.settings.paper else 1)
        return Encoded(number, where, ids, types)

    def _from_records(self, records: Iterator[Record], reading: Reading) -> Iterator[Encoded]:
        forms = {"text": self._from_string, "words": self._from_words, "tokens": self._from_tokens}
        for record in records:
            reading.counts["documents"] = record.number + 1
            where = f"line {record.line}, object {record.number + 1}"
            example = forms[record.form](record, where, reading.skipped)
            if not len(example):
                reading.skipped.add("an example without tokens (skipped)", where)
            elif len(example) > self.settings.max_length:
                reading.skipped.add(f"an example of more than {self.settings.max_length} tokens (skipped)", where)
            else:
                yield replace(example, other=record.other, document_number=record.number)

    def _from_string(self, record: Record, where: str, skipped: Skipped) -> Encoded:
        ids = self.tokens.encode(record.value)
        count_unknown(ids, self.tokens, where, skipped)
        maximum = self.settings.max_length - sum(map(len, self.tokens.single))
        selected = ids if self.settings.paper else ids[:maximum]
        if selected != ids:
            skipped.add("a text longer than a segment (its end was cut)", where)
        frame = self.tokens.single if selected else [[], []]  # no token, nothing to frame: such an example is left out
        return self._framed(record.number, where, [selected], frame)

    def _from_words(self, record: Record, where: str, skipped: Skipped) -> Encoded:
        return encode_words(record.value, self.tokens, record.number, where, skipped)

    def _from_tokens(self, record: Record, where: str, skipped: Skipped) -> Encoded:
        known, unknown = self.tokens.ids(record.value)
        ids = np.array(known, dtype=np.int64)
        if unknown:
            skipped.add(UNKNOWN, where, unknown)
        ends = np.flatnonzero(ids == self.tokens.sep)
        if not set(chain(*self.tokens.single)) <= set(known):
            skipped.add("`tokens` without the model's special tokens (taken as given)", where)
        after = len(ends) > 1 and not self.settings.paper
        types = (np.arange(len(ids)) > ends[0]).astype(np.int64) if after else np.zeros(len(ids), dtype=np.int64)
        return Encoded(record.number, where, ids, types)


def _where(chunk: list[Line]) -> str:
    return f"line {chunk[0][0]}" + (f"-{chunk[-1][0]}" if len(chunk) > 1 else "")


def _fit(sides: list[list[int]], budget: int, rng: random.Random) -> list[list[int]]:
    """Drop tokens from the longer side (the second where equal), front or back with equal chance, down to budget."""
    spans = [[0, len(side)] for side in sides]
    for _ in range(sum(map(len, sides)) - budget):
        longer = max(reversed(spans), key=lambda span: span[1] - span[0])
        if rng.random() < 0.5:
            longer[0] += 1
        else:
            longer[1] -= 1
    return [side[start:end] for side, (start, end) in zip(sides, spans, strict=True)]
