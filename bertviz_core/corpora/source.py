"""Sources: named bytes with a digest, of files, pastes or uploads, which they unpack (gzip, xz, zip) and decode."""

import codecs
import gzip
import hashlib
import io
import lzma
import re
import zipfile
import zlib
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from itertools import chain, pairwise
from pathlib import Path, PurePosixPath
from typing import BinaryIO

from bertviz_core.errors import InputError

Line = tuple[int, str]  # its number, from 1, and its text
CHUNK = 1 << 20  # bytes that are read together
MAX_RATIO = 100  # times its size that a compressed file may unpack to: text shrinks to a tenth at best
MIN_UNPACKED = 50 * CHUNK  # bytes that a small file may unpack to
LONGEST_LINE = CHUNK  # characters: a reader takes up to hundreds of bytes for each character of a line
SURROGATE = re.compile("[\ud800-\udfff]")
GZIP = b"\x1f\x8b"  # first bytes of a file
XZ = b"\xfd7zXZ\0"
ZIP = b"PK\x03\x04"
EMPTY_ZIP = b"PK\x05\x06"
XZ_READ = CHUNK // 16
XZ_MEMORY = 100 * CHUNK  # `xz -9` needs 65 MB; a header may ask for gigabytes
MAX_MEMBERS = 10_000
MAX_DIRECTORY = 4 << 20  # bytes of a zip's list of members, which is read as a whole
# Members of archives with such names are left out, and everything in folders with such names.
SKIPPED = re.compile(r"(^|/)(readme|licen[cs]e|copying|__macosx|\.(?!\./))", re.IGNORECASE)
ZIP_METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)  # others may ask for any amount of memory
UNPACK = "Unpack it, or pack its files as a .zip."
# Where an archive has as many files of these as of .txt, as treebanks have both, the text is in them too.
ANNOTATED = (".conllu", ".conllup", ".conll", ".cupt")
NOT_TEXT = (  # position and bytes of the beginning, name of the format, hint
    (0, b"%PDF-", "a PDF", "Save it as text (pdftotext file.pdf file.txt), or copy its text and paste it."),
    (0, b"\xd0\xcf\x11\xe0", "an old Word document", "Save it as plain text."),
    (0, b"{\\rtf", "rich text (RTF)", "Save it as plain text."),
    (0, b"PAR1", "a Parquet file", 'Write its text as .txt, or give the column to the library: corpus=frame["text"].'),
    (4, b"1AY&SY", "a bzip2 file", UNPACK),
    (0, b"\x28\xb5\x2f\xfd", "a Zstandard file", UNPACK),
    (0, b"7z\xbc\xaf\x27\x1c", "a 7z archive", UNPACK),
    (0, b"Rar!\x1a\x07", "a RAR archive", UNPACK),
    (0, b"\x89PNG", "an image", "Give its text."),
    (0, b"\xff\xd8\xff", "an image", "Give its text."),
    (257, b"ustar", "a tar archive", UNPACK),
)
# Errors of reading and unpacking; RuntimeError is that of a zip that is encrypted or of a newer version.
DAMAGE = (EOFError, OSError, RuntimeError, UnicodeError, lzma.LZMAError, zipfile.BadZipFile, zlib.error)


@dataclass(frozen=True)
class Source:
    """A corpus file, or several as one.

    Attributes:
        digest: The sha256 of its bytes, hexadecimal; keys contain it.
        size: Its size in bytes.
        opener: Opens its bytes.
        max_unpacked: The most bytes to which it may unpack; None for MAX_RATIO times its size, and at least
            MIN_UNPACKED.
        locator: Where it is, "file:PATH" or "upload:TOKEN"; empty for bytes in memory.
        parts: The files that are read as one, in place of the opener's bytes.
        is_text: Whether it is text whatever it looks like, as entries of a list of texts are.
        beginnings: From the line at which each file begins to its name, for the parts and the members of archives that
            have been read.
    """

    name: str
    digest: str
    size: int
    opener: Callable[[], BinaryIO] = field(default=io.BytesIO, repr=False, compare=False)
    max_unpacked: int | None = field(default=None, repr=False, compare=False)
    locator: str = field(default="", repr=False, compare=False)
    parts: "tuple[Source, ...]" = field(default=(), repr=False, compare=False)
    is_text: bool = field(default=False, repr=False)
    beginnings: dict[int, str] = field(init=False, default_factory=dict, repr=False, compare=False)

    def error(self, what: str, hint: str = "", line: int | None = None) -> InputError:
        """What is wrong with the source, or with one of its lines, and what to do about it. Lines count over all parts;
        the error names the part and its own line."""
        where = self.name
        if line is not None:
            begin = max((first for first in self.beginnings if first <= line), default=1)
            where = f"{self.beginnings.get(begin, where)}, line {line - begin + 1}"
        return InputError(what, where=where, hint=hint)

    def lines(self, *, cut: bool = False) -> Iterator[Line]:
        """(line number from 1, line without its end), unpacked.

        A line ends at LF or CR LF, and at CR in a file without LF; at no other character.

        Raises:
            InputError: There are bytes that are not UTF-8, NUL bytes, broken compression, or a line over LONGEST_LINE,
                unless it is to be `cut`; or the file unpacks to too much. The error names the line.
        """
        line = ""
        for number, piece in self._pieces():
            is_too_long = len(line) + len(piece) > LONGEST_LINE
            line += "\n"[: piece.endswith("\n")] if cut and is_too_long else piece
            if is_too_long and not cut:
                what = f"The line is longer than {LONGEST_LINE / 1e6:.0f} MB."
                raise self.error(what, "Split it into lines.", number)
            if line.endswith("\n"):
                yield number, line.rstrip("\r\n")
                line = ""
        if line:
            yield number, line.rstrip("\r")

    def text(self) -> Iterator[str]:
        """The whole text in pieces, with the same checks as `lines`: a file may be a single line. Line ends stay."""
        return (piece for _, piece in self._pieces())

    @property
    def is_packed(self) -> bool:
        """Whether a part is compressed or an archive."""
        return any(part._open()[0].startswith((GZIP, XZ, ZIP)) for part in self.parts or [self])

    def text_files(self) -> list[str]:
        """Names of the files of a zip archive that are read; empty for another file."""
        return self._members()[0]

    def left_out(self) -> list[str]:
        """Names of the text files of zip archives that are not read, as others have another ending and are more."""
        return [f"{part.name}: {name}" for part in self.parts or [self] for name in part._members()[1]]

    def _members(self) -> tuple[list[str], list[str]]:
        """Names of the files of a zip archive: those that are read, and other texts."""
        magic, stream = self._open()
        with stream:
            if not magic.startswith(ZIP):
                return [], []
            _, read, others = self._archive(stream)
            return [info.filename for info in read], [info.filename for info in others]

    def _open(self) -> tuple[bytes, BinaryIO]:
        """First bytes, and a stream of all."""
        stream = self.opener()
        magic = stream.read(len(XZ))
        stream.seek(0)
        return magic, stream

    def _pieces(self) -> Iterator[tuple[int, str]]:
        """(line number, a line, or a part of a long one), without the byte order mark."""
        number = 1
        total = 0
        length = 0  # bytes of the line so far
        decoder = codecs.getincrementaldecoder("utf-8")()

        def texts() -> Iterator[Iterator[bytes]]:
            files = ((name, blocks) for part in self.parts or [self] for name, blocks in part._files())
            for index, (name, blocks) in enumerate(files):
                self.beginnings[number + 2 if index else 1] = name  # The file begins after the blank line of _join.
                yield blocks

        try:
            limit = self.max_unpacked
            if limit is None and self.is_packed:
                limit = max(MIN_UNPACKED, MAX_RATIO * self.size)
            for block in _join(texts()):
                total += len(block)
                if limit is not None and total > limit:
                    what = f"The compressed file unpacks to more than {limit / CHUNK:,.0f} MB."
                    raise self.error(what, "Unpack it, and give the text.", number)
                for piece in io.BytesIO(block):
                    if b"\0" in piece:
                        what = "There is a NUL byte: this is not a text file in UTF-8."
                        hint = "Save it as UTF-8; from UTF-16: iconv -f UTF-16LE (or UTF-16BE) -t UTF-8."
                        raise self.error(what, hint, number)
                    length += len(piece)
                    is_end = piece.endswith(b"\n")
                    yield number, self._decode(decoder, piece, is_end, number, length)
                    if is_end:
                        number += 1
                        length = 0
        except DAMAGE as error:
            what = f"The file cannot be read to its end ({error})."
            hint = "Check that it is still there and whole, or download it again."
            raise InputError(what, where=f"{self.name}, after line {number - 1}", hint=hint) from error
        self._decode(decoder, b"", True, number, length)

    def _files(self) -> Iterator[tuple[str, Iterator[bytes]]]:
        """(name, text as UTF-8 in blocks) of the file, or of each member of an archive, and an end without text."""
        magic, stream = self._open()
        with stream:
            if magic.startswith(EMPTY_ZIP):
                raise self.error("The zip is empty.", "Pack one or more text files.")
            if magic.startswith(ZIP):
                archive, members, _ = self._archive(stream)
                for info in members:
                    yield (
                        f"{self.name}: {info.filename}",
                        _with_line_ends(self._as_utf8(_chunks(archive.open(info).read))),
                    )
                yield self.name, iter(())
                return
            if magic.startswith(GZIP):
                blocks = _chunks(gzip.GzipFile(fileobj=stream).read)
            else:  # A plain file is read by lines, so that its position says how much of it has been read.
                blocks = _unxz(stream) if magic == XZ else _chunks(stream.readline)
            yield self.name, _with_line_ends(self._as_utf8(blocks))

    def _as_utf8(self, blocks: Iterator[bytes]) -> Iterator[bytes]:
        """Raises InputError for a beginning that no text has."""
        start = next(blocks, b"")
        for at, mark, what, hint in NOT_TEXT:
            if start.startswith(mark, at):
                raise self.error(f"This is {what}, not text.", hint)
        blocks = chain([start], blocks)
        if start.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
            blocks = (text.encode("utf-8", "replace") for text in codecs.iterdecode(blocks, "utf-16"))
        yield from blocks

    def _decode(self, decoder: codecs.IncrementalDecoder, piece: bytes, is_end: bool, number: int, length: int) -> str:
        """The text of a piece, which ends `length` bytes after the beginning of its line."""
        try:
            return decoder.decode(piece, is_end)
        except UnicodeDecodeError as error:
            what = f"Byte {length - len(error.object) + error.start + 1} of the line is not UTF-8."
            hint = "Save the file as UTF-8; from Latin-1: iconv -f WINDOWS-1252 -t UTF-8."
            raise self.error(what, hint, number) from error

    def _archive(self, stream: BinaryIO) -> tuple[zipfile.ZipFile, list[zipfile.ZipInfo], list[zipfile.ZipInfo]]:
        """An archive, its text files, which are those of the most common ending, and its other texts. Raises InputError
        for dangerous archives."""
        size = stream.seek(0, io.SEEK_END)
        stream.seek(max(0, size - 2**16 - 22))
        end = stream.read()
        at = end.rfind(b"PK\x05\x06")
        if at < 0 or len(end) < at + 22 or int.from_bytes(end[at + 12 : at + 16], "little") > MAX_DIRECTORY:
            raise self.error("The archive is damaged, or has too many files.", "Pack it again.")
        archive = zipfile.ZipFile(stream)
        members = [(PurePosixPath(info.filename), info) for info in archive.infolist() if not info.is_dir()]
        spans = sorted((info.header_offset, info.header_offset + info.compress_size) for _, info in members)
        if any(end > start for (_, end), (start, _) in pairwise([(0, 0), *spans])):
            raise self.error("Files of the archive overlap, or begin before it.", "Pack it again.")
        if len(members) > MAX_MEMBERS:
            raise self.error(f"The archive has more than {MAX_MEMBERS:,} files.", "Join its files.")
        for path, info in members:
            if info.compress_type not in ZIP_METHODS or info.flag_bits & 1:
                what = f"{str(path)[:60]!r} is encrypted or packed in an unusual way."
                raise self.error(what, "Pack it as an ordinary zip without a password.")
            if str(path) in ("[Content_Types].xml", "mimetype"):
                raise self.error("This is an office document or a book, not text.", "Save its text as .txt.")
        texts = [(path.suffix.lower(), info) for path, info in members if not SKIPPED.search(str(path))]
        endings = Counter(ending for ending, _ in texts)
        if not endings:
            raise self.error("The archive contains no text file.", "Pack one or more text files.")
        chosen = max(endings, key=lambda ending: (endings[ending], ending in ANNOTATED, ending == ".txt"))
        read = [info for ending, info in texts if ending == chosen]
        return archive, read, [info for ending, info in texts if ending != chosen]


def replace_surrogates(text: str) -> str:
    """Half an emoji (a lone surrogate, as in a post cut short) has no UTF-8 and stops tokenizers: it becomes U+FFFD."""
    return SURROGATE.sub("\ufffd", text)


def from_bytes(data: bytes, name: str, max_unpacked: int | None = None) -> Source:
    """A paste or an upload in memory."""
    return Source(name, hashlib.sha256(data).hexdigest(), len(data), lambda: io.BytesIO(data), max_unpacked)


def from_path(path: Path | str) -> Source:
    """A file on disk, read in pieces.

    Raises:
        InputError: The file cannot be opened.
    """
    path = Path(path)
    try:
        with path.open("rb") as stream:
            digest = hashlib.file_digest(stream, "sha256").hexdigest()
        size = path.stat().st_size
    except (OSError, ValueError) as error:
        what = f"The file cannot be read ({getattr(error, 'strerror', error)})."
        raise InputError(what, where=str(path), hint="Check the path.") from error
    name = replace_surrogates(path.name)  # A file's name may be no UTF-8; results are written with it.
    return Source(name, digest, size, lambda: path.open("rb"), locator=f"file:{path.absolute()}")


def _chunks(read: Callable[[int], bytes]) -> Iterator[bytes]:
    return iter(partial(read, CHUNK), b"")


def _unxz(packed: BinaryIO) -> Iterator[bytes]:
    """What `lzma.open` reads, with a limit to the memory that the file's own header may ask for."""
    rest = packed.read(XZ_READ)
    while rest:
        unpacker = lzma.LZMADecompressor(lzma.FORMAT_XZ, memlimit=XZ_MEMORY)
        while not unpacker.eof:
            if unpacker.needs_input and not rest and not (rest := packed.read(XZ_READ)):
                raise EOFError("it ends before its end mark")
            yield unpacker.decompress(rest, CHUNK)
            rest = b""
        rest = (unpacker.unused_data or packed.read(XZ_READ)).lstrip(b"\0")  # A file may have several streams.


def _with_line_ends(blocks: Iterator[bytes]) -> Iterator[bytes]:
    """The same text, with LF for each CR where it has no LF. The first LONGEST_LINE bytes decide: a line may not be
    longer. What is read at first ends there, or with the first line."""
    first = []
    length = 0
    for block in blocks:
        first.append(block)
        length += len(block)
        if b"\n" in block or length >= LONGEST_LINE:
            break
    start = b"".join(first)
    if b"\r" in start and b"\n" not in start:
        blocks = (block.replace(b"\r", b"\n") for block in blocks)
        start = start.replace(b"\r", b"\n")
    yield start
    yield from blocks


def _join(texts: Iterator[Iterator[bytes]]) -> Iterator[bytes]:
    """Texts one after the other, without byte order marks, a blank line between."""
    for number, blocks in enumerate(texts):
        yield (b"\n\n" if number else b"") + next(blocks, b"").removeprefix(codecs.BOM_UTF8)
        yield from blocks
