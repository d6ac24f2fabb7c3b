"""A source is a named, digested run of bytes: a file, a paste or an upload. Readers see only sources."""

import codecs
import gzip
import hashlib
import io
import lzma
import re
import zipfile
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO, cast

from bertviz_core.corpora import unpacking
from bertviz_core.corpora.unpacking import CHUNK, as_file, recoded, unxz
from bertviz_core.errors import InputError

Line = tuple[int, str]  # its number in the file, from 1, and its text
# A compressed file that unpacks to more than this is not text: text shrinks to a tenth at best.
TIMES, MINIMUM = 100, 50 * CHUNK
LONGEST_LINE = CHUNK  # bytes: a reader handles a line at once, and takes up to hundreds of bytes for each of it
LONE = re.compile("[\ud800-\udfff]")
GZIP, XZ = b"\x1f\x8b", b"\xfd7zXZ\0"  # how such files begin
TAR = slice(257, 262)  # where a tar archive names itself
NO_TEXT = (
    (b"%PDF-", "a PDF", "Save it as text (pdftotext file.pdf file.txt), or copy its text and paste it."),
    (b"\xd0\xcf\x11\xe0", "an old Word document", "Save it as plain text."),
    (b"{\\rtf", "rich text (RTF)", "Save it as plain text."),
    (b"PAR1", "a Parquet file", 'Write its text as .txt, or give the column to the library: corpus=frame["text"].'),
)  # beginning, what it is, what to do
# Raised by unpacking; RuntimeError where a zip is encrypted or requires a newer version than zipfile reads.
DAMAGE = (EOFError, OSError, RuntimeError, UnicodeError, lzma.LZMAError, zipfile.BadZipFile, zlib.error)


@dataclass(frozen=True)
class Source:
    """A corpus file. Its `locator` is how another process opens the same bytes: "file:PATH", "upload:KEY" of the store,
    or empty if only this process has them."""

    name: str  # for display
    digest: str  # sha256 of the bytes, hexadecimal; keys contain it
    size: int
    opener: Callable[[], BinaryIO] = field(repr=False, compare=False)  # opens the bytes from their start
    max_unpacked: int | None = field(default=None, repr=False, compare=False)  # bytes
    locator: str = field(default="", repr=False, compare=False)

    def error(self, what: str, hint: str = "", line: int | None = None) -> InputError:
        """What is wrong with the source, or with one of its lines, and what to do about it."""
        return InputError(what, where=self.name if line is None else f"{self.name}, line {line}", hint=hint)

    def lines(self) -> Iterator[Line]:
        """(line number from 1, line without its end), decoded strictly; gzip, xz and zip are unpacked on the way.

        Raises InputError naming the line for bytes that are not UTF-8, NUL bytes, broken compression, a line longer
        than LONGEST_LINE and a file that unpacks to more than it may.
        """
        line, number = b"", 1
        for number, piece in self._pieces():
            line += piece
            if len(line) > LONGEST_LINE:
                what = f"The line is longer than {LONGEST_LINE / 1e6:.0f} MB."
                raise self.error(what, "Split it into lines.", number)
            if line.endswith(b"\n"):
                yield number, self._decoded(line, number)[0].rstrip("\r\n")
                line = b""
        if line:
            yield number, self._decoded(line, number)[0].rstrip("\r")

    def text(self) -> Iterator[str]:
        """The whole text in pieces, with the same checks as `lines`: a file may be a single line. Line ends stay."""
        rest, before, number = b"", 0, 1  # rest: of a letter that is cut; before: bytes of the line that are decoded
        for number, piece in self._pieces():
            data, is_end = rest + piece, piece.endswith(b"\n")
            text, count = self._decoded(data, number, before, is_end)
            yield text
            rest, before = data[count:], 0 if is_end else before + count
        self._decoded(rest, number, before)

    def unpacked(self) -> BinaryIO:
        """The bytes of the text."""
        start = self._start()
        for magic, what, hint in NO_TEXT:
            if start.startswith(magic):
                raise self.error(f"This is {what}, not text.", hint)
        if start.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
            return as_file(lambda: recoded(self._decompressed()))
        if unpacking.is_zip(start):
            return unpacking.unzipped(self._decompressed, self.name)
        if start[TAR.start : TAR.stop] == b"ustar":
            raise self.error("This is a tar archive, not text.", "Unpack it, or pack its files as a .zip.")
        return self._decompressed()

    @property
    def is_packed(self) -> bool:
        """Whether it is compressed."""
        with self.opener() as stream:
            start = stream.read(len(XZ))
        return start.startswith((GZIP, XZ)) or unpacking.is_zip(start)

    def text_files(self) -> list[str]:
        """Names of the files that a zip archive's text is put together from; empty for another file."""
        return unpacking.text_files(self._decompressed, self.name) if unpacking.is_zip(self._start()) else []

    def _pieces(self) -> Iterator[tuple[int, bytes]]:
        """(line number, a line, or a part of a long one), without the byte order mark."""
        number, total = 1, 0
        try:
            limit = self.max_unpacked
            if limit is None and self.is_packed:
                limit = max(MINIMUM, TIMES * self.size)
            stream = self.unpacked()
            while piece := stream.readline(CHUNK):
                first, total = not total, total + len(piece)
                if limit is not None and total > limit:
                    what = f"The compressed file unpacks to more than {limit / CHUNK:,.0f} MB."
                    raise self.error(what, "Unpack it, and give the text.", number)
                if b"\0" in piece:
                    raise self.error("There is a NUL byte: this is not a text file.", "Save it as plain text.", number)
                yield number, piece.removeprefix(codecs.BOM_UTF8) if first else piece
                number += piece.endswith(b"\n")
        except DAMAGE as error:
            what = f"The compressed file is truncated or damaged ({error})."
            where = f"{self.name}, after line {number - 1}"
            raise InputError(what, where=where, hint="Compress or download it again.") from error

    def _start(self) -> bytes:
        with self._decompressed() as stream:
            return stream.read(TAR.stop)

    def _decompressed(self) -> BinaryIO:
        stream = self.opener()
        magic = stream.read(len(XZ))
        stream.seek(0)
        if magic.startswith(GZIP):
            return cast(BinaryIO, gzip.open(stream))
        if magic != XZ:
            return stream
        stream.close()
        return as_file(lambda: unxz(self.opener()))

    def _decoded(self, data: bytes, number: int, before: int = 0, is_end: bool = True) -> tuple[str, int]:
        """The text, and how many bytes it takes: all, unless the last letter is cut before the line's end."""
        try:
            return codecs.utf_8_decode(data, "strict", is_end)
        except UnicodeDecodeError as error:
            what = f"Byte {before + error.start + 1} of the line is not UTF-8."
            hint = "Save the file as UTF-8; from Latin-1: iconv -f WINDOWS-1252 -t UTF-8."
            raise self.error(what, hint, number) from error


def whole(text: str) -> str:
    """Half an emoji (a lone surrogate, as in a post cut short) has no UTF-8 and stops tokenizers: it becomes U+FFFD."""
    return LONE.sub("\ufffd", text)


def from_bytes(data: bytes, name: str) -> Source:
    """A paste or an upload that is held in memory."""
    return Source(name, hashlib.sha256(data).hexdigest(), len(data), lambda: io.BytesIO(data))


def from_path(path: Path | str) -> Source:
    """A file on disk, read in pieces; raises InputError when it is missing or a folder."""
    path = Path(path)
    try:
        with path.open("rb") as stream:
            digest = hashlib.file_digest(stream, "sha256").hexdigest()
        size, locator = path.stat().st_size, f"file:{path.absolute()}"
    except OSError as error:
        what = f"The file cannot be read ({error.strerror})."
        raise InputError(what, where=str(path), hint="Check the path.") from error
    return Source(path.name, digest, size, lambda: path.open("rb"), locator=locator)
