"""Corpora as encoded examples; what one reading of a corpus counts, and how it cuts the examples into chunks."""

from __future__ import annotations

import io
import json
from abc import ABC, abstractmethod
from array import array
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, field, replace
from itertools import islice
from typing import Any, BinaryIO, ClassVar, Generic, Self, TypeVar

from bertviz_core.corpora.skipped import Skipped
from bertviz_core.corpora.source import WHOLE, Source, Start
from bertviz_core.corpora.unpacking import CHUNK
from bertviz_core.models.encoding import Encoded
from bertviz_core.models.tokens import Tokens
from bertviz_core.settings import Settings

CHUNK_TOKENS = 65_536  # raise analyses.request.FORMAT with it: sums are rounded chunk by chunk
Example_co = TypeVar("Example_co", bound=Encoded, covariant=True)


@dataclass
class Reading:
    """Counts of one reading of a corpus, as far as it came.

    Attributes:
        counts: What the corpus holds, by name, as provenance lists it.
        skipped: What was skipped or changed.
        start: From where the last example can be read again.
    """

    counts: dict[str, Any] = field(default_factory=dict)
    skipped: Skipped = field(default_factory=Skipped)
    start: Start = WHOLE


@dataclass(frozen=True, slots=True)
class Chunk:
    """Consecutive examples of a corpus, CHUNK_TOKENS tokens at most where they are more than one.

    Attributes:
        number: From 0.
        start: Where the first example can be read.
        end: Offset, in bytes of the unpacked text, up to which a reader of its last example reads.
        examples: How many they are.
    """

    number: int
    start: Start
    end: int
    examples: int


@dataclass(frozen=True)
class Index:
    """What one reading of a whole corpus found: its counts, and where its chunks are."""

    counts: dict[str, Any]
    skipped: Skipped
    chunks: tuple[Chunk, ...]

    def to_bytes(self) -> bytes:
        """The index as JSON."""
        chunks = [[*asdict(chunk.start).values(), chunk.end, chunk.examples] for chunk in self.chunks]
        return json.dumps({"counts": self.counts, "skipped": self.skipped.reasons, "chunks": chunks}).encode()

    @classmethod
    def from_bytes(cls, data: bytes) -> Self:
        """Read an index that `to_bytes` wrote; raises ValueError, KeyError or TypeError for other bytes."""
        fields = json.loads(data)
        chunks = [
            Chunk(number, Start(*start), end, examples)
            for number, (*start, end, examples) in enumerate(fields["chunks"])
        ]
        return cls(fields["counts"], Skipped(fields["skipped"]), tuple(chunks))


@dataclass
class Examples(ABC, Generic[Example_co]):
    """A corpus as encoded examples, read again on every iteration. It keeps no counters: each reading has its own.

    Attributes:
        count: How many examples there are, where the source is a part of a corpus.
        unit: What the examples are, in the plural.
    """

    source: Source
    tokens: Tokens
    settings: Settings
    count: int | None = None

    unit: ClassVar[str]

    @abstractmethod
    def read(self, reading: Reading) -> Iterator[Example_co]:
        """Every example in order, counted in `reading`."""

    def __iter__(self) -> Iterator[Example_co]:
        return islice(self.read(Reading()), self.count)

    @classmethod
    def of_part(cls, source: Source, tokens: Tokens, settings: Settings, chunk: Chunk, data: bytes) -> Self:
        """The examples of a chunk, from its bytes; nothing is read of the source."""
        return cls(part_of(source, chunk.start, data), tokens, settings, chunk.examples)

    def part(self, chunk: Chunk, data: bytes) -> Self:
        """The examples of a chunk of this corpus, from its bytes."""
        return self.of_part(self.source, self.tokens, self.settings, chunk, data)

    def index(self, advance: Callable[[int], None] = lambda count: None) -> Index:
        """Read the corpus to its end; `advance` is called with 1 after each example. Raises InputError where no example
        is left, or the corpus is broken."""
        offsets, reading = LineOffsets(), Reading()
        chunks: list[Chunk] = []
        size = total = tokens = 0
        for example in replace(self, source=LocatedSource(**vars(self.source), offsets=offsets)).read(reading):
            advance(1)
            if not chunks or size + len(example) > CHUNK_TOKENS:
                chunks.append(Chunk(len(chunks), _with_offset(reading.start, offsets), 0, 0))
                size = 0
            chunks[-1] = replace(chunks[-1], end=offsets.end, examples=chunks[-1].examples + 1)
            size, total, tokens = size + len(example), total + 1, tokens + len(example)
        if not total:
            reasons = reading.skipped.reasons.items()
            what = f"There is nothing to analyze: all {self.unit} were skipped."
            raise self.source.error(what, "; ".join(f"{reason}: {entry['count']}" for reason, entry in reasons))
        return Index(reading.counts | {self.unit: total, "tokens": tokens}, reading.skipped, tuple(chunks))


def _with_offset(start: Start, offsets: LineOffsets) -> Start:
    return start if start.offset >= 0 else replace(start, offset=offsets.of(start.line))


class LineOffsets:
    """Byte offsets of the lines of one reading in the unpacked text, from the first line that is still needed.

    Attributes:
        end: How many bytes have been read.
    """

    def __init__(self) -> None:
        self.restart(1)

    def restart(self, line: int) -> None:
        """Begin a reading at this line."""
        self.end, self._first, self._offsets = 0, line, array("Q")

    def add(self, line: int, size: int) -> None:
        """Take in a piece of a line of `size` bytes."""
        if line >= self._first + len(self._offsets):
            self._offsets.append(self.end)
        self.end += size

    def of(self, line: int) -> int:
        """The offset of a line; those before it are dropped."""
        del self._offsets[: line - self._first]
        self._first = line
        return self._offsets[0]


@dataclass(frozen=True)
class LocatedSource(Source):
    """A source that records the offsets of the lines of its latest reading."""

    offsets: LineOffsets = field(default_factory=LineOffsets)

    def _pieces(self) -> Iterator[tuple[int, bytes]]:
        self.offsets.restart(self.start.line)
        for line, piece in super()._pieces():
            self.offsets.add(line, len(piece))
            yield line, piece


def part_of(source: Source, start: Start, data: bytes) -> Source:
    """The part of a source that begins at `start` and consists of these bytes."""
    return replace(source, opener=lambda: io.BytesIO(data), start=start, max_unpacked=None, size=len(data))


class Slices:
    """Reads ranges of the unpacked text; ranges that come in order are read in one pass, with any compression."""

    def __init__(self, source: Source) -> None:
        self._source = source
        self._stream: BinaryIO | None = None
        self._position, self._begin, self._data = 0, 0, b""

    def read(self, begin: int, end: int) -> bytes:
        """The bytes from `begin` to `end`."""
        before = b""
        if self._stream is None or begin < self._begin:
            self._open()
        elif begin < self._position:
            before = self._data[begin - self._begin :]
        while self._position < begin:
            self._forward(min(CHUNK, begin - self._position))
        self._data = before + self._forward(end - self._position)
        self._begin = begin
        return self._data[: end - begin]

    def _open(self) -> None:
        if self._stream is not None:
            self._stream.close()
        self._stream, self._position, self._data = self._source.unpacked(), 0, b""

    def _forward(self, size: int) -> bytes:
        assert self._stream is not None
        data = self._stream.read(size) if size > 0 else b""
        self._position += len(data)
        if size > 0 and not data:
            raise self._source.error("The file has become shorter since it was read.")
        return data
