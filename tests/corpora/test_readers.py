"""What a source holds is seen from its content."""

import gzip

import pytest

from bertviz_core.corpora.examples import ExampleCorpus
from bertviz_core.corpora.readers import TextCorpus, read_text
from bertviz_core.corpora.skipped import NAMED, Skipped
from bertviz_core.errors import InputError


@pytest.mark.parametrize(
    "text", ['[{"text": "a"}]', '\n\n[\n {"text": "a"}]', '[ {"text": "a"} ]', "\ufeff[{}]", "[]", "[\n]"]
)
def test_json_is_seen_in_a_paste(source, text):
    assert isinstance(read_text(source(text, "paste")), ExampleCorpus)


def test_json_is_seen_by_name_and_under_gzip(source):
    assert isinstance(read_text(source('{"text": "a"}', "X.JSON")), ExampleCorpus)
    assert isinstance(read_text(source(gzip.compress(b'[{"text": "a"}]'), "x.json.gz")), ExampleCorpus)


@pytest.mark.parametrize(
    "text", ["Plain text.", "[1] A footnote first.", "[ ... ] it went on", "[", "{a}", "<b>bold</b>"]
)
def test_other_text_is_text(source, text):
    assert isinstance(read_text(source(text)), TextCorpus)


@pytest.mark.parametrize("text", ["", "\n\n", " \t\r\n", "\ufeff"])
@pytest.mark.parametrize("name", ["x.txt", "x.json"])
def test_nothing_is_refused(source, text, name):
    with pytest.raises(InputError, match=r"empty|blank"):
        read_text(source(text, name))


def test_left_out_counts_all_and_names_the_first():
    skipped = Skipped()
    for line in range(NAMED + 5):
        skipped.add("too long", f"line {line}")
    skipped.add("unknown", "line 1", 3)
    first, second = skipped.to_json()
    assert (first["reason"], first["count"], len(first["where"])) == ("too long", NAMED + 5, NAMED)
    assert (second["reason"], second["count"], second["where"]) == ("unknown", 3, ["line 1"])


LINES = [(0, 1, "a"), (0, 2, "b"), (1, 4, "c")]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("a\nb\n\nc\n", LINES),
        ("a\r\nb\r\n\r\nc", LINES),
        ("\n\na\n\n \t\n\nb\n\n\n", [(0, 3, "a"), (1, 7, "b")]),
    ],
)
def test_blank_lines_end_documents(source, text, found):
    corpus = TextCorpus(source(text))
    for _ in range(2):  # read anew
        assert [(p.document, p.line, p.text) for p in corpus.paragraphs()] == found
