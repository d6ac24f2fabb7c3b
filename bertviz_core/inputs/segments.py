"""Segments of raw text, the authors' examples, and random tokens (docs/methods.md, sections 1 and 15)."""

import random
import threading
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import chain, count
from typing import NamedTuple

import numpy as np

from bertviz_core.corpora import UNKNOWN, Skipped
from bertviz_core.corpora.authors_json import ExampleRecord
from bertviz_core.corpora.readers import Paragraph, TextCorpus, read_text
from bertviz_core.corpora.word_search import Hit
from bertviz_core.errors import SettingsError
from bertviz_core.inputs.encoded_corpus import EncodedCorpus, Reading
from bertviz_core.inputs.encoding import Encoded, encode_text, encode_words, framed
from bertviz_core.inputs.tokens import Tokens
from bertviz_core.settings import Settings

INPUTS = 100  # inputs of random tokens where the settings have no limit
# Tokens of a sequence: in one of two, the token before would be the one after the first occurrence.
MIN_SEQUENCE_TOKENS = 3
MAX_TOKENS = 1_000_000  # the most tokens of FirstSegments


class EncodedLine(NamedTuple):
    """A line of text.

    Attributes:
        number: Its number in the file, from 1.
        ids: Its tokens, without special ones.
    """

    number: int
    text: str
    ids: list[int]


@dataclass
class Segments(EncodedCorpus[Encoded]):
    """The segments of a text corpus, `[CLS] A [SEP] B [SEP]`, as in BERT's pre-training or as in the release; of a
    model to which two texts are one, the beginning of their lines as one text."""

    unit = "segments"

    def encoded(self, reading: Reading) -> Iterator[Encoded]:
        corpus = read_text(self.source)
        reading.counts["documents"] = 0
        if isinstance(corpus, TextCorpus):
            return self._from_text(corpus, reading)
        return self._from_records(corpus.records(reading.skipped), reading)

    def _from_text(self, corpus: TextCorpus, reading: Reading) -> Iterator[Encoded]:
        chunks = self._chunks(corpus.paragraphs(reading.skipped), reading)
        if self.settings.paper:
            unended = corpus.unended() if type(corpus) is TextCorpus else None
            chunks = _released(chunks, unended, reading.skipped)
        for number, (document, chunk) in enumerate(chunks):
            for line in chunk:
                if len(line.ids) > self.room(self.tokens.single):
                    reading.skipped.add("a line longer than a passage (cut to fit)", f"line {line.number}")
            if self.tokens.one_text:
                inputs = self._one_text(corpus.separator.join(line.text for line in chunk))
            else:
                inputs = self._pair(chunk, random.Random(f"{self.settings.seed}/{document}/{chunk[0].number}"))
            yield Encoded(number, _where(chunk), *inputs, document_number=document)

    def _one_text(self, text: str) -> tuple[np.ndarray, np.ndarray]:
        """(ids, types) of the beginning of a text, as the tokenizer itself frames and cuts it."""
        ids = self.tokens.encode(text)[: self.room(self.tokens.single)]
        return framed([[ids]], self.tokens.single)[:2]

    def _pair(self, chunk: list[EncodedLine], rng: random.Random) -> tuple[np.ndarray, np.ndarray]:
        """(ids, types) of lines that are cut into A and B at random; of a single line as A."""
        cut = rng.randint(1, len(chunk) - 1) if len(chunk) > 1 else 1
        sides = [list(chain(*(line.ids for line in part))) for part in (chunk[:cut], chunk[cut:]) if part]
        frame = self.tokens.frame if len(sides) == 2 else self.tokens.single
        fitting = [[side] for side in _fit(sides, self.room(frame), rng)]
        return framed(fitting, frame, 0 if self.settings.paper else 1)[:2]

    def _chunks(self, paragraphs: Iterator[Paragraph], reading: Reading) -> Iterator[tuple[int, list[EncodedLine]]]:
        """(document, lines) of each segment."""
        budget = self.room(self.tokens.frame)
        minimum = 1 if self.settings.paper or self.tokens.one_text else 2
        reading.counts["lines"] = 0
        document = 0
        chunk: list[EncodedLine] = []
        for paragraph in paragraphs:
            is_full = len(chunk) >= minimum and sum(len(line.ids) for line in chunk) >= budget
            if chunk and (is_full or paragraph.document != document):
                yield document, chunk
                chunk = []
            document = paragraph.document
            reading.counts["documents"] = document + 1
            where = f"line {paragraph.line}"
            ids = encode_text(paragraph.text, self.tokens, where, reading.skipped)
            if ids:
                reading.counts["lines"] += 1
                chunk.append(EncodedLine(paragraph.line, paragraph.text, ids))
            else:
                reading.skipped.add("a line in which the tokenizer finds no token", where, unit="lines")
        if chunk:
            yield document, chunk

    def _from_records(self, records: Iterator[ExampleRecord], reading: Reading) -> Iterator[Encoded]:
        skipped = reading.skipped
        maximum = self.settings.max_length
        for record in records:
            number = record.number
            reading.counts["documents"] = number + 1
            where = f"line {record.line}, object {number + 1}"
            if record.form == "words":
                example = encode_words(record.value, self.tokens, number, where, skipped)
            else:
                read = self._from_string if record.form == "text" else self._from_tokens
                example = Encoded(number, where, *read(record.value, where, skipped))
            if not len(example):
                skipped.add("an example without tokens (skipped)", where, unit="segments")
            elif len(example) > maximum:
                skipped.add(f"an example of more than {maximum} tokens (skipped)", where, unit="segments")
            else:
                yield replace(example, other=record.other, document_number=number)

    def _from_string(self, text: str, where: str, skipped: Skipped) -> tuple[np.ndarray, np.ndarray]:
        """(ids, types)"""
        ids = encode_text(text, self.tokens, where, skipped)
        room = self.room(self.tokens.single)
        if not self.settings.paper and len(ids) > room:
            ids = ids[:room]
            skipped.add("a text longer than a passage (its end was cut)", where)
        frame = self.tokens.single if ids else [[], []]  # without tokens there is no example to frame
        return framed([[ids]], frame)[:2]

    def _from_tokens(self, names: list[str], where: str, skipped: Skipped) -> tuple[np.ndarray, np.ndarray]:
        """(ids, types)"""
        known, lacking = self.tokens.ids(names)
        if self.tokens.unk is None:  # Where there is [UNK], whoever reads the example counts it.
            skipped.add(UNKNOWN, where, lacking)
        if not set(chain(*self.tokens.single)) <= set(known):
            skipped.add("`tokens` without the model's special tokens (taken as given)", where)
        ids = np.array(known, dtype=np.int64)
        types = np.zeros_like(ids)
        ends = np.flatnonzero(ids == self.tokens.sep)
        if len(ends) > 1 and not self.settings.paper:
            types[ends[0] + 1 :] = 1
        return ids, types


def _released(
    chunks: Iterator[tuple[int, list[EncodedLine]]], unended: int | None, skipped: Skipped
) -> Iterator[tuple[int, list[EncodedLine]]]:
    """The chunks that the release makes segments of; the lines of the others are counted."""
    ended_early = None
    for document, chunk in chunks:
        if document == unended:
            reason = "a line of the last document, which no blank line ends (the release drops it)"
        elif document == ended_early:
            reason = "a line after a chunk of one line (the release drops the rest of the document)"
        elif len(chunk) == 1:
            reason = "a chunk of one line (the release drops it)"
            ended_early = document
        else:
            yield document, chunk
            continue
        skipped.add(reason, _where(chunk), len(chunk))


def _where(chunk: list[EncodedLine]) -> str:
    return f"line {chunk[0].number}" + (f"-{chunk[-1].number}" if len(chunk) > 1 else "")


def _fit(sides: list[list[int]], budget: int, rng: random.Random) -> list[list[int]]:
    """Drop tokens from the longer side (the second where equal), front or back with equal chance, down to budget."""
    queues = [deque(side) for side in sides]
    for _ in range(sum(map(len, sides)) - budget):
        longer = max(reversed(queues), key=len)
        if rng.random() < 0.5:
            longer.popleft()
        else:
            longer.pop()
    return list(map(list, queues))


@dataclass
class RandomSequences(EncodedCorpus[Encoded]):
    """Pairs of inputs of random tokens: a sequence and its repetition, then the same sequence and another one, all
    distinct.

    `words` of an input has the place of each token in its sequence, in the repetition that of its first occurrence.

    Attributes:
        size: The number of tokens of a sequence.
    """

    unit = "sequences"

    def __post_init__(self) -> None:
        self.size = min(self.room(self.tokens.single), len(self.tokens.ordinary)) // 2
        if self.size < MIN_SEQUENCE_TOKENS:
            what = f"Inputs of {self.settings.max_length} tokens are too short for a sequence and its repetition."
            raise SettingsError(what, hint="Choose a larger maximum length.")

    def encoded(self, reading: Reading) -> Iterator[Encoded]:
        """Every input; the two of a pair are drawn from the seed and the number of the pair."""
        before, after = self.tokens.single
        for number in range(self.settings.limit or INPUTS):
            draw = np.random.default_rng([self.settings.seed % 2**64, number // 2])
            ids = draw.choice(self.tokens.ordinary, 2 * self.size, replace=False)
            places = np.arange(2 * self.size)
            if number % 2 == 0:
                ids[self.size :] = ids[: self.size]
                places %= self.size
            ids = np.array([*before, *ids, *after], dtype=np.int64)
            words = np.pad(places, (len(before), len(after)), constant_values=-1)
            yield Encoded(number, f"sequence {number + 1}", ids, np.zeros_like(ids), words, document_number=number)


def drawn_tokens(tokens: Tokens, settings: Settings) -> np.ndarray:
    """(token,) ids of ordinary tokens of the vocabulary: all, or as many as the limit, drawn by the seed."""
    ordinary = np.asarray(tokens.ordinary)
    size = min(settings.limit or len(ordinary), len(ordinary))
    return np.random.default_rng(settings.seed % 2**64).choice(ordinary, size, replace=False)


@dataclass
class VocabularySample(EncodedCorpus[Encoded]):
    """Ordinary tokens of the model's vocabulary, each an input of its own: all, or as many as the limit, drawn by the
    seed."""

    unit = "tokens"

    def encoded(self, reading: Reading) -> Iterator[Encoded]:
        for number, token in enumerate(drawn_tokens(self.tokens, self.settings)):
            ids = np.array([token], dtype=np.int64)
            yield Encoded(number, f"token {token}", ids, np.zeros_like(ids), document_number=number)


class FirstSegments:
    """Random access to a corpus's first MAX_TOKENS tokens of segments, each encoded once; threads may share it.

    Attributes:
        last: The number of segments that have been encoded so far.
    """

    def __init__(self, segments: Segments) -> None:
        self.segments = segments
        self._lock = threading.Lock()
        self._encoded: dict[int, Encoded] = {}
        self._start()

    def _start(self) -> None:
        self._further = iter(self.segments)
        self.last = 0
        self.tokens = 0

    def pick(self, number: int) -> Encoded:
        """The segment with this number, from 1.

        Raises:
            InputError: There is no passage with this number among them.
        """
        with self._lock:
            try:
                while self.last < number and self.tokens < MAX_TOKENS and (example := next(self._further, None)):
                    self.last = example.number + 1
                    self.tokens += len(example)
                    self._encoded[self.last] = example
            except BaseException:  # An iterator that has raised is at its end, as if the corpus were.
                self._start()
                raise
        if number in self._encoded:
            return self._encoded[number]
        is_far = self.last < number and self.tokens >= MAX_TOKENS
        why = f" among the first {MAX_TOKENS:,} tokens of the corpus" if is_far else ", or it was skipped"
        hint = f"Choose a number from 1 to {self.last:,}."
        raise self.segments.source.error(f"There is no passage {number}{why}.", hint)

    def number_of(self, hit: Hit) -> int:
        """The number of the segment, from 1, with the line of a hit.

        Raises:
            InputError: None of the segments has the line.
        """
        if hit.record is not None:
            return hit.record + 1
        part = last = 0
        for number in count(1):
            begin, _, end = self.pick(number).where.removeprefix("line ").partition("-")
            first = int(begin)
            if first <= last:  # Line numbers begin again in the next file.
                part += 1
            last = int(end or first)
            if (part, last) >= (hit.part, hit.line):
                break
        if part == hit.part and first <= hit.line:
            return number
        what = f"No passage has line {hit.line:,}: the mode “as in the paper” drops it, as the release does."
        raise self.segments.source.error(what, "Choose the other mode.")
