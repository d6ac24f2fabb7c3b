"""Archives of text files are read member by member, never unpacked to anywhere, within fixed bounds."""

from __future__ import annotations

import gzip
import io
import lzma
import tarfile
import tracemalloc
import zipfile

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bertviz_core.corpora import archive
from bertviz_core.corpora.source import from_bytes
from bertviz_core.errors import InputError

FILES = {"a/one.txt": b"One.\nStill one.\n", "a/two.txt": b"\xef\xbb\xbfTwo.", "README.md": b"No corpus.\n"}
LINES = ["One.", "Still one.", "", "", "Two.", ""]


def tar(files: dict[str, bytes], form: int = tarfile.PAX_FORMAT) -> bytes:
    made = io.BytesIO()
    with tarfile.open(fileobj=made, mode="w", format=form) as opened:
        for name, data in files.items():
            info = tarfile.TarInfo(name)
            info.size = len(data)
            opened.addfile(info, io.BytesIO(data))
    return made.getvalue()


def zipped(files: dict[str, bytes], method: int = zipfile.ZIP_DEFLATED) -> bytes:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", method) as opened:
        for name, data in files.items():
            opened.writestr(name, data)
    return made.getvalue()


def lines(data: bytes, name: str = "x") -> list[str]:
    return [line for _, line in from_bytes(data, name).lines()]


PACKINGS = {
    "zip": zipped,
    "stored": lambda files: zipped(files, zipfile.ZIP_STORED),
    "tar": tar,
    "gnu": lambda files: tar(files, tarfile.GNU_FORMAT),
    "ustar": lambda files: tar(files, tarfile.USTAR_FORMAT),
    "tar.gz": lambda files: gzip.compress(tar(files)),
    "tar.xz": lambda files: lzma.compress(tar(files)),
}


@pytest.mark.parametrize("pack", PACKINGS.values(), ids=PACKINGS)
def test_the_texts_of_an_archive_one_after_the_other(pack):
    assert lines(pack(FILES)) == LINES
    assert (
        lines(pack({"n" * 150 + "/" + "m" * 90 + ".txt": b"Deep.\n"}))[0] == "Deep."
        if pack is not PACKINGS["ustar"]
        else True
    )


@pytest.mark.parametrize(
    ("names", "wanted"),
    [
        (["a.txt", "b.ann"], ["a.txt"]),
        (["a.conll", "b.conll", "c.txt"], ["a.conll", "b.conll"]),
        ([".hidden/a.txt", "__MACOSX/b.txt", "LICENSE", "./c.txt"], ["./c.txt"]),
        (["word/document.xml", "a.xml", "[Content_Types].xml"], ["word/document.xml"]),
    ],
)
def test_which_files_make_the_corpus(names, wanted):
    assert from_bytes(zipped(dict.fromkeys(names, b"x")), "x.zip").text_files() == wanted


def test_links_and_folders_are_passed_over_and_paths_lead_nowhere():
    made = io.BytesIO()
    with tarfile.open(fileobj=made, mode="w") as opened:
        for name, kind, to in (
            ("up.txt", tarfile.SYMTYPE, "/etc/passwd"),
            ("hard.txt", tarfile.LNKTYPE, "../x"),
            ("d.txt", tarfile.DIRTYPE, ""),
        ):
            info = tarfile.TarInfo(name)
            info.type, info.linkname = kind, to
            opened.addfile(info)
        info = tarfile.TarInfo("../../outside.txt")
        info.size = 6
        opened.addfile(info, io.BytesIO(b"Text.\n"))
    assert lines(made.getvalue()) == ["Text.", "", ""]


@pytest.mark.parametrize("pack", [PACKINGS["tar.xz"], PACKINGS["tar.gz"], zipped])
def test_a_bomb_in_an_archive_is_refused_before_it_fills_the_memory(pack):
    data = pack({"a.txt": b"word " * 12_000_000})
    assert len(data) < 400_000
    tracemalloc.start()
    try:
        with pytest.raises(InputError, match=r"unpacks to more than 50 MB|longer than"):
            for _ in from_bytes(data, "bomb").text():
                pass
        assert tracemalloc.get_traced_memory()[1] < 20_000_000
    finally:
        tracemalloc.stop()


def test_a_header_cannot_ask_for_memory():
    """A name of gigabytes in a pax header, and a list of members of a zip that claims more than it may have."""
    header = bytearray(tar({"a.txt": b"x"})[:512])
    header[156:157], header[124:136] = b"x", b"77777777777\0"
    header[148:156] = b"%06o\0 " % (sum(header) - sum(header[148:156]) + 256)
    with pytest.raises(InputError, match=r"damaged|truncated"):
        lines(bytes(header) + b"y" * 2000)
    packed = bytearray(zipped({"a.txt": b"x"}))
    at = packed.rfind(b"PK\x05\x06")
    packed[at + 12 : at + 16] = b"\xff" * 4
    with pytest.raises(InputError, match="damaged"):
        lines(bytes(packed))


def test_too_many_members_other_methods_and_empty_archives_are_refused(monkeypatch):
    monkeypatch.setattr(archive, "MAX_MEMBERS", 3)
    for pack in (tar, zipped):
        with pytest.raises(InputError, match="more than 3 files"):
            lines(pack({f"{i}.txt": b"a" for i in range(4)}))
        with pytest.raises(InputError, match="no text file"):
            lines(pack({"README": b"a"}))
    for method in (zipfile.ZIP_LZMA, zipfile.ZIP_BZIP2):
        with pytest.raises(InputError, match="unusual way"):
            lines(zipped({"a.txt": b"a"}, method))


def test_a_zip_that_asks_for_a_later_version_is_refused():
    packed = bytearray(zipped(FILES))
    packed[packed.index(b"PK\x01\x02") + 6] = 64  # the version needed to extract the first file: 6.4
    with pytest.raises(InputError, match=r"version 6\.4"):
        lines(bytes(packed))


@settings(max_examples=60, deadline=None)
@given(st.sampled_from([tar(FILES), zipped(FILES), gzip.compress(tar(FILES))]), st.data())
def test_damaged_archives_are_read_or_refused(packed, data):
    at = data.draw(st.integers(0, len(packed) - 1))
    broken = packed[:at] + bytes([data.draw(st.integers(0, 255))]) + packed[at + 1 :]
    for damaged in (broken, packed[:at]):
        try:
            lines(damaged, "any")
        except InputError as error:
            assert "any" in error.where


def word(body: str, doctype: str = "") -> bytes:
    space = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
    text = f'<?xml version="1.0"?>{doctype}<w:document xmlns:w="{space}"><w:body>{body}</w:body></w:document>'
    return zipped({"[Content_Types].xml": b"<x/>", "word/document.xml": text.encode()})


def test_the_paragraphs_of_a_word_document():
    first = "<w:p><w:r><w:t>One </w:t></w:r><w:r><w:t>line &amp; more.</w:t><w:tab/><w:t>x</w:t></w:r></w:p>"
    body = f"{first}<w:p/><w:p><w:r><w:t>Ünd.</w:t></w:r></w:p>"
    assert lines(word(body)) == ["One line & more. x", "", "Ünd."]
    bomb = '<!DOCTYPE x [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;">]>'
    for broken in (word("<w:p><w:r><w:t>&b;</w:t></w:r></w:p>", bomb), word("<w:p>")):
        with pytest.raises(InputError, match="damaged"):
            lines(broken)
    with pytest.raises(InputError, match="office document"):
        lines(zipped({"[Content_Types].xml": b"<x/>", "xl/workbook.xml": b"<x/>"}))


@pytest.mark.parametrize(
    ("start", "what"),
    [(b"%PDF-1.7\n%\xe2\xe3\n", "PDF"), (b"\xd0\xcf\x11\xe0\xa1\xb1", "old Word"), (b"{\\rtf1 a}", "RTF")],
)
def test_documents_that_are_no_text_are_named_with_what_to_do(start, what):
    with pytest.raises(InputError, match=what) as caught:
        lines(start, "paper.txt")
    assert caught.value.hint and "paper.txt" in caught.value.where
