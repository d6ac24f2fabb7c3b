"""Archives of text files are read member by member, never unpacked to anywhere, within fixed bounds."""

import gzip
import io
import lzma
import struct
import tarfile
import tracemalloc
import zipfile

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bertviz_core.corpora import unpacking
from bertviz_core.corpora.source import from_bytes
from bertviz_core.errors import InputError

FILES = {"a/one.txt": b"One.\nStill one.\n", "a/two.txt": b"\xef\xbb\xbfTwo.", "README.md": b"No corpus.\n"}
LINES = ["One.", "Still one.", "", "", "Two.", ""]


def zipped(files: dict[str, bytes], method: int = zipfile.ZIP_DEFLATED) -> bytes:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", method) as opened:
        for name, data in files.items():
            opened.writestr(name, data)
    return made.getvalue()


def lines(data: bytes, name: str = "x") -> list[str]:
    return [line for _, line in from_bytes(data, name).lines()]


@pytest.mark.parametrize("method", [zipfile.ZIP_DEFLATED, zipfile.ZIP_STORED])
def test_the_texts_of_an_archive_one_after_the_other(method):
    assert lines(zipped(FILES, method)) == LINES


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
        (["a.conll", "b.conll", "c.txt"], ["a.conll", "b.conll"]),
        ([".hidden/a.txt", "__MACOSX/b.txt", "LICENSE", "./c.txt"], ["./c.txt"]),
    ],
)
def test_which_files_make_the_corpus(names, wanted):
    assert from_bytes(zipped(dict.fromkeys(names, b"x")), "x.zip").text_files() == wanted


def test_a_bomb_in_an_archive_is_refused_before_it_fills_the_memory():
    data = zipped({"a.txt": b"word " * 12_000_000})
    assert len(data) < 400_000
    tracemalloc.start()
    try:
        with pytest.raises(InputError, match=r"unpacks to more than 50 MB|longer than"):
            for _ in from_bytes(data, "bomb").text():
                pass
        assert tracemalloc.get_traced_memory()[1] < 20_000_000
    finally:
        tracemalloc.stop()


def test_a_list_of_members_that_claims_more_memory_than_it_may_have_is_refused():
    packed = bytearray(zipped({"a.txt": b"x"}))
    at = packed.rfind(b"PK\x05\x06")
    packed[at + 12 : at + 16] = b"\xff" * 4
    with pytest.raises(InputError, match="damaged"):
        lines(bytes(packed))


def test_too_many_members_other_methods_and_empty_archives_are_refused(monkeypatch):
    monkeypatch.setattr(unpacking, "MAX_MEMBERS", 3)
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


def test_an_office_document_is_refused_with_what_to_do():
    with pytest.raises(InputError, match="office document"):
        lines(zipped({"[Content_Types].xml": b"<x/>", "word/document.xml": b"<x/>"}))


@pytest.mark.parametrize(
    ("start", "what"),
    [(b"%PDF-1.7\n%\xe2\xe3\n", "PDF"), (b"\xd0\xcf\x11\xe0\xa1\xb1", "old Word"), (b"{\\rtf1 a}", "RTF")],
)
def test_documents_that_are_no_text_are_named_with_what_to_do(start, what):
    with pytest.raises(InputError, match=what) as caught:
        lines(start, "paper.txt")
    assert caught.value.hint and "paper.txt" in caught.value.where


def test_members_that_overlap_are_refused() -> None:
    packed = zipped({"a.txt": b"one\n" * 1000})
    directory, end = packed.rfind(b"PK\x01\x02"), packed.rfind(b"PK\x05\x06")
    entries = packed[directory:end] * 3
    tail = struct.pack("<HHHHIIH", 0, 0, 3, 3, len(entries), directory, 0)
    with pytest.raises(InputError, match="overlap"):
        list(from_bytes(packed[:directory] + entries + b"PK\x05\x06" + tail, "a.zip").lines())
