"""Sources: bytes to lines, strictly, whatever the line ends, the mark at the start and the compression."""

import codecs
import gzip
import hashlib
import lzma
import os
import tracemalloc
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

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


@given(st.lists(st.text(st.characters(codec="utf-8", exclude_characters="\0\r\n\ufeff"), max_size=20), max_size=8))
def test_lines_read_back(lines):
    data = "".join(line + "\n" for line in lines).encode()
    assert [line for _, line in from_bytes(data, "x").lines()] == lines


@given(st.binary(max_size=200))
def test_any_bytes_are_read_or_refused_with_a_place(data):
    try:
        list(from_bytes(data, "any").lines())
    except InputError as error:
        assert "any" in error.where and error.hint


def test_bytes_that_are_not_utf8_name_line_and_byte(source):
    with pytest.raises(InputError) as caught:
        list(source(b"fine\nstill fine\ngr" + b"\xfc\xdfe\n", "latin.txt").lines())
    assert caught.value.where == "latin.txt, line 3"
    assert "Byte 3" in str(caught.value) and "UTF-8" in caught.value.hint


@pytest.mark.parametrize("data", [b"one\nt\0wo\n", "zwei\n".encode("utf-16-le"), gzip.compress(b"a\n\0\n", mtime=0)])
def test_nul_bytes_and_other_encodings_are_refused(source, data):
    with pytest.raises(InputError, match=r"NUL|UTF-8"):
        list(source(data).lines())


@pytest.mark.parametrize("pack", [gzip.compress, lzma.compress])
def test_broken_compression_is_refused(source, pack):
    packed = pack(os.urandom(5000).hex().encode() + b"\n")
    for damaged in (packed[:7], packed[: len(packed) // 2], packed[:-1], packed[:30] + b"\xff" * 40 + packed[70:]):
        with pytest.raises(InputError, match="damaged"):
            list(source(damaged, "broken").lines())


@given(st.binary(max_size=60).filter(lambda data: b"\0" not in data), st.integers(1, 5))
def test_text_and_lines_refuse_the_same_bytes_at_the_same_place(data, size):
    def said(read):
        try:
            list(read())
        except InputError as error:
            return str(error)
        return None

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("bertviz_core.corpora.source.CHUNK", size)
        source = from_bytes(data.removeprefix(codecs.BOM_UTF8), "x")
        assert said(source.text) == said(source.lines)


@pytest.mark.parametrize(
    ("pack", "line"), [(gzip.compress, b"a" * 9_999 + b"\n"), (lzma.compress, b"a"), (gzip.compress, b"\0")]
)
def test_a_bomb_is_refused_before_it_fills_the_memory(pack, line):
    bomb = from_bytes(pack(line * (60_000_000 // len(line))), "bomb")
    assert bomb.size < 300_000
    tracemalloc.start()
    try:
        with pytest.raises(InputError, match=r"unpacks to more than 50 MB|NUL") as caught:
            for _ in bomb.lines() if line != b"a" else bomb.text():
                pass
        assert tracemalloc.get_traced_memory()[1] < 16_000_000  # the window of xz is 8 MB of them
    finally:
        tracemalloc.stop()
    assert caught.value.where.startswith("bomb, line") and caught.value.hint


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
