"""Bytes of a text on their way in: UTF-16, xz within a limit of memory, Word documents, pieces of bytes as a file."""

import codecs
import io
import lzma
from collections.abc import Callable, Iterator
from typing import Any, BinaryIO, cast
from xml.parsers import expat

from bertviz_core.errors import InputError

CHUNK = 1 << 20  # bytes
XZ_READ = CHUNK // 16
XZ_MEMORY = 100 * CHUNK  # `xz -9` needs 65 MB; a header may ask for gigabytes
MAX_MARKUP = 100 * CHUNK  # bytes of a Word document's XML
WORDS = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
PARAGRAPH, TEXT = f"{WORDS} p", f"{WORDS} t"
BREAKS = {f"{WORDS} tab", f"{WORDS} br", f"{WORDS} cr"}


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


class PieceFile(io.RawIOBase):
    """Pieces of bytes, for which `open_pieces` is called at each start, as a file that can be read forward, and again
    from its start."""

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


def paragraphs(pieces: Iterator[bytes], name: str) -> Iterator[bytes]:
    """A line of UTF-8 for each paragraph of a document's XML; an empty paragraph is a blank line. Raises InputError for
    XML that is broken or declares entities, as no Word document does."""
    reader, total = _Reader(), 0
    try:
        for piece in pieces:
            reader.parser.Parse(piece)
            total += len(piece)
            if total > MAX_MARKUP or total - reader.parser.CurrentByteIndex > CHUNK:
                hint = "Save its text as .txt."
                raise InputError("The Word document has too much markup, or a tag over 1 MB.", where=name, hint=hint)
            yield from reader.take()
            if sum(map(len, reader.line)) > CHUNK:
                raise InputError("A paragraph of the Word document is longer than 1 MB.", where=name, hint="Split it.")
        reader.parser.Parse(b"", True)
    except expat.ExpatError as error:
        raise InputError(f"The Word document is damaged ({error}).", where=name, hint="Save it again.") from error
    yield from reader.take()


class _Reader:
    """What expat has read of a document: whole lines, and the paragraph that is under way."""

    def __init__(self) -> None:
        self.lines: list[bytes] = []
        self.line: list[str] = []
        self.in_text = False
        self.parser = expat.ParserCreate(namespace_separator=" ")
        self.parser.StartElementHandler = self._start
        self.parser.EndElementHandler = self._end
        self.parser.CharacterDataHandler = self._text
        self.parser.StartDoctypeDeclHandler = self._refuse

    def take(self) -> list[bytes]:
        lines, self.lines = self.lines, []
        return lines

    def _start(self, element: str, _attributes: dict[str, str]) -> None:
        self.in_text = element == TEXT
        if element in BREAKS:
            self.line.append(" ")

    def _end(self, element: str) -> None:
        self.in_text = False
        if element == PARAGRAPH:
            self.lines.append("".join(self.line).replace("\n", " ").encode() + b"\n")
            self.line = []

    def _text(self, text: str) -> None:
        if self.in_text:
            self.line.append(text)

    def _refuse(self, *_: object) -> None:
        raise expat.ExpatError("it declares a document type")
