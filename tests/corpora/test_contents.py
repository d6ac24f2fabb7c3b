"""What was read of a corpus is said in numbers that a plain count of its file gives too."""

import io
import re
import zipfile

import pytest

from bertviz_core.corpora.contents import describe
from bertviz_core.corpora.files import FOLDER
from bertviz_core.corpora.source import from_bytes, from_path
from bertviz_core.errors import InputError

NO_PUNCTUATION = "No relation is known as that of punctuation: UAS counts every word."
NLTK = "Pierre\tNNP\t2\nVinken\tNNP\t3\nleft\tVBD\t0\n.\t.\t3\n"  # as the toolkit's sample of the Penn Treebank


def test_the_sample_treebank_is_counted_as_its_lines_are() -> None:
    rows = (FOLDER / "treebank.conllu").read_text(encoding="utf-8").splitlines()
    sentences = sum(row.startswith("1\t") for row in rows)
    words = sum(bool(re.match(r"[0-9]+\t", row)) for row in rows)
    description = describe("treebank", from_path(FOLDER / "treebank.conllu"))
    assert description == (
        f"Read as CoNLL-U, relations of Universal Dependencies v2: {sentences:,} sentences, {words:,} words."
    )


def test_the_sample_text_is_counted_as_its_lines_are() -> None:
    text = (FOLDER / "encyclopedia.txt").read_text(encoding="utf-8")
    documents = len(re.split(r"\n{2,}", text.strip()))
    paragraphs = sum(bool(line.strip()) for line in text.splitlines())
    description = describe("text", from_path(FOLDER / "encyclopedia.txt"))
    assert description == f"Read as text: {documents} documents, {paragraphs} paragraphs, {len(text.split()):,} words."


def test_the_sample_of_coreference_is_counted_as_its_brackets_are() -> None:
    text = (FOLDER / "coreference.conll").read_text(encoding="utf-8")
    mentions = sum(row.split()[-1].count("(") for row in text.splitlines() if row and row[0] != "#")
    assert f" words, {mentions:,} mentions in " in describe("coreference", from_path(FOLDER / "coreference.conll"))


@pytest.mark.parametrize(
    ("kind", "text", "description"),
    [
        ("treebank", NLTK, f"Read as word tag head: 1 sentence, 4 words. {NO_PUNCTUATION}"),
        ("text", '{"text": "a b"}\n{"words": ["c"]}\n', "Read as JSON: 2 examples, 3 words."),
        (
            "treebank",
            "the 2-det\ncat 0-root\n\na 9-det\ncat 0-root\n",
            "Read as word head-label: 1 sentence, 2 words. 1 sentence is skipped: a governor beyond the sentence, "
            "line 4 (head 9, but the sentence has 2 words).",
        ),
        ("vectors", "the 1 2\n", ""),
    ],
)
def test_small_files(kind: str, text: str, description: str) -> None:
    assert describe(kind, from_bytes(text.encode(), "given")) == description


def test_an_archive_names_what_is_left_out_of_it() -> None:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("README", "no data")
        archive.writestr("trees/wsj_0001.dp", NLTK)
        archive.writestr("trees/wsj_0002.dp", NLTK)
        archive.writestr("notes.txt", "Some notes.")
    description = describe("treebank", from_bytes(packed.getvalue(), "bank.zip"))
    assert description == (
        f"Read as word tag head: 2 sentences, 8 words. {NO_PUNCTUATION} Not read, as others have another ending: "
        "bank.zip: notes.txt."
    )


@pytest.mark.parametrize("kind", ["text", "coreference"])
@pytest.mark.parametrize("broken", ['{"text": "A cat."\n', '{"sentences": [["A"]], "clusters": []\n'])
def test_broken_lines_of_json_are_refused(kind: str, broken: str) -> None:
    with pytest.raises(InputError, match="The line is not JSON"):
        describe(kind, from_bytes(2 * broken.encode(), "given.jsonlines"))
