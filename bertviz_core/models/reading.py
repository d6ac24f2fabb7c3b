"""Corpora as encoded examples; what one reading of a corpus counts, and how it cuts the examples into chunks."""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, field, replace
from itertools import islice
from typing import Any, ClassVar, Generic, Self, TypeVar

from bertviz_core.corpora.parts import LineOffsets, located, part_of
from bertviz_core.corpora.skipped import Skipped
from bertviz_core.corpora.source import WHOLE, Source, Start
from bertviz_core.errors import InputError
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
        """Read the corpus to its end.

        Args:
            advance: Called with 1 after each example.

        Raises:
            InputError: No example is left, or the corpus is broken.
        """
        offsets, reading = LineOffsets(), Reading()
        chunks: list[Chunk] = []
        size = total = tokens = 0
        for example in replace(self, source=located(self.source, offsets)).read(reading):
            advance(1)
            if not chunks or size + len(example) > CHUNK_TOKENS:
                chunks.append(Chunk(len(chunks), _with_offset(reading.start, offsets), 0, 0))
                size = 0
            chunks[-1] = replace(chunks[-1], end=offsets.end, examples=chunks[-1].examples + 1)
            size, total, tokens = size + len(example), total + 1, tokens + len(example)
        if not total:
            reasons = reading.skipped.reasons.items()
            raise InputError(
                f"There is nothing to analyze: all {self.unit} were skipped.",
                where=self.source.name,
                hint="; ".join(f"{reason}: {entry['count']}" for reason, entry in reasons),
            )
        return Index(reading.counts | {self.unit: total, "tokens": tokens}, reading.skipped, tuple(chunks))


def _with_offset(start: Start, offsets: LineOffsets) -> Start:
    return start if start.offset >= 0 else replace(start, offset=offsets.of(start.line))
