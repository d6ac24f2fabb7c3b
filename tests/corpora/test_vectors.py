"""Word vectors: every packing, only the corpus's words, odd lines named."""

import gzip
import io
import lzma
import zipfile

import numpy as np
import pytest

from bertviz_core.corpora.readers import read_vectors
from bertviz_core.corpora.source import from_bytes
from bertviz_core.errors import InputError

TEXT = "the 1 2\ncat -0.5 3e-1\n. . 7 8\nthe 9 9\nparis 4 5\n"


def zipped(*names: str, text: str = TEXT) -> bytes:
    held = io.BytesIO()
    with zipfile.ZipFile(held, "w", zipfile.ZIP_DEFLATED) as archive:
        for name in names:
            archive.writestr(name, text)
    return held.getvalue()


@pytest.mark.parametrize(
    "data",
    [TEXT.encode(), gzip.compress(TEXT.encode()), lzma.compress(TEXT.encode()), zipped("a.txt")],
    ids=["plain", "gzip", "xz", "zip"],
)
def test_every_packing_gives_the_words_asked_for(data):
    found = read_vectors(from_bytes(data, "v"), {"The", "cat", "Paris", "zebra"})
    assert set(found.rows) == {"the", "cat", "paris"} and found.matrix.dtype == np.float32
    assert found.matrix[0].tolist() == [0, 0] and found.row("zebra") == 0
    assert found.matrix[found.row("The")].tolist() == [1, 2]  # the first of two
    assert found.matrix[found.row("cat")].tolist() == pytest.approx([-0.5, 0.3])


def test_a_header_is_skipped_and_a_word_with_a_space_does_no_harm():
    found = read_vectors(from_bytes(("4 2\n" + TEXT).encode(), "v"), {"cat", ". ."})
    assert found.matrix[found.row(". .")].tolist() == [7, 8]


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


def test_an_archive_of_several_files_is_refused_with_their_names():
    names = [f"glove.6B.{dimension}d.txt" for dimension in (50, 100, 200, 300)]
    with pytest.raises(InputError, match="has 4 files: " + ", ".join(names)) as caught:
        read_vectors(from_bytes(zipped(*names), "glove.6B.zip"), {"the"})
    assert caught.value.where == "glove.6B.zip" and "give one of them" in caught.value.hint
    with pytest.raises(InputError, match=r"has 20 files: 0\.txt.* and 12 more"):
        read_vectors(from_bytes(zipped(*(f"{number}.txt" for number in range(20))), "v.zip"), {"the"})
    assert read_vectors(from_bytes(zipped("README.md", "v.txt"), "v.zip"), {"the"}).rows == {"the": 1}
