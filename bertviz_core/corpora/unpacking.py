"""Bytes of a text on their way in: UTF-16 as UTF-8, xz within a limit of memory, pieces of bytes as a file."""

from __future__ import annotations

import codecs
import io
import lzma
from collections.abc import Callable, Iterator
from typing import Any, BinaryIO, cast

CHUNK = 1 << 20  # bytes
XZ_MEMORY = 100 * CHUNK  # `xz -9` needs 65 MB; a header may ask for gigabytes


def recoded(stream: BinaryIO) -> Iterator[bytes]:
    """UTF-16 bytes as UTF-8 pieces."""
    decoder = codecs.getincrementaldecoder("utf-16")()
    with stream:
        while piece := stream.read(CHUNK):
            yield decoder.decode(piece).encode("utf-8", "replace")
        yield decoder.decode(b"", True).encode()


class Xz(io.RawIOBase):
    """What `lzma.open` gives, with a limit to the memory that the file's own header may ask for."""

    def __init__(self, packed: BinaryIO) -> None:
        self.packed = packed
        self.unpacker = lzma.LZMADecompressor(lzma.FORMAT_XZ, memlimit=XZ_MEMORY)

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        data = b""
        while not data:
            if self.unpacker.eof:  # a file may hold several streams
                rest = (self.unpacker.unused_data or self.packed.read(CHUNK // 16)).lstrip(b"\0")
                if not rest:
                    return 0
                self.unpacker = lzma.LZMADecompressor(lzma.FORMAT_XZ, memlimit=XZ_MEMORY)
            else:
                rest = self.packed.read(CHUNK // 16) if self.unpacker.needs_input else b""
                if self.unpacker.needs_input and not rest:
                    raise EOFError("it ends before its end mark")
            data = self.unpacker.decompress(rest, len(buffer))
        buffer[: len(data)] = data
        return len(data)


class PieceFile(io.RawIOBase):
    """Pieces of bytes as a file, which can be read forward, and from its start again.

    Args:
        open_pieces: Called for the pieces at each start.
    """

    def __init__(self, open_pieces: Callable[[], Iterator[bytes]]) -> None:
        self._open_pieces = open_pieces
        self.seek(0)

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def tell(self) -> int:
        return self._position

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        if offset or whence != io.SEEK_SET:
            raise io.UnsupportedOperation("only the start can be sought")
        self._coming, self._rest, self._position = self._open_pieces(), b"", 0
        return 0

    def readinto(self, buffer: Any) -> int:
        while not self._rest:
            piece = next(self._coming, None)
            if piece is None:
                return 0
            self._rest = piece
        count = min(len(buffer), len(self._rest))
        buffer[:count], self._rest = self._rest[:count], self._rest[count:]
        self._position += count
        return count


def as_file(open_pieces: Callable[[], Iterator[bytes]]) -> BinaryIO:
    """Pieces of bytes as a buffered file; `open_pieces` as in `PieceFile`."""
    return cast(BinaryIO, io.BufferedReader(PieceFile(open_pieces)))
