"""Bytes of a text on their way in: UTF-16 as UTF-8, and xz within a limit of memory."""

from __future__ import annotations

import codecs
import io
import lzma
from collections.abc import Iterator
from typing import Any, BinaryIO

CHUNK = 1 << 20  # bytes
XZ_MEMORY = 100 * CHUNK  # `xz -9` needs 65 MB; a header may ask for gigabytes


def recoded(stream: BinaryIO) -> Iterator[bytes]:
    """UTF-16 as UTF-8."""
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
