"""Decides from the whole of a source whether it is a treebank, has coreference or is text, and estimates its size."""

import codecs
import hashlib
import io
import re
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import lru_cache, partial
from typing import BinaryIO

from bertviz_core.corpora import agreement, annotation_formats, pairs
from bertviz_core.corpora.format_sampling import survey
from bertviz_core.corpora.source import Source, from_bytes
from bertviz_core.errors import InputError

START_LENGTH = 1 << 16  # characters at the start of a file that decide what it is
CONTROL_CHARACTERS = re.compile(rb"[\x00-\x08\x0e-\x1f]")  # characters that no text has
UNPACKED = 3  # about how many times its packed size a file unpacks to
MARKUP = ("<", "{", "[", "#")
CJK = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff"  # These are written without spaces, so each letter counts as a word.


def kinds(source: Source) -> tuple[str, ...]:
    """What the source can be read as, the most specific first.

    Raises:
        InputError: The source cannot be read.
    """
    if source.is_text:
        return ("text",)
    found = survey(source)
    if pairs.recognize(found):
        return ("pairs", "text")
    annotated = annotation_formats.likely_kinds(found) if found.rows else []
    return (*annotated, *["pairs"] * ("treebank" in annotated and agreement.recognize(found)), "text")


def is_prose(source: Source) -> bool:
    """Whether its lines are sentences rather than columns, which have numbers first, or markup."""
    rows = survey(source).texts
    prose = [row.split() for row in rows if "\t" not in row and not row.startswith(MARKUP)]
    return 2 * sum(len(words) > 3 and not any(word[0].isdigit() for word in words[:2]) for words in prose) > len(rows)


def _start(source: Source) -> str:
    head = ""
    for piece in source.text():
        head += piece
        if len(head) > START_LENGTH:
            return head[: head.rfind("\n") + 1 or None]
    return head


def join_files(files: Sequence[tuple[bytes, str]], max_unpacked: int) -> tuple[bytes, Source, str]:
    """Files (bytes, name), unpacked where there are several, as one: its bytes, its source, and the encoding it was
    converted from.

    Raises:
        InputError: The files cannot be read, are too large or of different kinds.
    """
    decoded = [(*to_utf8(data), name) for data, name in files]
    sources = [from_bytes(data, name, max_unpacked) for data, _, name in decoded]
    if len(decoded) == 1:
        first, encoding, _ = decoded[0]
        return first, sources[0], encoding
    if len({kinds(source)[0] for source in sources}) > 1:
        listed = ", ".join(f"{source.name}: {kinds(source)[0]}" for source in sources[:5])
        raise InputError(f"The files are of different kinds ({listed}).", hint="Upload one kind at a time.")
    joined = b""
    for source in sources:
        joined += (_beginning(source) + "".join(source.text())).encode() + b"\n\n"
        if len(joined) > max_unpacked:
            raise InputError(f"Together the files have over {max_unpacked:,} bytes.", hint="Upload fewer files.")
    name = f"{sources[0].name} and {len(sources) - 1} more"
    digest = hashlib.sha256(joined).hexdigest()
    return joined, Source(name, digest, len(joined), max_unpacked=max_unpacked, parts=tuple(sources)), ""


def _beginning(source: Source) -> str:
    """A line that begins a document, for a file with coreference that has none: chains of two files are not the
    same."""
    found = survey(source)
    form = annotation_formats.recognize("coreference", found) if "coreference" in kinds(source) else None
    if not isinstance(form, annotation_formats.CoreferenceFormat) or found.new_documents or found.has_document_lines:
        return ""
    return form.new_document.format(" ".join(source.name.split()))


def to_utf8(data: bytes) -> tuple[bytes, str]:
    """Bytes as UTF-8, and the encoding that they were in; "" where they stay as they are."""
    encodings = [("utf-8", "")]
    if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        encodings = [("utf-16", "UTF-16")]
    elif not CONTROL_CHARACTERS.search(data):
        # Windows-1252 has no letter for five bytes.
        encodings += [("cp1252", "Windows-1252 (Latin-1)"), ("latin-1", "Latin-1")]
    for codec, encoding in encodings:
        with suppress(UnicodeDecodeError):
            return data.decode(codec).encode(), encoding
    return data, ""


@lru_cache(maxsize=4)  # A source in memory stays there while it is cached.
def estimate_word_count(source: Source) -> int:
    """The number of words, as a text's beginning, or the sample of a file in a format of annotated ones, suggests.

    Raises:
        InputError: The source cannot be read.
    """
    kind = kinds(source)[0]
    if kind == "text":
        return _estimate_text(source)
    found = survey(source)
    form = next((each for each in annotation_formats.FORMATS if each.kind == kind and each.recognize(found)), None)
    words = form.words(found) if form else (word for text in found.texts for word in text.split())
    return max(1, round(found.rows * sum(1 for _ in words) / len(found.texts)))


def _estimate_text(source: Source) -> int:
    start = _start(source)
    words = len(start.split()) + len(re.findall(f"[{CJK}]", start))
    if len(start) > START_LENGTH // 2:  # The file may have more.
        size = source.size * (UNPACKED if source.is_packed else 1)
        words = round(words * max(1.0, size / len(start.encode())))
    return max(1, words)


def track_position(source: Source) -> tuple[Source, Callable[[], float]]:
    """The same source, and how far its latest reading has come: the share of the bytes, above 0 and up to 1."""
    latest: tuple[int, Source, BinaryIO] = (0, source, io.BytesIO())  # bytes before the part, the part, its stream

    def opener(part: Source, before: int) -> BinaryIO:
        nonlocal latest
        latest = before, part, part.opener()
        return latest[2]

    def share() -> float:
        before, part, stream = latest
        read = before + (part.size if stream.closed else stream.tell())
        return min(1.0, max(1, read) / max(1, source.size))

    parts = []
    before = 0
    for part in source.parts or (source,):
        parts.append(replace(part, opener=partial(opener, part, before)))
        before += part.size
    return replace(source, parts=tuple(parts)), share
