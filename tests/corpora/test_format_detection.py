"""What a file holds is recognized from its first lines; every example of a format is read as its own."""

import lzma
import re
from pathlib import Path

import pytest

from bertviz_core.corpora import annotation_formats
from bertviz_core.corpora.annotated import CoreferenceCorpus, Treebank
from bertviz_core.corpora.annotation_formats import FORMATS, TreebankFormat
from bertviz_core.corpora.contents import describe
from bertviz_core.corpora.files import source_of
from bertviz_core.corpora.format_detection import is_prose, kinds, to_utf8
from bertviz_core.corpora.readers import read_text
from bertviz_core.corpora.source import from_bytes
from bertviz_core.corpora.treebank import lines

CONLLU = (
    "# newdoc id = a\n# text = Don't go.\n1-2\tDon't\t_\t_\t_\t_\t_\t_\t_\t_\n1\tDo\tdo\tAUX\t_\t_\t3\taux\t_\t_\n"
    "2\tn't\tnot\tPART\t_\t_\t3\tadvmod\t_\t_\n3\tgo\tgo\tVERB\t_\t_\t0\troot\t_\tENTITY\n\n"
    "# newdoc id = b\n1\tShe\tshe\tPRON\t_\t_\t2\tnsubj\t_\t_\n2\tslept\tsleep\tVERB\t_\t_\t0\troot\t_\t_\n"
)
ROW = "a\t0\t{}\t{}\t_\t_\t_\t_\t_\t_\t_\t_\t{}\n"
SHE, SLEPT = ROW.format(0, "She", "(1)"), ROW.format(1, "slept", "_")
LITBANK = f"#begin document (a); part 0\n{SHE}{SLEPT}\n{SHE}#end document\n"
JSONLINES = '{"doc_key": "a", "sentences": [["She", "slept"], ["She", "woke"]], "clusters": [[[0, 0], [2, 2]]]}\n'


@pytest.mark.parametrize(
    ("text", "found"),
    [
        (CONLLU, ("treebank", "text")),
        (CONLLU.replace("ENTITY", "Entity=(e1)"), ("treebank", "coreference", "text")),
        ("He 2-nsubj\nsat 0-root\n", ("treebank", "text")),
        (LITBANK, ("coreference", "text")),
        (JSONLINES, ("coreference", "text")),
        ("ID\tText\tPronoun\tPronoun-offset\tA\n", ("coreference", "text")),
        ("Plain text of (a few) words.\nBorn in 19-something.\n", ("text",)),
        ("hello (world)\n", ("text",)),
        ("The club was founded in the north of Italy by students (in 1897).\nIt won often.\n", ("text",)),
        ("In the spring of that year the club moved to another town (1897)\n", ("text",)),
        ("3 apples (red)\n4 pears (green)\n", ("text",)),
        ("Arsenal 3-1\nChelsea 2-0\n", ("text",)),
        ("Arsenal 0 Chelsea\nMilan 1 Roma\n", ("text",)),
        ("Add 2 eggs\nAdd 0 salt\n", ("text",)),
        ("a Boeing 747-like\nan Apollo 11-era\n", ("text",)),
        ("a\tb\tc\td\te\tf\tg\th\ti\tj\n", ("text",)),
        ("0\tShe\t(1)\n1\tslept\t-\n", ("coreference", "text")),
        ("a 0 0 She (1)\na 0 1 slept -\n", ("coreference", "text")),
        ('[{"text": "a"}]', ("text",)),
        ("# A heading\n\nText.\n", ("text",)),
    ],
)
def test_kinds(source, text, found):
    assert kinds(source(text)) == found


WIKI = Path(__file__).parents[2].parent / "shared" / "data" / "text" / "wiki_1000.txt.xz"


@pytest.mark.slow
@pytest.mark.skipif(not WIKI.exists(), reason="the data for development is not here")
def test_articles_of_an_encyclopedia_are_text(source):
    articles = lzma.decompress(WIKI.read_bytes()).decode().strip().split("\n\n")
    assert len(articles) == 1500 and {kinds(source(article)) for article in articles} == {("text",)}
    for article in articles:
        paragraphs = read_text(source_of([article], "text")).paragraphs()
        assert [paragraph.text for paragraph in paragraphs] == article.split("\n")


def test_sentences_as_text(source):
    paragraphs = list(read_text(source(CONLLU)).paragraphs())
    assert [(p.document, p.text) for p in paragraphs] == [(0, "Don't go."), (1, "She slept")]
    between = CONLLU.replace("# text = Don't go.\n", "").replace("2\tn't", "1.1\tx" + "\t_" * 8 + "\n2\tn't")
    assert [p.text for p in read_text(source(between)).paragraphs()] == ["Do n't go", "She slept"]
    assert [p.text for p in read_text(source("He 2-nsubj\nsat 0-root\n\nGo 0-root\n")).paragraphs()] == ["He sat", "Go"]
    assert [(p.document, p.text) for p in read_text(source(LITBANK)).paragraphs()] == [(0, "She slept"), (0, "She")]
    assert [p.text for p in read_text(source(JSONLINES)).paragraphs()] == ["She slept", "She woke"]


@pytest.mark.parametrize(
    ("data", "text", "encoding"),
    [
        ("Grüße".encode(), "Grüße", ""),
        ("Grüße “a”".encode("cp1252"), "Grüße “a”", "Windows-1252 (Latin-1)"),
        ("Grüße".encode("utf-16"), "Grüße", "UTF-16"),
        (b"\x81\xe9", "\x81é", "Latin-1"),
        (b"\x00\x01\xff", b"\x00\x01\xff", ""),  # no text in any encoding
    ],
)
def test_encodings(data, text, encoding):
    assert to_utf8(data) == (text.encode() if isinstance(text, str) else text, encoding)


@pytest.mark.parametrize(
    ("text", "prose"),
    [
        ("The cat sat on the mat.\n\nIt slept until the evening.\n", True),
        (CONLLU, False),
        (CONLLU.replace("\t", " "), False),
        ("He 2-nsubj\nsat 0-root\n", False),
        ("<p>The cat sat on the mat.</p>\n", False),
        ('[{"text": "The cat sat on the mat."}]\n', False),
    ],
)
def test_prose_is_told_from_a_damaged_treebank(text, prose):
    assert is_prose(from_bytes(text.encode(), "x")) == prose


PAGE = (Path(__file__).parents[2] / "docs" / "formats.md").read_text(encoding="utf-8")
EXAMPLES = re.findall(r"^([^\n]*)\n\n```(text|treebank|coreference)\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
OPEN = {"treebank": Treebank, "coreference": CoreferenceCorpus}


@pytest.mark.parametrize(("label", "kind", "example"), EXAMPLES, ids=range(len(EXAMPLES)))
def test_the_examples_of_the_page_are_recognized_and_read(label: str, kind: str, example: str) -> None:
    source = from_bytes(example.encode(), "pasted text")
    describe(kind, source)
    assert kind in kinds(source)
    assert kind == "text" or label.startswith(f"{OPEN[kind](source).form.name}: ")


def test_a_format_in_the_table_alone_is_recognized_where_nobody_says_what_a_file_is(source, monkeypatch):
    """A made-up format, "governor|word", which is text to all others."""
    word = lines.LineFormat("governor|word", lambda text: lines.Word(text.partition("|")[2], int(text[0]), "dep"))
    form = TreebankFormat("governor|word", lambda found: found.first[1][1:2] == "|", lambda found: word)
    text = "2|He\n0|sat\n"
    assert kinds(source(text)) == ("text",)
    monkeypatch.setattr(annotation_formats, "FORMATS", (*FORMATS, form))
    assert kinds(source(text)) == ("treebank", "text")
    assert [paragraph.text for paragraph in read_text(source(text)).paragraphs()] == ["He sat"]


def test_the_page_shows_every_format() -> None:
    shown = [(kind, label.partition(":")[0]) for label, kind, _ in EXAMPLES if kind != "text"]
    assert shown == [(form.kind, form.name) for form in FORMATS]


def test_a_broken_corpus_of_names_and_numbers_is_not_prose():
    """Its problem would be lost, as prose that begins like a corpus is read as text."""
    rows = "wsj_0001 0 0 She PRP - - - - - * (1\nwsj_0001 0 1 slept VBD - - - - - * -\n"
    assert not is_prose(from_bytes(rows.encode(), "x"))
    assert is_prose(from_bytes(b"In 1999 she slept well.\nIt was cold and dark.\nShe did not wake up.\n", "x"))
