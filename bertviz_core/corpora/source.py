"""A source is a named, digested run of bytes: a file, a paste or an upload. Readers see only sources."""

from __future__ import annotations

import gzip
import hashlib
import io
import lzma
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO, cast

from bertviz_core.errors import InputError

CHUNK = 1 << 20


@dataclass(frozen=True)
class Source:
    """`name` is for people; `digest` (sha256 of the bytes, hex) is what keys use; `opener` gives the bytes anew."""

    name: str
    digest: str
    size: int
    opener: Callable[[], BinaryIO] = field(repr=False, compare=False)

    def lines(self) -> Iterator[tuple[int, str]]:
        """(line number from 1, line without its end), decoded strictly; gzip and xz are unpacked on the way.

        Raises InputError naming the line for bytes that are not UTF-8, NUL bytes and broken compression.
        """
        number = 0
        try:
            for number, raw in enumerate(self._unpacked(), start=1):
                yield number, self._decode(raw, number)
        except (lzma.LZMAError, EOFError, gzip.BadGzipFile, zlib.error) as error:
            raise InputError(
                f"The compressed file breaks off or is damaged ({error}).",
                where=f"{self.name}, after line {number}",
                hint="Compress or download it again.",
            ) from error

    def text(self) -> str:
        """The whole text, with the same checks as `lines`."""
        return "\n".join(line for _, line in self.lines())

    def _unpacked(self) -> BinaryIO:
        stream = self.opener()
        magic = stream.read(6)
        stream.seek(0)
        if magic[:2] == b"\x1f\x8b":
            return cast(BinaryIO, gzip.open(stream))
        if magic == b"\xfd7zXZ\x00":
            return cast(BinaryIO, lzma.open(stream))
        return stream

    def _decode(self, raw: bytes, number: int) -> str:
        where = f"{self.name}, line {number}"
        if b"\0" in raw:
            raise InputError(
                "There is a NUL byte: this is not a text file.", where=where, hint="Save it as plain text."
            )
        try:
            return raw.decode("utf-8-sig" if number == 1 else "utf-8").rstrip("\r\n")
        except UnicodeDecodeError as error:
            raise InputError(
                f"Byte {error.start + 1} of the line is not UTF-8.",
                where=where,
                hint="Save the file as UTF-8.",
            ) from error


def from_bytes(data: bytes, name: str) -> Source:
    """A paste or an upload that is held in memory."""
    return Source(name, hashlib.sha256(data).hexdigest(), len(data), lambda: io.BytesIO(data))


def from_path(path: Path | str) -> Source:
    """A file on disk, read in pieces; raises InputError when it is missing or a folder."""
    path = Path(path)
    try:
        with path.open("rb") as stream:
            digest = hashlib.file_digest(stream, "sha256").hexdigest()
        return Source(path.name, digest, path.stat().st_size, lambda: path.open("rb"))
    except OSError as error:
        raise InputError(
            f"The file cannot be read ({error.strerror}).", where=str(path), hint="Check the path."
        ) from error
