"""Corpora in memory are the files that would hold them."""

import json

import pytest

from bertviz_core.corpora.annotated import CoreferenceCorpus, Treebank
from bertviz_core.corpora.files import sample, source_of
from bertviz_core.corpora.readers import read_text
from bertviz_core.corpora.skipped import Skipped
from bertviz_core.errors import InputError


def test_a_text_is_a_document_and_its_lines_are_paragraphs(tmp_path):
    texts = ["One.\n\n\nTwo.", "  ", "Three\u2028four."]
    source = source_of(texts, "text")
    written = [(one.document, one.text) for one in read_text(source).paragraphs()]
    assert written == [(0, "One."), (0, "Two."), (1, "Three"), (1, "four.")]
    path = tmp_path / "same.txt"
    path.write_text("One.\nTwo.\n\nThree\nfour.\n\n")
    assert source_of(path, "text").digest == source.digest


def test_trees_are_read_as_they_were_given():
    trees = [
        (["He", "sat", "."], [2, 0, 2], ["nsubj", "root", "punct"]),
        (["New York", "3-4", "-"], [0, 1, 1], ["root", "nmod:poss", "a-b"]),
    ]
    read = list(Treebank(source_of(trees, "treebank")).sentences(Skipped()))
    assert [(list(s.words), list(s.governors), list(s.relations)) for s in read] == [tuple(map(list, t)) for t in trees]


def test_dicts_are_the_records_of_json_corpora():
    examples = source_of([{"words": ["a", "b"]}, {"text": "c d"}], "text")
    assert [record.form for record in read_text(examples).records()] == ["words", "text"]
    document = {"sentences": [["She", "saw", "her", "own", "house"]], "clusters": [[[0, 0], [2, 2]]]}
    assert json.loads(next(iter(source_of([document], "coreference").lines()))[1]) == document
    assert CoreferenceCorpus(source_of([document], "coreference"))


def test_names_paths_and_sources(tmp_path):
    assert source_of("treebank", "treebank").digest == sample("treebank").digest
    given = sample("encyclopedia")
    assert source_of(given, "text") is given
    with pytest.raises(InputError, match=r"in a list: \[text\]"):
        source_of("The cat sat.", "text")


@pytest.mark.parametrize(
    ("corpus", "message"),
    [
        ([], "empty"),
        (3, "int is not a corpus"),
        (["a", 3], "different kinds"),
        ([3], "different kinds"),
        ([(["a"], [0])], "Entry 1 of the list is not"),
        ([(["a", "b"], [0], ["root"])], "Entry 1 of the list is not"),
        ([(["a"], ["x"], ["root"])], "Entry 1 of the list is not"),
        ([([" "], [0], ["root"])], "Entry 1 of the list has an empty word"),
        ([(["a"], [0], ["root x"])], "Entry 1 of the list has an empty word"),
        ([{"text": {1}}], "is not valid JSON"),
    ],
)
def test_what_is_no_corpus_is_refused(corpus, message):
    with pytest.raises(InputError, match=message):
        source_of(corpus, "treebank")
