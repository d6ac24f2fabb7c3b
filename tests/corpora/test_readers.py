"""Texts and JSON are told apart by their content; word vectors are read from every packing, and odd lines named."""

import gzip
import io
import lzma
import zipfile

import numpy as np
import pytest

from bertviz_core.corpora import MAX_LOCATIONS, Skipped
from bertviz_core.corpora.authors_json import ExampleCorpus
from bertviz_core.corpora.readers import TextCorpus, read_text, read_vectors
from bertviz_core.corpora.source import from_bytes
from bertviz_core.errors import InputError

JSON = ['[{"text": "a"}]', '\n\n[\n {"text": "a"}]', '[ {"text": "a"} ]', "\ufeff[{}]", "[]", "[\n]"]
PLAIN = ["Plain text.", "[1] A footnote first.", "[ ... ] it went on", "[", "{a}", "<b>bold</b>"]


@pytest.mark.parametrize(
    ("data", "name", "corpus"),
    [
        *((text, "paste", ExampleCorpus) for text in JSON),
        *((text, "given.txt", TextCorpus) for text in PLAIN),
        ('{"text": "a"}', "X.JSON", ExampleCorpus),
        (gzip.compress(b'[{"text": "a"}]', mtime=0), "x.json.gz", ExampleCorpus),
    ],
)
def test_json_is_recognized_among_texts(source, data, name, corpus):
    assert isinstance(read_text(source(data, name)), corpus)


@pytest.mark.parametrize("text", ["", "\n\n", " \t\r\n", "\ufeff"])
@pytest.mark.parametrize("name", ["x.txt", "x.json"])
def test_nothing_is_refused(source, text, name):
    with pytest.raises(InputError, match=r"empty|blank"):
        read_text(source(text, name))


def test_left_out_counts_all_and_names_the_first():
    skipped = Skipped()
    for line in range(MAX_LOCATIONS + 5):
        skipped.add("too long", f"line {line}")
    skipped.add("unknown", "line 1", 3)
    first, second = skipped.to_json()
    assert (first["reason"], first["count"], len(first["where"])) == ("too long", MAX_LOCATIONS + 5, MAX_LOCATIONS)
    assert (second["reason"], second["count"], second["where"]) == ("unknown", 3, ["line 1"])


LINES = [(0, 1, "a"), (0, 2, "b"), (1, 4, "c")]


@pytest.mark.parametrize(
    ("text", "found"),
    [("a\nb\n\nc\n", LINES), ("a\r\nb\r\n\r\nc", LINES), ("\n\na\n\n \t\n\nb\n\n\n", [(0, 3, "a"), (1, 7, "b")])],
)
def test_blank_lines_end_documents(source, text, found):
    corpus = TextCorpus(source(text))
    for _ in range(2):  # read anew
        assert [(p.document, p.line, p.text) for p in corpus.paragraphs()] == found


TEXT = "the 1 2\ncat -0.5 3e-1\n. . 7 8\nthe 9 9\nparis 4 5\n"


def zipped(*names: str, text: str = TEXT) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name in names:
            archive.writestr(name, text)
    return buffer.getvalue()


@pytest.mark.parametrize(
    "data",
    [TEXT.encode(), gzip.compress(TEXT.encode()), lzma.compress(TEXT.encode()), zipped("a.txt")],
    ids=["plain", "gzip", "xz", "zip"],
)
def test_every_packing_gives_the_words_asked_for(data):
    rows, matrix = read_vectors(from_bytes(data, "v"), {"The", "cat", "Paris", "zebra"})
    assert set(rows) == {"The", "cat", "Paris", "zebra"} and matrix.shape == (4, 2) and matrix.dtype == np.float32
    assert matrix[0].tolist() == [0, 0] and rows["zebra"] == 0
    assert matrix[rows["The"]].tolist() == [1, 2]  # the first of two
    assert matrix[rows["cat"]].tolist() == pytest.approx([-0.5, 0.3])


def test_a_header_is_skipped_and_a_word_with_a_space_does_no_harm():
    rows, matrix = read_vectors(from_bytes(("4 2\n" + TEXT).encode(), "v"), {"cat", ". ."})
    assert matrix[rows[". ."]].tolist() == [7, 8]


@pytest.mark.parametrize(
    ("data", "where"),
    [
        (b"the 1 2\ncat 1\n", "line 2"),
        (b"the 1 2\ncat 1 x\n", "line 2"),
        (b"the 1 2\ncat 1 nan\n", "line 2"),
        (b"the 1 2\n\xff 1 2\n", "line 2"),
        (b"the\n", "line 1"),
        (b"", "v"),
        (b"PK\x03\x04 and nothing more", "v"),
    ],
)
def test_what_nobody_can_read_is_named(data, where):
    with pytest.raises(InputError) as caught:
        read_vectors(from_bytes(data, "v"), {"the", "cat"})
    assert where in caught.value.where and caught.value.hint


def test_an_archive_of_several_files_is_refused():
    names = [f"glove.6B.{dimension}d.txt" for dimension in (50, 100, 200, 300)]
    with pytest.raises(InputError, match="has 4 files") as caught:
        read_vectors(from_bytes(zipped(*names), "glove.6B.zip"), {"the"})
    assert caught.value.where == "glove.6B.zip" and "give one of them" in caught.value.hint
    assert read_vectors(from_bytes(zipped("README.md", "v.txt"), "v.zip"), {"the"})[0] == {"the": 1}
