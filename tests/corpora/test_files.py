"""Many files as one corpus: a stable order, one digest, whatever they are packed in; Parquet rows are documents."""

import gzip
import hashlib
import lzma
import sys

import pyarrow
import pytest
from pyarrow import parquet

from bertviz_core.corpora.annotated import Treebank
from bertviz_core.corpora.files import FOLDER, SAMPLES, find_sources, sample
from bertviz_core.corpora.readers import TextCorpus, read_text
from bertviz_core.corpora.skipped import Skipped
from bertviz_core.errors import InputError


@pytest.fixture
def folder(tmp_path):
    inside = tmp_path / "corpus"
    (inside / "b").mkdir(parents=True)
    (inside / "a.txt.gz").write_bytes(gzip.compress("\ufeffone\ntwo\n".encode()))
    (inside / "b" / "c.txt.xz").write_bytes(lzma.compress(b"drei\n\nvier"))
    (inside / "d.txt").write_bytes("\ufefffünf\n".encode())
    (inside / ".hidden").write_text("hidden")
    return inside


def documents(source) -> list[list[str]]:
    found: dict[int, list[str]] = {}
    for paragraph in TextCorpus(source).paragraphs():
        found.setdefault(paragraph.document, []).append(paragraph.text)
    return list(found.values())


EXPECTED = [["one", "two"], ["drei"], ["vier"], ["fünf"]]


def test_a_folder_a_pattern_and_a_list_of_files_are_the_same_corpus(folder):
    files = [str(folder / name) for name in ("a.txt.gz", "b/c.txt.xz", "d.txt")]
    sources = [
        find_sources(names) for names in ([str(folder)], [str(folder / "**" / "*.txt*")], files, [*files, files[0]])
    ]
    for source in sources:
        assert documents(source) == EXPECTED
        assert documents(source) == EXPECTED  # read anew
    assert len({source.digest for source in sources}) == 1
    assert sources[0].name == "a.txt.gz and 2 more"
    digests = "\n".join(
        hashlib.sha256((folder / name).read_bytes()).hexdigest() for name in ("a.txt.gz", "b/c.txt.xz", "d.txt")
    )
    assert sources[0].digest == hashlib.sha256(digests.encode()).hexdigest()


def test_another_order_is_another_corpus(folder):
    names = [str(folder / "d.txt"), str(folder / "a.txt.gz")]
    assert documents(find_sources(names)) == [["fünf"], ["one", "two"]]
    assert find_sources(names).digest != find_sources(names[::-1]).digest


def test_treebanks_are_joined_too(tmp_path):
    for name in ("a", "b"):
        (tmp_path / f"{name}.conll").write_text(f"the 2-det\n{name} 0-root")
    bank = Treebank(find_sources([str(tmp_path)]))
    assert [sentence.words for sentence in bank.sentences(Skipped())] == [("the", "a"), ("the", "b")]


@pytest.fixture
def table(tmp_path):
    texts = ["first\n\nsecond ü", None, "", *(f"row {number}" for number in range(3000))]
    path = tmp_path / "x.parquet"
    parquet.write_table(pyarrow.table({"text": texts, "number": list(range(len(texts)))}), path, row_group_size=100)
    return path


def test_rows_of_parquet_are_documents(table):
    found = documents(find_sources([str(table)]))
    assert found[:2] == [["first", "second ü"], ["row 0"]] and len(found) == 3001
    two = documents(find_sources([str(table), str(table.parent / "x.parquet")]))
    assert two == found  # the same file, named twice
    numbers = find_sources([str(table)], column="number")
    assert documents(numbers)[0] == ["0"] and numbers.digest != find_sources([str(table)]).digest


def test_what_cannot_be_read_of_parquet(table, tmp_path):
    with pytest.raises(InputError, match=r"no column 'body'.*text, number"):
        documents(find_sources([str(table)], column="body"))
    broken = tmp_path / "broken.parquet"
    broken.write_bytes(table.read_bytes()[:-20])
    with pytest.raises(InputError, match="Parquet"):
        documents(find_sources([str(broken)]))


def test_parquet_without_pyarrow_says_what_to_install(table, monkeypatch):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(InputError, match=r"need pyarrow.*pip install pyarrow"):
        documents(find_sources([str(table)]))


@pytest.mark.parametrize("name", SAMPLES["text"])
def test_a_text_sample_is_documents_of_paragraphs_under_its_own_name(name):
    found = sample(name)
    assert found.name == name
    assert found.size == (FOLDER / SAMPLES["text"][name]).stat().st_size
    paragraphs = list(read_text(found).paragraphs())
    documents = [paragraph.document for paragraph in paragraphs]
    assert documents[-1] + 1 >= 60
    assert all(documents.count(number) >= 2 for number in set(documents))
    assert all(60 <= len(paragraph.text.split()) <= 150 for paragraph in paragraphs)


def test_names_that_stand_for_nothing(tmp_path):
    (tmp_path / "empty").mkdir()
    for name in ("empty", "*.txt", "missing.txt"):
        with pytest.raises(InputError):
            find_sources([str(tmp_path / name)])
