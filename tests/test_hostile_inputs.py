"""What a stranger may upload: readers, tokenizers and drawings refuse it in words, and soon."""

import io
import lzma
import re
import sqlite3
import time
from contextlib import closing
from xml.etree import ElementTree

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks.hostile_inputs import CASES, LARGEST, apart
from bertviz_core.analyses.base.result import csv_bytes
from bertviz_core.analyses.coreference_heads.document_figure import Guess, draw
from bertviz_core.corpora import Skipped, coreference
from bertviz_core.corpora.annotated import CoreferenceCorpus, Treebank
from bertviz_core.corpora.contents import describe
from bertviz_core.corpora.coreference.mentions import head_words
from bertviz_core.corpora.readers import read_vectors
from bertviz_core.corpora.source import LONGEST_LINE, from_bytes
from bertviz_core.engine.store import Store
from bertviz_core.errors import QUOTED, BertvizError, InputError, shorten
from bertviz_core.inputs import segments, tokens
from bertviz_core.inputs.segments import FirstSegments, Segments
from bertviz_core.models import single_input
from bertviz_core.plotting import tabular
from bertviz_core.plotting.arcs import Arc, _levels, sentence_svg
from bertviz_core.settings import Settings
from bertviz_core.text_display import printable
from tests.support.running import run

CONLL = "#begin document (a); part 0\na 0 0 She PRP (S* - - - - * (1)\na 0 1 slept VBD *) - - - - * -\na 0 2 her PRP * - - - - * (1)\n#end document\n"  # noqa: E501
THREE = "0\tShe\t(1)\n1\tsaw\t-\n2\therself\t(1)\n"
COREFUD = "# global.Entity = eid\n1\tShe\t_\tPRON\t_\t_\t2\tnsubj\t_\tEntity=(e1)\n2\tsaw\t_\tVERB\t_\t_\t0\troot\t_\t_\n3\therself\t_\tPRON\t_\t_\t2\tobj\t_\tEntity=(e1)\n"  # noqa: E501
JSONLINES = '{"doc_key": "a", "sentences": [["She", "saw", "herself"]], "clusters": [[[0, 0], [2, 2]]]}\n'
GAP = (
    "ID\tText\tPronoun\tPronoun-offset\tA\tA-offset\tA-coref\tB\tB-offset\tB-coref\tURL\n"
    "x\tAnn met Bob and she left.\tshe\t16\tAnn\t0\tTRUE\tBob\t8\tFALSE\tu\n"
)
CONLLU = "1\tHe\t_\tPRON\t_\t_\t2\tnsubj\t_\t_\n2\tsat\t_\tVERB\t_\t_\t0\troot\t_\t_\n\n"
AUTHORS = "He 2-nsubj\nsat 0-root\n\n"
SEEDS = [
    ("text", "the cat sat .\n\nthe dog slept .\n"),
    ("text", '[{"text": "The cat."},\n {"words": ["The", "cat"], "source": 1}, {"tokens": ["[CLS]", "the"]}]'),
    ("treebank", CONLLU),
    ("treebank", AUTHORS),
    ("coreference", CONLL),
    ("coreference", THREE),
    ("coreference", COREFUD),
    ("coreference", JSONLINES),
    ("coreference", GAP),
    ("vectors", "2 2\nthe 0.1 0.2\ncat 1 -2\n"),
]
HUGE = "9" * 5000
ODD = [
    *("\0", "\r", "\t", "  ", "(", ")", "|", "(1", "1)", "-1", HUGE, "²", "٣", "①", "1e999", "NaN", "null", "{}", "[]"),
    *("[" * 3000, '{"a":' * 3000, "(NP" * 3000, '"\\ud800"', "\u2028", "\x1c", "\x85"),
    *("#", "#begin document", "# newdoc"),
    *("Entity=(", "Entity=(e1[1/2])", "_", "-", "*", "1-2", "8.1", "", "<html>", "word" * 50, "\n\n", "\n", "\x1f\x8b"),
]


def read(kind: str, data: bytes) -> None:
    source = from_bytes(data, "given")
    if kind == "vectors":
        read_vectors(source, {"the", "cat"})
        return
    describe(kind, source)
    if kind == "coreference":
        for document in CoreferenceCorpus(source).documents(Skipped()):
            head_words(document)


@st.composite
def spoiled(draw) -> tuple[str, bytes]:
    """A file with some of its fields replaced, cut, repeated or broken in two."""
    kind, text = draw(st.sampled_from(SEEDS))
    for _ in range(draw(st.integers(1, 4))):
        start = draw(st.integers(0, len(text)))
        end = draw(st.integers(start, min(len(text), start + 12)))
        field = draw(st.sampled_from(list(re.finditer(r"[^\t \n]+", text)) or [re.match("", text)]))
        span = field.span() if draw(st.booleans()) else (start, end)
        text = text[: span[0]] + draw(st.sampled_from(ODD)) * draw(st.sampled_from([1, 1, 3])) + text[span[1] :]
    return kind, text.encode("utf-8", "surrogatepass")


@settings(max_examples=500)
@given(spoiled())
def test_a_spoiled_file_is_read_or_refused(given):
    kind, data = given
    began = time.process_time()
    try:
        read(kind, data)
    except BertvizError as error:
        assert len(str(error)) < 3 * QUOTED + 5 and error.hint
    assert time.process_time() - began < 2


@pytest.mark.slow
@pytest.mark.parametrize("name", LARGEST)
def test_no_input_of_50_mb_fills_the_memory_or_stops_the_others(name):
    """The largest lines of the table in benchmarks/README.md, each in a process of its own."""
    measured = apart(name, 3)
    assert measured["peak"] < 1000, measured
    assert measured["gap"] < 1, measured
    assert measured["outcome"] == "read" or str(measured["outcome"]).startswith(("refused", "stopped")), measured
    assert name in CASES


def test_thousands_of_nested_phrases_have_heads():
    deep = 3000
    text = f"#begin document (a); part 0\na 0 0 She NN {'(NP' * deep}* - - - - * (1\na 0 1 it NN *{')' * deep} - - - - * 1)|(2)\na 0 2 her NN * - - - - * (2)\n"  # noqa: E501
    (document,) = CoreferenceCorpus(from_bytes(text.encode(), "x")).documents(Skipped())
    assert head_words(document) == (1, 1, 2)


def test_a_damaged_row_of_the_store_is_listed(tmp_path):
    store = Store(tmp_path)
    for number, data in enumerate((b"no result", b"[" * 100_000)):
        store.put(f"x{number}", len(data).to_bytes(8, "little") + data)
    with closing(sqlite3.connect(tmp_path / "results" / "cache.db")) as database:
        database.execute("UPDATE Cache SET size = 'y', store_time = 'y', access_time = 'y', tag = 'y'")
        database.commit()
    done = run("store", "list", store=tmp_path)
    assert done.returncode == 0 and "unreadable" in done.stdout and not done.stderr


def test_odd_names_and_words_are_replaced(tiny):
    text = JSONLINES.replace('"saw"', '"\\ud800"').replace('"a"', '"\\ud800"')
    (document,) = CoreferenceCorpus(from_bytes(text.encode(), "x")).documents(Skipped())
    assert document.words[1] == document.name == "\ufffd"
    assert tiny.tokens.pieces("\ud800") == tiny.tokens.pieces("\ufffd")
    for key in ('["a"]', '{"a": 1}', "null", "[" * 400 + "]" * 400):
        text = JSONLINES.replace('"a"', key)
        assert next(CoreferenceCorpus(from_bytes(text.encode(), "x")).documents(Skipped())).name == "document 1"


def test_a_line_or_an_object_may_be_a_megabyte_long_and_no_longer():
    assert len(list(from_bytes(b"a" * (LONGEST_LINE - 1) + b"\n", "x").lines())) == 1
    with pytest.raises(InputError, match="longer than 1 MB") as caught:
        list(from_bytes(b"one\n" + b"a" * (LONGEST_LINE + 1), "x").lines())
    assert caught.value.where == "x, line 2"
    entry = '{"text": "' + "word " * 50_000 + '"}'
    describe("text", from_bytes(f"[{','.join([entry] * 10)}]".encode(), "x"))
    with pytest.raises(InputError, match="longer than 1 MB"):
        describe("text", from_bytes(f'[{{"text": "{"word " * 600_000}"}}]'.encode(), "x"))


def test_a_sentence_and_a_document_have_an_end(monkeypatch):
    """The real limit of a document is met by 50 MB above."""
    with pytest.raises(InputError, match="longer than 1 MB") as caught:
        describe("treebank", from_bytes((AUTHORS + "He 0-root\n" * 110_000).encode(), "x"))
    assert caught.value.where == "x, line 4"
    with pytest.raises(InputError, match="open here"):
        describe("coreference", from_bytes(("0\ta\t(1\n1\tb\t(1\n" * 5_500).encode(), "x"))
    monkeypatch.setattr(coreference, "MAX_WORDS", 7_000)
    with pytest.raises(InputError, match="Split it"):
        describe("coreference", from_bytes(b"0\ta\t(1)\n" + b"0\ta\t-\n1\tb\t-\n" * 4_000, "x"))


def test_time_grows_with_the_line_and_no_faster():
    """A quadratic pattern took hours for these."""
    began = time.process_time()
    text = f"He 0-root\n\na{' ' * 900_000}b\n\nHe 0-root\n"
    skipped = Skipped()
    assert len(list(Treebank(from_bytes(text.encode(), "x")).sentences(skipped))) == 2
    assert time.process_time() - began < 2


def test_xz_that_asks_for_gigabytes_is_refused():
    packed = lzma.compress(b"word\n" * 10, filters=[{"id": lzma.FILTER_LZMA2, "preset": 6, "dict_size": 1 << 30}])
    with pytest.raises(InputError, match="emory"):
        list(from_bytes(packed, "x").lines())
    several = lzma.compress(b"one\n") + b"\0" * 8 + lzma.compress(b"two\n", preset=9)
    assert [line for _, line in from_bytes(several, "x").lines()] == ["one", "two"]


@pytest.mark.parametrize("unit", ["中", "word "])
def test_a_huge_text_without_single_spaces_is_cut(tiny, unit):
    text = unit * (3 * tokens.CALL_CHARACTERS // len(unit))
    parts = list(tokens._parts(text))
    assert len(parts) == 3 and "".join(parts) == text
    assert tiny.tokens.encode(text) == [i for part in parts for i in tiny.tokens.encode(part)]
    assert max(map(len, parts)) <= 2 * tokens.CALL_CHARACTERS
    with pytest.raises(InputError, match="spaces"):
        tiny.tokens.encode("a" * (2 * tokens.CALL_CHARACTERS + 1))


def test_a_long_text_loses_its_middle():
    assert shorten("a" * QUOTED) == "a" * QUOTED
    cut = shorten("begin" + "a" * 10**6 + "end")
    assert len(cut) == QUOTED and cut.startswith("begin") and cut.endswith("end")
    error = InputError("w" * 10**6, where="x" * 10**6, hint="h" * 10**6)
    assert max(map(len, (error.what, error.where, error.hint, *error.args))) <= QUOTED


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        ("coreference", f"a\t-\nb\t(1{'|' * 900_000}y\n"),
        ("coreference", JSONLINES.replace("[0, 0]", f'["{"x" * 900_000}"]')),
        ("coreference", GAP.replace("\tshe\t", f"\t{'x' * 900_000}\t")),
        ("treebank", CONLLU.replace("\t2\tnsubj", f"\t{'x' * 900_000}\tnsubj")),
        ("treebank", AUTHORS.replace("2-nsubj", "x" * 900_000)),
    ],
    ids=["brackets", "span", "offset", "head", "line"],
)
def test_no_error_repeats_more_than_300_characters(kind, text):
    with pytest.raises(InputError) as caught:
        describe(kind, from_bytes(text.encode(), "given.txt"))
    assert str(caught.value).count("x") < QUOTED and caught.value.hint


def test_the_viewer_says_its_budget(tiny, monkeypatch):
    example = next(iter(Segments(from_bytes(b"the cat sat on the mat .\n", "x"), tiny.tokens, Settings())))
    size = 4 * tiny.layers * tiny.heads * len(example) ** 2
    monkeypatch.setattr(single_input, "MAX_BYTES", size)
    assert single_input.attention(tiny, example).shape[-1] == len(example)
    monkeypatch.setattr(single_input, "MAX_BYTES", size - 1)
    with pytest.raises(InputError, match="MB are allowed") as caught:
        single_input.attention(tiny, example)
    assert f" {len(example) - 1} tokens" in caught.value.hint


def test_no_more_segments_are_encoded_than_the_budget_allows(tiny, monkeypatch):
    monkeypatch.setattr(segments, "MAX_TOKENS", 40)
    text = "".join(f"the cat {n} .\nthe dog .\n\n" for n in range(500))
    first = FirstSegments(Segments(from_bytes(text.encode(), "x"), tiny.tokens, Settings()))
    with pytest.raises(InputError, match="first 40 tokens") as caught:
        first.pick(400)
    assert first.last < 10 and f"to {first.last}" in caught.value.hint


@pytest.mark.parametrize("nested", [False, True])
def test_a_document_of_many_chains_on_one_word_is_drawn(nested):
    count = 2000
    mentions = [[0, 1 + (i % 40 if nested else 0), i, 0, 0] for i in range(count)]
    document = {"name": "x\x00\ud800", "words": ["w"] * 41, "sentences": [0], "mentions": mentions}
    began = time.process_time()
    drawn = draw(document, [Guess(1, 0, 0.5, True)])
    assert time.process_time() - began < 3
    ElementTree.fromstring(drawn.encode())


def slow_levels(arcs):
    """Each arc one higher than every arc that it passes over, by comparing all with all."""
    spans = [(min(arc.word, arc.governor), max(arc.word, arc.governor)) for arc in arcs]
    levels = [0] * len(arcs)
    for place in sorted(range(len(arcs)), key=lambda p: spans[p][1] - spans[p][0]):
        if arcs[place].governor >= 0:
            (start, end), before = spans[place], range(len(arcs))
            under = [levels[o] for o in before if o != place and spans[o][0] < end and spans[o][1] > start]
            levels[place] = 1 + max(under, default=0)
    top = 1 + max(levels, default=0)
    return [top if arc.governor < 0 else level for arc, level in zip(arcs, levels, strict=True)]


@given(st.lists(st.tuples(st.integers(-1, 7), st.integers(0, 7)), max_size=8))
def test_arcs_are_as_high_as_in_the_slow_way(ends):
    arcs = [Arc(word, governor) for governor, word in ends if governor != word]
    assert _levels(arcs) == slow_levels(arcs)


def test_no_cell_of_a_latex_table_is_an_option_of_the_line_before():
    latex = tabular(pd.DataFrame({"relation": ["[a](x)", "**b**", "c [d]"], "n": [1, 2, 3]}))
    rows = latex.split("\\midrule\n")[1].splitlines()
    assert [row.lstrip()[:4] for row in rows[:3]] == ["{[}a", "{*}*", "c [d"]


def test_a_terminal_gets_pictures_of_control_characters():
    assert printable("a\x1b[31m\x07\tb\n\x9bc\ud800") == "a␛[31m␇\tb\n\ufffdc\ufffd"


def test_control_characters_leave_the_drawing_whole():
    words = ["a\x00b", "\x1b[31m", "\ufffe", "\ud800", "fine"]
    svg = ElementTree.fromstring(sentence_svg(words, [Arc(0, 1, "\x01", "\x02\x7f")], [], "\x03").encode())
    texts = [text.text for text in svg.findall("{http://www.w3.org/2000/svg}text")]
    assert texts == ["a␀b", "␛[31m", "\ufffd", "\ufffd", "fine"]


@pytest.mark.parametrize("begin", ["=", "\r", "\n", "＝", "＋", "－", "＠"])
def test_no_cell_of_a_csv_file_is_a_formula(begin):
    text = f'{begin}cmd|"x"!A1'
    frame = pd.DataFrame({"token": [text, "fine"], "weight": [-0.5, 1.0], text: 0}).assign(corpus=text)
    frame["relation"] = frame["token"].astype("category")
    read_back = pd.read_csv(io.BytesIO(csv_bytes(frame)))
    assert read_back["token"].tolist() == [f"'{text}", "fine"] and read_back["corpus"][0] == f"'{text}"
    assert read_back["relation"].tolist() == [f"'{text}", "fine"] and list(read_back)[2] == f"'{text}"
    assert read_back["weight"].tolist() == [-0.5, 1.0]
    assert np.array_equal(frame["weight"], [-0.5, 1.0])
