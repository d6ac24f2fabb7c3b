"""The corpora that ship with the project."""

import pytest

from bertviz_core.corpora.files import FOLDER, SAMPLES, find_source, sample
from bertviz_core.corpora.readers import read_text
from bertviz_core.errors import InputError
from tests.corpora.coreference import build_sample


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


def test_every_sample_named_is_there():
    for name, file in ((name, file) for kind in SAMPLES.values() for name, file in kind.items()):
        assert (FOLDER / file).is_file(), name


def test_a_sample_by_its_name_a_file_by_its_path(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert find_source("encyclopedia").digest == sample("encyclopedia").digest
    (tmp_path / "mine.txt").write_text("mine")
    assert find_source(str(tmp_path / "mine.txt")).size == 4
    with pytest.raises(InputError, match="Check the path"):
        find_source("nothing.txt")


def test_the_coreference_sample_is_what_its_readable_source_builds(tmp_path):
    source = tmp_path / build_sample.SOURCE.name
    source.write_bytes(build_sample.SOURCE.read_bytes())
    build_sample.build(source)
    for suffix in (".conll", ".conllu"):
        built = source.with_suffix(suffix).read_bytes()
        assert built == build_sample.SOURCE.with_suffix(suffix).read_bytes()


@pytest.mark.parametrize("text", ["words", "# doc a\n[1 a", "# doc a\na ]", "# doc a\n[1 [2 a ] ]", "# doc a\n[1 ]"])
def test_broken_brackets_name_their_line(text):
    with pytest.raises(build_sample.AnnotationError, match="line"):
        build_sample.read_documents(text)
