"""Bytes of a text on their way in: UTF-16, xz within a limit of memory, zip archives of text files (whose members are
only read, never written anywhere), pieces of bytes as a file."""

import codecs
import io
import lzma
import struct
import zipfile
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from itertools import pairwise
from pathlib import PurePosixPath
from typing import Any, BinaryIO, cast

from bertviz_core.errors import InputError

CHUNK = 1 << 20  # bytes
XZ_READ = CHUNK // 16
XZ_MEMORY = 100 * CHUNK  # `xz -9` needs 65 MB; a header may ask for gigabytes
MAX_MEMBERS = 10_000
MAX_DIRECTORY = 4 << 20  # bytes of a zip's list of members, which is read as a whole
BESIDE = ("readme", "license", "licence", "copying", ".", "__macosx")  # files whose names begin so are skipped
METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)  # the others may ask for any amount of memory

Open = Callable[[], BinaryIO]


class PieceFile(io.RawIOBase):
    """Pieces of bytes as a file that can be read forward, and again from its start."""

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
    """Pieces of bytes as a buffered file; `open_pieces` is called at each start."""
    return cast(BinaryIO, io.BufferedReader(PieceFile(open_pieces)))


def recoded(stream: BinaryIO) -> Iterator[bytes]:
    """UTF-16 bytes as UTF-8 pieces."""
    decoder = codecs.getincrementaldecoder("utf-16")()
    with stream:
        while piece := stream.read(CHUNK):
            yield decoder.decode(piece).encode("utf-8", "replace")
        yield decoder.decode(b"", True).encode()


def unxz(packed: BinaryIO) -> Iterator[bytes]:
    """What `lzma.open` reads, with a limit to the memory that the file's own header may ask for."""
    rest = packed.read(XZ_READ)
    while rest:
        unpacker = lzma.LZMADecompressor(lzma.FORMAT_XZ, memlimit=XZ_MEMORY)
        while not unpacker.eof:
            if unpacker.needs_input and not rest and not (rest := packed.read(XZ_READ)):
                raise EOFError("it ends before its end mark")
            yield unpacker.decompress(rest, CHUNK)
            rest = b""
        rest = (unpacker.unused_data or packed.read(XZ_READ)).lstrip(b"\0")  # a file may hold several streams


def joined(files: Iterable[Open]) -> Iterator[bytes]:
    """Texts one after the other, without byte order marks, a blank line between."""
    for number, open_file in enumerate(files):
        if number:
            yield b"\n\n"
        with open_file() as stream:
            yield stream.read(CHUNK).removeprefix(codecs.BOM_UTF8)
            while piece := stream.read(CHUNK):
                yield piece


def is_zip(start: bytes) -> bool:
    """Whether a file that starts so is a zip archive."""
    return start.startswith(b"PK\x03\x04")


def unzipped(open_archive: Open, name: str) -> BinaryIO:
    """The `text_files` of an archive as one text that ends in a blank line; raises InputError as they do."""
    chosen = set(text_files(open_archive, name))

    def pieces() -> Iterator[bytes]:
        yield from joined(read for member, read in _members(open_archive, name) if member in chosen)
        yield b"\n\n"

    return as_file(pieces)


def text_files(open_archive: Open, name: str) -> list[str]:
    """Names of an archive's files of the most common ending, .txt among equals, without a README, a licence and hidden
    files. Raises InputError for an archive that has none, or too many, or that cannot be read."""
    names = []
    for member, _ in _members(open_archive, name):
        names.append(member)
        if len(names) > MAX_MEMBERS:
            raise InputError(f"The archive has more than {MAX_MEMBERS:,} files.", where=name, hint="Join its files.")
    if "[Content_Types].xml" in names or "mimetype" in names:
        raise InputError("This is an office document or a book, not text.", where=name, hint="Save its text as .txt.")
    shown = [n for n in names if not any(p.lower().startswith(BESIDE) for p in PurePosixPath(n).parts if p != "..")]
    endings = Counter(PurePosixPath(member).suffix.lower() for member in shown)
    if not endings:
        raise InputError("The archive contains no text file.", where=name, hint="Pack one or more text files.")
    ending = max(endings, key=lambda ending: (endings[ending], ending == ".txt"))
    return [member for member in shown if PurePosixPath(member).suffix.lower() == ending]


def _members(open_archive: Open, name: str) -> Iterator[tuple[str, Open]]:
    """Each file's name, and what opens it while the next one has not been asked for."""
    with open_archive() as stream:
        size = stream.seek(0, io.SEEK_END)
        stream.seek(max(0, size - (1 << 16) - 22))
        end = stream.read()
        at = end.rfind(b"PK\x05\x06")
        if at < 0 or len(end) < at + 22 or struct.unpack("<I", end[at + 12 : at + 16])[0] > MAX_DIRECTORY:
            raise InputError("The archive is damaged, or has too many files.", where=name, hint="Pack it again.")
        with zipfile.ZipFile(stream) as archive:
            spans = sorted((info.header_offset, info.header_offset + info.compress_size) for info in archive.infolist())
            if any(start < 0 for start, _ in spans) or any(end > start for (_, end), (start, _) in pairwise(spans)):
                raise InputError("Files of the archive overlap, or begin before it.", where=name, hint="Pack it again.")
            for info in archive.infolist():
                if info.compress_type not in METHODS or info.flag_bits & 1:
                    what = f"{info.filename[:60]!r} is encrypted or packed in an unusual way."
                    raise InputError(what, where=name, hint="Pack it as an ordinary zip without a password.")
                if not info.is_dir():
                    yield info.filename, cast(Open, partial(archive.open, info))
