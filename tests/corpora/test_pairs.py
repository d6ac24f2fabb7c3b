"""Files of minimal pairs: what is read, what is skipped and counted, and what is refused with a way out."""

import csv
import json
import re
from collections import Counter
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from bertviz_core.corpora import Skipped, format_detection
from bertviz_core.corpora.contents import describe
from bertviz_core.corpora.files import FOLDER, sample, source_of
from bertviz_core.corpora.pairs import PairCorpus, are_aligned, differing_words
from bertviz_core.corpora.source import from_bytes, from_path
from bertviz_core.errors import InputError
from training import sample_pairs

BLIMP = Path(__file__).parents[3] / "shared" / "data" / "minimal_pairs" / "blimp-0-249.jsonl.xz"
PAIR = {"sentence_good": "Cats sleep.", "sentence_bad": "Cats sleeps.", "UID": "verbs", "linguistics_term": "agreement"}
PAGE = Path(__file__).parents[2] / "docs" / "formats.md"
COLUMNS = "good,bad,phenomenon,template\nCats sleep.,Cats sleeps.,verbs,A\n"
# The first column, which has no name, is pandas' index.
MULTIBLIMP = """\tsen\thead\tattractors\tprefix\twrong_sen\tphenomenon\tgrammatical_feature\tungrammatical_feature
0\tCats sleep.\tsleep\t"[{'form': ""cat's""}]"\tCats\tCats sleeps.\tverbs\tPL\tSG
"""
READ = ("Cats sleep.", "Cats sleeps.", "verbs")


def read(text: str) -> tuple[list[tuple[str, str, str]], Skipped]:
    skipped = Skipped()
    found = PairCorpus(from_bytes(text.encode(), "pairs.txt")).pairs(skipped)
    return [(pair.good, pair.bad, pair.phenomenon) for pair in found], skipped


@pytest.mark.parametrize(
    "text",
    [
        json.dumps(PAIR),
        json.dumps([PAIR], indent=1),
        COLUMNS,
        COLUMNS.replace(",", "\t"),
        COLUMNS.replace(",", ";"),
        'Good,BAD,Phenomenon\n"Cats sleep.",Cats  sleeps. ,verbs\n',
        MULTIBLIMP,
        json.dumps({"good": "Cats sleep.", "bad": "Cats sleeps.", "phenomenon": "verbs"}),
    ],
)
def test_a_pair_in_every_form(text: str) -> None:
    assert read(text)[0] == [READ]
    source = from_bytes(text.encode(), "pairs.txt")
    assert format_detection.kinds(source) == ("pairs", "text")
    assert "1 minimal pair of 1 phenomenon" in describe("pairs", source)
    assert "1 paragraph, 2 words" in describe("text", source), "its grammatical sentences are text"


def test_what_a_pair_is_a_case_of_is_the_finest_name_that_the_file_has() -> None:
    coarse = {name: value for name, value in PAIR.items() if name != "UID"}
    bare = {name: value for name, value in coarse.items() if name != "linguistics_term"}
    names = [phenomenon for _, _, phenomenon in read("\n".join(map(json.dumps, (PAIR, coarse, bare))))[0]]
    assert names == ["verbs", "agreement", "all pairs"]


@pytest.mark.parametrize(
    "example", re.findall(r"```pairs\n(.*?)^```$", PAGE.read_text("utf-8"), re.MULTILINE | re.DOTALL)
)
def test_the_examples_of_the_page_are_read(example: str) -> None:
    pairs, skipped = read(example)
    assert len(pairs) == 2 and not skipped.reasons


def test_a_template_is_read_where_the_file_names_one() -> None:
    (pair,) = PairCorpus(from_bytes(COLUMNS.encode(), "x.csv")).pairs(Skipped())
    assert (pair.template, pair.line, pair.number) == ("A", 2, 0)


def test_what_is_no_pair_is_skipped_and_counted() -> None:
    lines = [json.dumps(PAIR), "{broken", '{"sentence_good": 3, "sentence_bad": "a"}', json.dumps(PAIR)]
    equal = json.dumps(PAIR | {"sentence_bad": "Cats  sleep."})
    pairs, skipped = read("\n".join([*lines, equal]))
    assert pairs == [READ, READ]
    assert [(each["count"], each["where"]) for each in skipped.to_json()] == [
        (1, ["line 2"]),
        (1, ["line 3"]),
        (1, ["line 5"]),
    ]
    assert {each["unit"] for each in skipped.to_json()} == {"pairs"}


@pytest.mark.parametrize("text", ["a\rb,c\nd\n", '"' + "x" * 200_000 + ",b\n", ",\n"])
def test_what_begins_like_columns_is_a_text(text: str) -> None:
    assert format_detection.kinds(from_bytes(text.encode(), "x")) == ("text",)


def test_the_second_of_several_files_has_a_header_of_its_own() -> None:
    other = "bad\tgood\tphenomenon\na b\ta c\tnouns\n"
    assert read(COLUMNS.replace(",", "\t") + "\n" + other)[0] == [READ, ("a c", "a b", "nouns")]


def test_quotation_marks_of_a_text_do_not_join_rows() -> None:
    rows = ['"Cats sleep, she said.\tCats sleeps.\tverbs', '"Cats," she said.\tCat.\tnouns', '"a\tb"\tc\tx']
    expected = [('"Cats sleep, she said.', "Cats sleeps.", "verbs"), ('"Cats," she said.', "Cat.", "nouns")]
    assert read("\n".join(["good\tbad\tphenomenon", *rows]))[0] == [*expected, ("a b", "c", "x")]


@pytest.mark.parametrize("line_end", ["\n", "\r\n"])
@pytest.mark.parametrize("mark", "\t,;")
@pytest.mark.parametrize(
    "row",
    [
        '"Cats\n\nsleep."\tCats sleeps.\tverbs',
        'Cats sleep.\t"Cats\nsleeps."\tverbs',
        '"Cats\nsleep."\t"Cats\nsleeps."\t"verbs"',
        '"Cats sleep."\t"Cats sleeps."\t"verbs\n"',
    ],
)
def test_a_cell_of_several_lines_is_one_sentence(row: str, mark: str, line_end: str) -> None:
    rows = ["good\tbad\tphenomenon", row, "a b\ta c\tnouns", ""]
    text = "\n".join(rows).replace("\t", mark).replace("\n", line_end)
    assert read("\ufeff" + text) == ([READ, ("a b", "a c", "nouns")], Skipped())


@pytest.mark.parametrize("separator", "\t,;")
@pytest.mark.parametrize("quoting", [csv.QUOTE_MINIMAL, csv.QUOTE_ALL])
def test_tables_as_pandas_writes_them(separator: str, quoting: Any) -> None:
    good = ['He said "go"', "Cats\nsleep.", "Cats\tsleep;, here", '"Cats" sleep', "5' 5\" cats"]
    table = pd.DataFrame({"good": good, "bad": [f"{text}\ntoo" for text in good], "phenomenon": "verbs"})
    expected = [(" ".join(each.split()), " ".join(f"{each} too".split()), "verbs") for each in good]
    assert read(table.to_csv(sep=separator, quoting=quoting))[0] == expected


def test_spaces_after_commas_are_no_part_of_a_cell() -> None:
    assert read('good, bad, phenomenon\n"Now, cats sleep.", "Now, cats sleeps.", verbs\n')[0] == [
        ("Now, cats sleep.", "Now, cats sleeps.", "verbs")
    ]


def test_a_pair_has_the_line_where_it_begins() -> None:
    for separator in "\t,":
        text = 'good\tbad\na\tb\n"c\nd"\te\nf\tg\n'.replace("\t", separator)
        pairs = PairCorpus(from_bytes(text.encode(), "x")).pairs(Skipped())
        assert [pair.line for pair in pairs] == [2, 3, 5]


def test_an_empty_cell_of_a_table_names_no_phenomenon() -> None:
    table = pd.DataFrame([{"good": "a b", "bad": "a c", "phenomenon": None, "uid": "x"}]).astype({"phenomenon": float})
    (pair,) = PairCorpus(source_of(table, "pairs")).pairs(Skipped())
    assert pair.phenomenon == "x"


def test_columns_are_divided_by_what_divides_their_names() -> None:
    assert read("good;bad;kind, as seen\nCats, sleep.;Cats, sleeps.;x\n")[0][0][:2] == ("Cats, sleep.", "Cats, sleeps.")


@pytest.mark.parametrize(
    ("text", "what", "where"),
    [
        ("", "empty", "x"),
        ("Just a text.\n", "no file of minimal pairs", "line 1"),
        ('{"text": "a"}\n', "no file of minimal pairs", "line 1"),
        ("good,bad\n,b\n", "`sentence_good` is missing", "line 2"),
        ("good,bad\na,b,c,d\n", "more cells than the header", "line 2"),
        ("good,bad\nsame,same\n", "no pair of different sentences", "x"),
        (
            "good\tbad\tphenomenon\n" + "".join(f"a\tb\t{i}\n" for i in range(501)),
            "more than 500 phenomena",
            "line 502",
        ),
        ('good,bad\n"Cats" sleep,Cats sleeps\na,b\n', "row cannot be read", "line 2"),
        ('good,bad\na,b\n"Cats sleep,Cats sleeps\na,b\n', "row cannot be read", "line 3"),
        ('good\tbad\na\tb\n"Cats\nsleep\tCats sleeps\n', "does not end in this line", "line 3"),
        ('good\tbad\tx\n"a\tb\tc\nd"\te\tf\n', "or is a part of the text", "line 2"),
        ('good,bad\n"' + "a" * 200_000 + ",b\n", "row cannot be read", "line 2"),
    ],
)
def test_a_bad_file_is_refused_with_its_line_and_a_way_out(text: str, what: str, where: str) -> None:
    with pytest.raises(InputError, match=what) as error:
        list(PairCorpus(from_bytes(text.encode(), "x")).pairs(Skipped()))
    assert where in error.value.where and error.value.hint


@pytest.mark.parametrize(
    "corpus",
    [
        [PAIR],
        [("Cats sleep.", "Cats sleeps.", "verbs")],
        pd.DataFrame([{"good": "Cats sleep.", "bad": "Cats sleeps.", "phenomenon": "verbs"}]),
    ],
)
def test_objects_of_the_library(corpus: Any) -> None:
    (pair,) = PairCorpus(source_of(corpus, "pairs")).pairs(Skipped())
    assert (pair.good, pair.bad, pair.phenomenon) == READ


@pytest.mark.parametrize("missing", [None, float("nan"), pd.NA])
def test_a_value_of_an_object_that_is_missing_names_no_phenomenon(missing: Any) -> None:
    rows = [("a b", "a c", "x"), ("a b", "a d", missing), (missing, "a d", "x")]
    table = pd.DataFrame(rows, columns=["good", "bad", "phenomenon"], dtype=object)
    for corpus in (rows, table, table.to_dict("records"), table.itertuples(index=False)):
        skipped = Skipped()
        pairs = PairCorpus(source_of(corpus, "pairs")).pairs(skipped)
        assert [(pair.good, pair.bad, pair.phenomenon) for pair in pairs] == [
            ("a b", "a c", "x"),
            ("a b", "a d", "all pairs"),
        ]
        assert [each["count"] for each in skipped.to_json()] == [1]


@pytest.mark.parametrize(
    "corpus",
    [[("a", "b", "c", "d")], [("a", "b", "c", True, 1)], pd.DataFrame([{"good": "a"}]), [{"text": "a"}], ["a", "b"]],
)
def test_objects_that_are_no_pairs(corpus: Any) -> None:
    with pytest.raises(InputError) as error:
        PairCorpus(source_of(corpus, "pairs"))
    assert "good" in error.value.hint


def test_the_words_that_differ() -> None:
    assert differing_words("These cats sleep", "This cat sleep") == ([0, 1], [0, 1])
    assert differing_words("Cats sleep", "Cats that sleep") == ([], [1])
    assert are_aligned("The cats sleep", "The cat sleep") and not are_aligned("Cats sleep", "Cats that sleep")
    assert not are_aligned("What did she see him do", "What did she him see do"), "words have moved"


def test_the_sample_is_what_its_script_writes() -> None:
    """Each phenomenon has forty pairs that are alike but for words that are replaced; singular and plural alternate."""
    lines = (FOLDER / "pairs.tsv").read_text(encoding="utf-8").splitlines()
    assert lines[1:] == ["\t".join(row) for row in sample_pairs.rows()]
    pairs = list(PairCorpus(sample("pairs")).pairs(Skipped()))
    assert set(Counter(pair.phenomenon for pair in pairs).values()) == {40} and len(pairs) == 240
    assert set(Counter((pair.phenomenon, pair.template) for pair in pairs).values()) == {2}
    assert all(are_aligned(pair.good, pair.bad) for pair in pairs)
    assert len({(pair.good, pair.bad) for pair in pairs}) == 240


@pytest.mark.skipif(not BLIMP.exists(), reason="needs BLiMP beside the repository")
def test_blimp_as_it_is() -> None:
    skipped = Skipped()
    counts = Counter(pair.phenomenon for pair in PairCorpus(from_path(BLIMP)).pairs(skipped))
    assert len(counts) == 67 and sum(counts.values()) == 16_749 and next(iter(counts)) == "adjunct_island"
    assert [each["reason"] for each in skipped.to_json()] == ["a pair of equal sentences"]
