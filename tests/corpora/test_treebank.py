"""Treebanks: readers of every format, what is left out, messages that name the line; the sample that ships, the view of
function words as governors, and what labels mean."""

import lzma
from collections import Counter
from pathlib import Path

import pytest

from bertviz_core import paper
from bertviz_core.corpora import Skipped
from bertviz_core.corpora.annotated import Treebank
from bertviz_core.corpora.files import SAMPLES, sample
from bertviz_core.corpora.format_detection import kinds
from bertviz_core.corpora.source import from_bytes, from_path
from bertviz_core.corpora.treebank import RELATIONS, Sentence, explain, function_heads, meaning
from bertviz_core.errors import InputError

DATA = Path(__file__).parents[2].parent / "shared" / "data" / "treebanks"
CATS = """# sent_id = 1
# text = Cats can't sleep.
1\tCats\tcat\tNOUN\tNNS\t_\t4\tnsubj\t_\t_
2-3\tcan't\t_\t_\t_\t_\t_\t_\t_\t_
2\tca\tcan\tAUX\tMD\t_\t4\taux\t_\t_
3\tn't\tnot\tPART\tRB\t_\t4\tadvmod\t_\t_
4\tsleep\tsleep\tVERB\tVB\t_\t0\troot\t_\tSpaceAfter=No
4.1\tsleep\tsleep\tVERB\tVB\t_\t_\t_\t0:root\t_
5\t.\t.\tPUNCT\t.\t_\t4\tpunct\t_\t_
"""
CONLL_2008 = (
    "1\tDogs\tdog\tNNS\tNNS\tDogs\tdog\tNNS\t2\tSBJ\t_\tA0\n"
    "2\tbark\tbark\tVBP\tVBP\tbark\tbark\tVBP\t0\tROOT\tbark.01\t_\n"
)
TWO = """1\tNew York\tNew York\tPROPN\t_\t_\t2\tnmod:poss\t_\t_
2\tsleeps\tsleep\tVERB\t_\t_\t0\troot\t_\t_
"""


def read(text: str | bytes):
    skipped = Skipped()
    data = text if isinstance(text, bytes) else text.encode()
    bank = Treebank(from_bytes(data, "bank"))
    return bank.form.name, list(bank.sentences(skipped)), skipped.to_json()


def rows(*lines: str) -> str:
    """`form head relation` lines to CoNLL-U."""
    cells = [line.split() for line in lines]
    return "".join(f"{i}\t{w}\t_\tX\t_\t_\t{h}\t{r}\t_\t_\n" for i, (w, h, r) in enumerate(cells, start=1)) + "\n"


GOOD = rows("He 2 nsubj", "sat 0 root")


def test_conllu_words_without_ranges_and_empty_nodes():
    name, sentences, skipped = read(CATS + "\n" + TWO)
    assert (name, skipped) == ("CoNLL-U", [])
    first, second = sentences
    assert first.to_json() == {
        "words": ["Cats", "ca", "n't", "sleep", "."],
        "relns": ["nsubj", "aux", "advmod", "root", "punct"],
        "heads": [4, 4, 4, 0, 4],
    }
    assert second.words == ("New York", "sleeps") and second.relations[0] == "nmod:poss"
    assert (first.number, first.line, second.number, second.line) == (0, 3, 1, 11)


def test_two_spaces_inside_a_form_do_not_shift_the_columns():
    _, (sentence,), _ = read(TWO.replace("New York\tNew", "New  York\tNew"))
    assert (sentence.words[0], sentence.governors) == ("New York", (2, 0))


def test_relations_may_begin_with_a_digit_but_are_no_numbers():
    rows = "1\tHe\the\tPRP\tPRP\t_\t2\t{}\t_\t_\n2\tsat\tsit\tVBD\tVBD\t_\t0\troot\t_\t_\n"
    assert read(rows.format("2subj"))[1][0].relations == ("2subj", "root")
    for other in ("2", "2:nsubj", "3.1"):
        with pytest.raises(InputError, match="no relation in the DEPREL column"):
            read(rows.format(other))
    assert kinds(from_bytes(b"He 2-1subj\nsat 0-root\n", "a")) == ("treebank", "text")


def test_eight_columns_of_conllx():
    text = "1\tHe\t_\tPRP\tPRP\t_\t2\tSBJ\n2\tsat\t_\tVBD\tVBD\t_\t0\tROOT\n"
    name, sentences, skipped = read(text)
    assert (name, sentences[0].governors, skipped) == ("CoNLL-X in eight columns", (2, 0), [])
    assert sentences[0].tags == ("PRP", "VBD") and kinds(from_bytes(text.encode(), "a")) == ("treebank", "text")


def test_a_treebank_in_which_every_word_is_a_root_has_no_trees():
    words = ["the", "cat", "sat", "on", "a", "mat", "and", "it", "slept", "there"]
    text = "".join("".join(f"{word} 0-root\n" for word in words) + "\n" for _ in range(3))
    with pytest.raises(InputError, match="has no trees: every word is a root"):
        read(text)
    assert len(read(f"{text}He 2-nsubj\nsat 0-root\n")[1]) == 4
    assert len(read("yes 0-root\n\nno 0-root\n\n" * 30)[1]) == 60


def test_conllx_may_have_two_roots():
    text = "1\tYes\tyes\tUH\tUH\t_\t0\troot\t_\t_\n2\tsir\tsir\tNN\tNN\t_\t0\tdep\t_\t_\n"
    name, sentences, skipped = read(text)
    assert (name, sentences[0].governors, skipped) == ("CoNLL-X", (0, 0), [])


def test_authors_lines_labels_with_a_dash_and_no_last_blank_line():
    name, sentences, _ = read("He 2-nsubj\nsat 0-root\n\nA-b 2-nmod-poss\ncat\t0-root")
    assert name == "word head-label"
    assert [s.to_json() for s in sentences] == [
        {"words": ["He", "sat"], "relns": ["nsubj", "root"], "heads": [2, 0]},
        {"words": ["A-b", "cat"], "relns": ["nmod-poss", "root"], "heads": [2, 0]},
    ]


BROKEN = {
    "a governor beyond the sentence": (rows("He 7 nsubj", "sat 0 root"), "line 1 (head 7, but the sentence has 2"),
    "words that govern each other in a cycle": (rows("a 2 x", "b 1 x", "c 0 root"), "line 1"),
    "more than one root": (rows("a 0 root", "b 0 root"), "line 2"),
    "a word without a governor": (rows("a _ dep", "b 0 root"), "line 1 (HEAD is _)"),
    "no number in the HEAD column (were two columns swapped?)": (rows("a nsubj 2", "b root 0"), "line 1 ('nsubj')"),
    "a line without ten columns between tabs": (rows("a 2 x", "b 0 root").replace("2\tb", "2 b"), "line 2 (9 columns)"),
    "words that are not numbered 1, 2, 3": (rows("a 2 x", "b 0 root").replace("2\tb", "3\tb"), "line 2"),
    "no blank line before the next sentence": (rows("a 2 x", "b 0 root").rstrip() + "\n" + GOOD, "line 3"),
    "a word without a relation": (rows("a 2 _", "b 0 root"), "line 1"),
    "no relation in the DEPREL column (were two columns swapped?)": (rows("a 2 NOUN", "b 0 VERB"), "line 1 ('NOUN')"),
}


@pytest.mark.parametrize("reason", BROKEN)
def test_a_broken_sentence_is_left_out_and_the_rest_goes_on(reason):
    text, where = BROKEN[reason]
    _, sentences, skipped = read(text + GOOD)
    assert [(s.number, s.words) for s in sentences] == [(1, ("He", "sat"))]
    assert [entry["reason"] for entry in skipped] == [reason]
    assert skipped[0]["count"] == 1 and skipped[0]["where"][0].startswith(where)
    with pytest.raises(InputError) as error:  # a file of nothing else
        read(text)
    assert ("swapped" if "swapped" in reason else reason) in error.value.what
    assert error.value.where == f"bank, {where.split(' (')[0]}"


@pytest.mark.parametrize(
    ("text", "message", "where"),
    [
        ("", "empty", "bank"),
        ("\n \n", "empty", "bank"),
        ("# only\n# comments\n", "only comments", "bank"),
        ("<!DOCTYPE html>\n<p>hi</p>", "HTML", "bank, line 1"),
        (CATS.replace("\t", " "), "tabs", "bank, line 3"),
        ("The cat sat.\nIt slept.", "not a treebank", "bank, line 1"),
        (CONLL_2008, "Most rows have 12 columns", "bank, line 1"),
        (lzma.compress(CATS.encode() * 5000)[:-300], "cannot be read to its end", "bank, after line"),
        (b"1\tcaf\xe9\t_\tX\t_\t_\t0\troot\t_\t_\n", "UTF-8", "bank, line 1"),
    ],
)
def test_other_files_are_refused_by_line(text, message, where):
    with pytest.raises(InputError) as error:
        read(text)
    assert message in error.value.what and error.value.where.startswith(where)


def columns(*order: int) -> str:
    """The two good sentences with their columns in another order."""
    lines = [line.split("\t") for line in (CATS + "\n" + TWO).splitlines()]
    return "\n".join("\t".join(row[i] for i in order) if len(row) == 10 else "\t".join(row) for row in lines)


@pytest.mark.parametrize(
    ("one", "other", "message"),
    [
        (7, 4, "the relations are in column 5"),
        (1, 3, "parts of speech are in column 2"),
        (7, 6, "the relations are in column 7"),
        (0, 1, "ID"),
        (0, 6, "ID"),
        (6, 8, "HEAD"),
    ],
)
def test_two_swapped_columns_are_noticed(one, other, message):
    order = list(range(10))
    order[one], order[other] = other, one
    with pytest.raises(InputError) as error:
        read(columns(*order))
    assert message in error.value.what
    assert error.value.where.startswith("bank, line")


@pytest.mark.skipif(not DATA.exists(), reason="no shared data")
@pytest.mark.parametrize(
    ("path", "sentences", "words"),
    [
        ("UD_English-EWT/en_ewt-ud-dev.conllu.xz", 2001, 25147),
        ("UD_English-GUM/en_gum-ud-dev.conllu.xz", 1575, 28119),
        ("UD_French-GSD/fr_gsd-ud-dev.conllu.xz", 1476, 35721),
        ("UD_Czech-CAC/cs_cac-ud-dev.conllu.xz", 603, 10912),
        ("UD_Arabic-PUD/ar_pud-ud-test.conllu.xz", 1000, 20747),
        ("UD_Chinese-GSD/zh_gsd-ud-dev.conllu.xz", 500, 12665),
        ("UD_Japanese-GSD/ja_gsd-ud-dev.conllu.xz", 507, 12287),
    ],
)
def test_universal_treebanks_have_the_counts_that_their_publishers_give(path, sentences, words):
    skipped = Skipped()
    bank = Treebank(from_path(DATA / path))
    read_ones = list(bank.sentences(skipped))
    assert bank.form.name == "CoNLL-U"
    rows = [line.split("\t") for line in lzma.decompress((DATA / path).read_bytes()).decode().splitlines()]
    counted = Counter(row[7] for row in rows if row[0].isdigit() and len(row) == 10)
    assert Counter(relation for sentence in read_ones for relation in sentence.relations) == counted
    assert (len(read_ones), sum(map(len, read_ones)), skipped.to_json()) == (sentences, words, [])


UNIVERSAL = (  # https://universaldependencies.org/u/dep/
    "acl advcl advmod amod appos aux case cc ccomp clf compound conj cop csubj dep det discourse dislocated expl fixed "
    "flat goeswith iobj list mark nmod nsubj nummod obj obl orphan parataxis punct reparandum root vocative xcomp"
)


@pytest.fixture(scope="module")
def sentences() -> list[Sentence]:
    skipped = Skipped()
    bank = Treebank(sample(next(iter(SAMPLES["treebank"]))))
    read = list(bank.sentences(skipped))
    assert (bank.form.name, skipped.to_json()) == ("CoNLL-U", [])
    return read


def test_there_are_enough_sentences_of_varied_length(sentences):
    lengths = [len(sentence) for sentence in sentences]
    assert len(sentences) >= 120
    assert min(lengths) <= 4 and max(lengths) >= 25
    assert len({sentence.words for sentence in sentences}) == len(sentences)


def test_every_relation_is_universal_and_the_root_is_called_root(sentences):
    for sentence in sentences:
        for governor, relation in zip(sentence.governors, sentence.relations, strict=True):
            assert relation.split(":")[0] in UNIVERSAL.split(), sentence.where
            assert (governor == 0) == (relation == "root"), sentence.where


def test_every_relation_of_table_1_occurs_at_least_eight_times_under_the_function_head_view(sentences):
    counted = Counter(relation for sentence in sentences for relation in function_heads(sentence).relations)
    rare = {relation: counted[relation] for relation in paper.TABLE_1 if relation != "all" and counted[relation] < 8}
    assert not rare


def viewed(*lines: str) -> list[str]:
    """`word governor relation` lines, and the same lines under the view."""
    words, governors, relations = zip(*(line.split() for line in lines), strict=True)
    view = function_heads(Sentence(0, 1, words, tuple(map(int, governors)), relations))
    return [f"{w} {g} {r}" for w, g, r in zip(view.words, view.governors, view.relations, strict=True)]


VIEWS = {  # each tree, and the lines that the view changes
    "he sat on the old mat": (
        ("He 2 nsubj", "sat 0 root", "on 6 case", "the 6 det", "old 6 amod", "mat 2 obl"),
        {"on": "on 2 prep", "mat": "mat 3 pobj"},
    ),
    "each phrase of a chain hangs from its own adposition": (
        ("roof 0 root", "of 4 case", "the 4 det", "house 1 nmod", "in 6 case", "town 4 nmod"),
        {"of": "of 1 prep", "house": "house 2 pobj", "in": "in 4 prep", "town": "town 5 pobj"},
    ),
    "the first of several adpositions carries the nominal": (
        ("came 0 root", "out 5 case", "of 5 case", "the 5 det", "house 1 obl"),
        {"out": "out 1 prep", "house": "house 2 pobj"},
    ),
    "fixed parts stay with their first word": (
        ("left 0 root", "because 4 case", "of 2 fixed", "rain 1 obl"),
        {"because": "because 1 prep", "rain": "rain 2 pobj"},
    ),
    "a nominal that is the root keeps its place": (("In 2 case", "Paris 0 root"), {}),
    "conjuncts stay under the nominal": (
        ("went 0 root", "to 3 case", "Rome 1 obl", "and 5 cc", "Pisa 3 conj"),
        {"to": "to 1 prep", "Rome": "Rome 2 pobj"},
    ),
    "a postposition stays": (("two 2 nummod", "years 4 obl", "ago 2 case", "left 0 root"), {}),
    "a possessive stays": (("Ann 3 nmod:poss", "'s 1 case", "hat 0 root"), {"Ann": "Ann 3 poss"}),
}


@pytest.mark.parametrize("case", VIEWS)
def test_nominals_hang_from_their_adpositions(case):
    tree, changed = VIEWS[case]
    assert viewed(*tree) == [changed.get(line.split()[0], line) for line in tree]


def test_labels_with_one_counterpart_are_renamed_and_others_kept():
    tree = (
        *("Cars 3 nsubj:pass", "were 3 aux:pass", "given 0 root", "up 3 compound:prt"),
        *("fire 6 compound", "wood 3 obj", "quickly 3 advmod", "now 3 obl:tmod"),
    )
    relations = [line.split()[2] for line in viewed(*tree)]
    assert relations == ["nsubjpass", "auxpass", "root", "prt", "nn", "dobj", "advmod", "obl:tmod"]


def test_the_glossary_explains_the_samples_labels_and_is_what_the_documentation_lists(sentences):
    viewed = [view for sentence in sentences for view in (sentence, function_heads(sentence))]
    labels = {name for sentence in viewed for name in (*sentence.relations, *sentence.tags)}
    assert not [label for label in labels if not meaning(label)]
    listed = (Path(__file__).parents[2] / "docs/relations.md").read_text("utf-8")
    for label, known in RELATIONS.items():
        row = f"| `{label}` | {known.meaning} | {known.marked('**{}**', '*{}*')} |"
        assert row in listed and known.example.count("<") == 1
    assert explain("dobj") == "direct object, as in: She read the book" and meaning("obl:lmod") == meaning("obl")
    assert explain("no-such-label") == ""
