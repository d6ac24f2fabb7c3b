"""Sources: bytes to lines, strictly, whatever the line ends, the mark at the start, the compression and the archive."""

import bz2
import codecs
import gzip
import hashlib
import io
import lzma
import os
import struct
import tarfile
import tracemalloc
import zipfile
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bertviz_core.corpora import source as sources
from bertviz_core.corpora.source import from_bytes, from_path
from bertviz_core.errors import InputError

TEXT = "Erste Zeile, größer.\nZweite 🙂 Zeile.\n\nDritte.\n"
LINES = [(1, "Erste Zeile, größer."), (2, "Zweite 🙂 Zeile."), (3, ""), (4, "Dritte.")]


@pytest.mark.parametrize(
    "data",
    [
        TEXT.encode(),
        TEXT.replace("\n", "\r\n").encode(),
        b"\xef\xbb\xbf" + TEXT.encode(),
        TEXT.rstrip("\n").encode(),
        gzip.compress(TEXT.encode(), mtime=0),
        gzip.compress(TEXT.encode()[:20], mtime=0) + gzip.compress(TEXT.encode()[20:], mtime=0),
        lzma.compress(TEXT.encode()),
        TEXT.encode("utf-16"),
        b"\xfe\xff" + TEXT.replace("\n", "\r\n").encode("utf-16-be"),
        lzma.compress(b"\xef\xbb\xbf" + TEXT.replace("\n", "\r\n").encode()),
    ],
)
def test_the_same_lines_from_every_way_of_writing_them(source, data):
    assert list(source(data).lines()) == LINES


def test_bytes_that_are_not_utf8_name_line_and_byte(source):
    with pytest.raises(InputError) as caught:
        list(source(b"fine\nstill fine\ngr" + b"\xfc\xdfe\n", "latin.txt").lines())
    assert caught.value.where == "latin.txt, line 3"
    assert "Byte 3" in str(caught.value) and "UTF-8" in caught.value.hint


@pytest.mark.parametrize("data", [b"one\nt\0wo\n", "zwei\n".encode("utf-16-le"), gzip.compress(b"a\n\0\n", mtime=0)])
def test_nul_bytes_and_other_encodings_are_refused(source, data):
    with pytest.raises(InputError, match=r"NUL|UTF-8"):
        list(source(data).lines())


def test_a_nul_byte_says_how_to_convert_and_members_of_an_archive_are_read_as_files_are(source):
    with pytest.raises(InputError, match="NUL") as caught:
        list(source("zwei\n".encode("utf-16-le")).lines())
    assert "UTF-16LE" in caught.value.hint
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("a.txt", "zwei\n".encode("utf-16"))
    assert next(source(packed.getvalue()).lines()) == (1, "zwei")
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("a.txt", b"%PDF-1.7\n")
    with pytest.raises(InputError, match="PDF"):
        list(source(packed.getvalue()).lines())


@pytest.mark.parametrize("pack", [gzip.compress, lzma.compress])
def test_broken_compression_is_refused(source, pack):
    packed = pack(os.urandom(5000).hex().encode() + b"\n")
    for damaged in (packed[:7], packed[: len(packed) // 2], packed[:-1], packed[:30] + b"\xff" * 40 + packed[70:]):
        with pytest.raises(InputError, match="cannot be read to its end"):
            list(source(damaged, "broken").lines())


def test_a_file_that_is_gone_or_ends_within_a_letter_is_not_said_to_be_compressed(tmp_path, source):
    gone = replace(source(b"text"), opener=(tmp_path / "gone.txt").open)
    for cut_short in (gone, source("text".encode("utf-16")[:-1])):
        with pytest.raises(InputError, match="cannot be read to its end") as caught:
            list(cut_short.lines())
        assert "ompress" not in str(caught.value)


@given(st.binary(max_size=60).filter(lambda data: b"\0" not in data), st.integers(1, 5))
def test_text_and_lines_refuse_the_same_bytes_at_the_same_place(data, size):
    def message_of(read):
        try:
            list(read())
        except InputError as error:
            return str(error)
        return None

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("bertviz_core.corpora.source.CHUNK", size)
        source = from_bytes(data.removeprefix(codecs.BOM_UTF8), "x")
        assert message_of(source.text) == message_of(source.lines)


def zipped(files: dict[str, bytes], method: int = zipfile.ZIP_DEFLATED) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", method) as opened:
        for name, data in files.items():
            opened.writestr(name, data)
    return buffer.getvalue()


@pytest.mark.parametrize(
    ("pack", "line"),
    [
        (gzip.compress, b"a" * 9_999 + b"\n"),
        (lzma.compress, b"a"),
        (gzip.compress, b"\0"),
        (lambda data: zipped({"a.txt": data}), b"word "),
    ],
)
def test_a_bomb_is_refused_before_it_fills_the_memory(pack, line):
    bomb = from_bytes(pack(line * (60_000_000 // len(line))), "bomb")
    assert bomb.size < 400_000
    tracemalloc.start()
    try:
        with pytest.raises(InputError, match=r"unpacks to more than 50 MB|NUL") as caught:
            for _ in bomb.lines() if line.endswith((b"\n", b"\0")) else bomb.text():
                pass
        assert tracemalloc.get_traced_memory()[1] < 20_000_000  # the window of xz is 8 MB of them
    finally:
        tracemalloc.stop()
    assert caught.value.where.startswith(("bomb, line", "bomb: a.txt, line")) and caught.value.hint


def test_what_a_file_may_unpack_to_can_be_set():
    packed = from_bytes(gzip.compress(b"word\n" * 1000), "x")
    assert len(list(packed.lines())) == 1000
    assert len(list(replace(packed, max_unpacked=5000).lines())) == 1000
    with pytest.raises(InputError, match="unpacks to more than"):
        list(replace(packed, max_unpacked=4999).lines())


def test_the_digest_is_of_the_bytes_alone(source, tmp_path):
    path = tmp_path / "file.txt"
    path.write_bytes(TEXT.encode())
    found = from_path(path)
    assert found.digest == hashlib.sha256(TEXT.encode()).hexdigest() == source(TEXT, "other name").digest
    assert (found.name, found.size) == ("file.txt", len(TEXT.encode()))
    assert list(found.lines()) == list(found.lines()) == LINES


def test_a_missing_file_and_a_folder_are_refused(tmp_path):
    for path in (tmp_path / "none.txt", tmp_path):
        with pytest.raises(InputError, match="Check the path"):
            from_path(path)


FILES = {"a/one.txt": b"One.\nStill one.\n", "a/two.txt": b"\xef\xbb\xbfTwo.", "README.md": b"No corpus.\n"}
JOINED = ["One.", "Still one.", "", "", "Two.", ""]


def lines(data: bytes, name: str = "x") -> list[str]:
    return [line for _, line in from_bytes(data, name).lines()]


@pytest.mark.parametrize("method", [zipfile.ZIP_DEFLATED, zipfile.ZIP_STORED])
def test_the_texts_of_an_archive_one_after_the_other(method):
    assert lines(zipped(FILES, method)) == JOINED


@pytest.mark.parametrize("compress", [bytes, gzip.compress, lzma.compress])
def test_a_tar_archive_is_refused_with_what_to_do(compress):
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w") as opened:
        opened.addfile(tarfile.TarInfo("a.txt"))
    with pytest.raises(InputError, match=r"tar archive.*\.zip"):
        lines(compress(packed.getvalue()))


@pytest.mark.parametrize(
    ("names", "wanted"),
    [
        (["a.txt", "b.ann"], ["a.txt"]),
        (["a.txt", "b.conllu"], ["b.conllu"]),
        (["a.conll", "b.conll", "c.txt"], ["a.conll", "b.conll"]),
        ([".hidden/a.txt", "__MACOSX/b.txt", "LICENSE", "./c.txt"], ["./c.txt"]),
    ],
)
def test_which_files_make_the_corpus(names, wanted):
    assert from_bytes(zipped(dict.fromkeys(names, b"x")), "x.zip").text_files() == wanted


def test_too_many_members_other_methods_and_empty_archives_are_refused(monkeypatch):
    monkeypatch.setattr(sources, "MAX_MEMBERS", 3)
    with pytest.raises(InputError, match="more than 3 files"):
        lines(zipped({f"{i}.txt": b"a" for i in range(4)}))
    with pytest.raises(InputError, match="no text file"):
        lines(zipped({"README": b"a"}))
    for method in (zipfile.ZIP_LZMA, zipfile.ZIP_BZIP2):
        with pytest.raises(InputError, match="unusual way"):
            lines(zipped({"a.txt": b"a"}, method))


@settings(max_examples=60, deadline=None)
@given(st.sampled_from([zipped(FILES), gzip.compress(zipped(FILES))]), st.data())
def test_damaged_archives_are_read_or_refused(packed, data):
    at = data.draw(st.integers(0, len(packed) - 1))
    broken = packed[:at] + bytes([data.draw(st.integers(0, 255))]) + packed[at + 1 :]
    for damaged in (broken, packed[:at]):
        try:
            lines(damaged, "any")
        except InputError as error:
            assert "any" in error.where


@pytest.mark.parametrize(
    ("start", "what"),
    [
        (b"%PDF-1.7\n%\xe2\xe3\n", "PDF"),
        (b"PAR1\x15\x04", "Parquet"),
        (b"\xd0\xcf\x11\xe0\xa1\xb1", "old Word"),
        (b"{\\rtf1 a}", "RTF"),
        (bz2.compress(b"One.\n"), "bzip2"),
        (b"\x28\xb5\x2f\xfd\0", "Zstandard"),
        (b"7z\xbc\xaf\x27\x1c\0", "7z"),
        (b"\x89PNG\r\n", "image"),
        (zipped({"[Content_Types].xml": b"<x/>", "word/document.xml": b"<x/>"}), "office document"),
    ],
    # A zip has the time in it, and every process needs the same names.
    ids=["pdf", "parquet", "doc", "rtf", "bzip2", "zstandard", "7z", "image", "docx"],
)
def test_documents_that_are_no_text_are_named_with_what_to_do(start, what):
    with pytest.raises(InputError, match=what) as caught:
        lines(start, "paper.txt")
    assert caught.value.hint and "paper.txt" in caught.value.where


def test_a_list_of_members_that_overlaps_or_claims_too_much_memory_is_refused() -> None:
    packed = bytearray(zipped({"a.txt": b"one\n" * 1000}))
    directory, end = packed.rfind(b"PK\x01\x02"), packed.rfind(b"PK\x05\x06")
    entries = packed[directory:end] * 3
    tail = struct.pack("<HHHHIIH", 0, 0, 3, 3, len(entries), directory, 0)
    with pytest.raises(InputError, match="overlap"):
        lines(bytes(packed[:directory] + entries + b"PK\x05\x06" + tail))
    packed[end + 12 : end + 16] = b"\xff" * 4
    with pytest.raises(InputError, match="damaged"):
        lines(bytes(packed))
