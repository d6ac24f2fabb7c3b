"""Parts of a corpus: where a reader can begin in the middle, and the bytes from there on."""

from __future__ import annotations

import io
from array import array
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import BinaryIO

from bertviz_core.corpora.source import Source, Start
from bertviz_core.corpora.unpacking import CHUNK


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

    offsets: LineOffsets | None = None

    def _pieces(self) -> Iterator[tuple[int, bytes]]:
        assert self.offsets is not None
        self.offsets.restart(self.start.line)
        for line, piece in super()._pieces():
            self.offsets.add(line, len(piece))
            yield line, piece


def located(source: Source, offsets: LineOffsets) -> Source:
    """The source with its readings recorded in `offsets`."""
    fields = (source.name, source.digest, source.size, source.opener, source.max_unpacked, source.locator, source.start)
    return LocatedSource(*fields, offsets=offsets)


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
