"""Zip and tar archives of text files, read as one text: members are only read, never written anywhere."""

from __future__ import annotations

import codecs
import io
import struct
import tarfile
import zipfile
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import PurePosixPath
from typing import Any, BinaryIO

from bertviz_core.corpora.unpacking import as_file, paragraphs
from bertviz_core.errors import InputError

BLOCK = 512  # bytes of a tar header; members are padded to it
MAX_MEMBERS = 10_000
MAX_DIRECTORY = 4 << 20  # bytes of a zip's list of members, which is read as a whole
LONGEST_NAME = 1 << 16  # bytes
PIECE = 1 << 16
BESIDE = ("readme", "license", "licence", "copying", ".", "__macosx")  # files whose names begin so are skipped
DOCX = "word/document.xml"
METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)  # the others may ask for any amount of memory

Member = tuple[str, Callable[[], Iterator[bytes]]]  # its name, and its bytes in pieces, to be read before the next
Open = Callable[[], BinaryIO]


def is_zip(start: bytes) -> bool:
    """Whether a file that starts so is a zip archive."""
    return start.startswith(b"PK\x03\x04")


def is_archive(start: bytes) -> bool:
    """Whether a file that starts so is a zip or a tar archive."""
    return is_zip(start) or (start[257:262] == b"ustar" and _header(start) is not None)


def joined(open_archive: Open, name: str) -> BinaryIO:
    """The text files of an archive one after the other, a blank line between, in one stream.

    Files of the most common ending are read; a README, a licence and hidden files are passed over. Of a Word document
    the paragraphs are read.

    Raises:
        InputError: The archive has no text file, too many, or is of a kind that cannot be read.
    """
    chosen = set(text_files(open_archive, name))

    def pieces() -> Iterator[bytes]:
        for member, read in _members(open_archive, name):
            if member in chosen:
                yield from paragraphs(read(), name) if member == DOCX else _ended(read())

    return as_file(pieces)


def text_files(open_archive: Open, name: str) -> list[str]:
    """Names of the files that `joined` puts one after the other, in their order: of the most common ending, .txt among
    equals. Raises InputError as `joined` does."""
    names = []
    for member, _ in _members(open_archive, name):
        names.append(member)
        if len(names) > MAX_MEMBERS:
            raise InputError(f"The archive has more than {MAX_MEMBERS:,} files.", where=name, hint="Join its files.")
    if DOCX in names:
        return [DOCX]
    if "[Content_Types].xml" in names or "mimetype" in names:
        raise InputError("This is an office document or a book, not text.", where=name, hint="Save its text as .txt.")
    shown = [n for n in names if not any(p.lower().startswith(BESIDE) for p in PurePosixPath(n).parts if p != "..")]
    endings = Counter(PurePosixPath(member).suffix.lower() for member in shown)
    if not endings:
        raise InputError("The archive contains no text file.", where=name, hint="Pack one or more text files.")
    ending = max(endings, key=lambda ending: (endings[ending], ending == ".txt"))
    return [member for member in shown if PurePosixPath(member).suffix.lower() == ending]


def _members(open_archive: Open, name: str) -> Iterator[Member]:
    with open_archive() as stream:
        of_kind = _of_zip if is_zip(stream.read(4)) else _of_tar
    return of_kind(open_archive, name)


def _ended(pieces: Iterator[bytes]) -> Iterator[bytes]:
    """A member without a byte order mark, and a blank line after it."""
    for number, piece in enumerate(pieces):
        yield piece.removeprefix(codecs.BOM_UTF8) if number == 0 else piece
    yield b"\n\n"


def _of_zip(open_archive: Open, name: str) -> Iterator[Member]:
    with open_archive() as stream:
        size = stream.seek(0, io.SEEK_END)
        stream.seek(max(0, size - (1 << 16) - 22))
        end = stream.read()
        at = end.rfind(b"PK\x05\x06")
        if at < 0 or len(end) < at + 22 or struct.unpack("<I", end[at + 12 : at + 16])[0] > MAX_DIRECTORY:
            raise InputError("The archive is damaged, or has too many files.", where=name, hint="Pack it again.")
        with zipfile.ZipFile(stream) as archive:
            for info in archive.infolist():
                if info.compress_type not in METHODS or info.flag_bits & 1:
                    raise InputError(
                        f"{info.filename[:60]!r} is encrypted or packed in an unusual way.",
                        where=name,
                        hint="Pack it as an ordinary zip without a password.",
                    )
                if not info.is_dir():
                    yield info.filename, lambda info=info: _pieces(archive.open(info))  # type: ignore[misc]


def _pieces(stream: Any) -> Iterator[bytes]:
    with stream:
        while piece := stream.read(PIECE):
            yield piece


def _of_tar(open_archive: Open, name: str) -> Iterator[Member]:
    """The regular files; links and devices are passed over. (The library's reader takes as much memory for a name as a
    header asks for.)"""
    with open_archive() as stream:
        long_name = ""
        while (block := stream.read(BLOCK)).strip(b"\0"):
            header = _header(block)
            if header is None:
                raise InputError("The tar archive is truncated or damaged.", where=name, hint="Pack it again.")
            body = _Body(stream, header.size)
            if header.type in (tarfile.GNUTYPE_LONGNAME, tarfile.XHDTYPE):
                text = b"".join(body.pieces(LONGEST_NAME))
                path = text.rstrip(b"\0") if header.type == tarfile.GNUTYPE_LONGNAME else _path_of(text)
                long_name = path.decode("utf-8", "replace") or long_name
            elif header.type in (tarfile.REGTYPE, tarfile.AREGTYPE):
                yield long_name or header.name, body.pieces
                long_name = ""
            elif header.type != tarfile.XGLTYPE:
                long_name = ""
            body.skip()


def _header(block: bytes) -> tarfile.TarInfo | None:
    """A member's header; None for a block that is none."""
    try:
        header = tarfile.TarInfo.frombuf(block, "utf-8", "replace")
    except tarfile.HeaderError:
        return None
    return header if header.size >= 0 else None


class _Body:
    """A member's bytes in a stream of a tar archive, with the padding after them."""

    def __init__(self, stream: BinaryIO, size: int) -> None:
        self.stream, self.left, self.padding = stream, size, -size % BLOCK

    def pieces(self, maximum: float = float("inf")) -> Iterator[bytes]:
        """The bytes that are left, `maximum` of them at most."""
        while self.left and maximum > 0:
            piece = self.stream.read(min(PIECE, self.left))
            if not piece:
                raise EOFError("it ends inside a file")
            self.left -= len(piece)
            maximum -= len(piece)
            yield piece

    def skip(self) -> None:
        """Read past the member, to the next header."""
        self.left += self.padding
        for _ in self.pieces():
            pass


def _path_of(records: bytes) -> bytes:
    """The path among the "length name=value" lines of a pax header."""
    return next((line.partition(b" path=")[2] for line in records.split(b"\n") if b" path=" in line[:20]), b"")
