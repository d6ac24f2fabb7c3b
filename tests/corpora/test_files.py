"""Many files as one corpus, in a stable order; corpora in memory are the files that would hold them."""

import gzip
import hashlib
import json
import lzma

import pytest

from bertviz_core.corpora import Skipped
from bertviz_core.corpora.annotated import CoreferenceCorpus, Treebank
from bertviz_core.corpora.files import FOLDER, SAMPLES, find_sources, sample, source_of
from bertviz_core.corpora.readers import TextCorpus, read_text
from bertviz_core.corpora.upload_check import UploadCheck
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


def test_treebanks_are_joined_and_an_error_names_the_file_and_its_own_line(tmp_path):
    for name in ("a", "b"):
        (tmp_path / f"{name}.conll").write_text(f"the 2-det\n{name} 0-root")
    bank = Treebank(find_sources([str(tmp_path)]))
    assert [sentence.words for sentence in bank.sentences(Skipped())] == [("the", "a"), ("the", "b")]
    (tmp_path / "c.conll").write_text("\n\na\0 0-root\n")
    files = [(path.name, path.read_bytes()) for path in sorted(tmp_path.iterdir())]
    check = UploadCheck(files, "treebank", fixed=False, max_size=1000, max_unpacked=1000)
    for read in (lambda: list(find_sources([str(tmp_path)]).lines()), check.checked.result):
        with pytest.raises(InputError, match=r"^c.conll, line 3: There is a NUL byte"):
            read()


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
    for name in ("empty", "*.txt", "missing.txt", "word " * 80, "a\0b"):
        with pytest.raises(InputError):
            find_sources([str(tmp_path / name)])


def test_a_text_is_a_document_and_its_lines_are_paragraphs(tmp_path):
    texts = ["One.\n\n\nTwo.", "  ", "Three\u2028four."]
    source = source_of(texts, "text")
    written = [(paragraph.document, paragraph.text) for paragraph in read_text(source).paragraphs()]
    assert written == [(0, "One."), (0, "Two."), (1, "Three\u2028four.")]
    path = tmp_path / "same.txt"
    path.write_text("One.\nTwo.\n\nThree\u2028four.\n\n", encoding="utf-8")
    assert source_of(path, "text").digest == source.digest
    half_an_emoji = source_of(["Cut \ud83d"], "text")
    assert half_an_emoji.name == "1 text in memory" and next(half_an_emoji.lines()) == (1, "Cut \ufffd")


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
        (["a", ["b"]], "different kinds: first texts, in entry 2 lists of words"),
        ([3], "Entry 1, of type int, is no part"),
        ([(["a"], [0])], "Entry 1 is not"),
        ([(["a", "b"], [0], ["root"])], "Entry 1 is not"),
        ([(["a"], ["x"], ["root"])], "Entry 1 is not"),
        ([([" "], [0], ["root"])], "Entry 1 has an empty word"),
        ([(["a"], [0], ["root x"])], "Entry 1 has an empty word"),
        ([{"words": ["a"]}], "Entry 1 has no dependency trees: it has words"),
        ([["a", "b", "c"]], "Lists of words have no dependency trees"),
        (["a", None], "Entry 2 has no value"),
        ({"train": ["a"]}, "one split of a DatasetDict"),
        ({"a", "b"}, "has no order"),
    ],
)
def test_what_is_no_corpus_is_refused(corpus, message):
    with pytest.raises(InputError, match=message) as caught:
        source_of(corpus, "treebank")
    assert caught.value.hint


def test_a_dict_that_is_no_json_is_refused():
    with pytest.raises(InputError, match=r"Entry 2 is not valid JSON \(an object of type set\)"):
        source_of([{"text": "a"}, {"text": {1}}], "text")
