"""The sample treebank that ships: valid trees, enough of them, and every relation of Table 1 often enough."""

from collections import Counter
from pathlib import Path

import pytest

from bertviz_core import paper
from bertviz_core.corpora.annotated import CONLLU, Treebank
from bertviz_core.corpora.files import SAMPLES, sample
from bertviz_core.corpora.skipped import Skipped
from bertviz_core.corpora.treebank import RELATIONS, Sentence, explained, function_heads, meaning

UNIVERSAL = (  # https://universaldependencies.org/u/dep/
    "acl advcl advmod amod appos aux case cc ccomp clf compound conj cop csubj dep det discourse dislocated expl fixed "
    "flat goeswith iobj list mark nmod nsubj nummod obj obl orphan parataxis punct reparandum root vocative xcomp"
)


@pytest.fixture(scope="module")
def sentences() -> list[Sentence]:
    skipped = Skipped()
    bank = Treebank(sample(next(iter(SAMPLES["treebank"]))))
    read = list(bank.sentences(skipped))
    assert (bank.form.name, skipped.to_json()) == (CONLLU, [])
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
    "a possessive stays": (("Ann 3 nmod:poss", "'s 1 case", "hat 0 root"), {"Ann": "Ann 3 poss"}),
}


@pytest.mark.parametrize("case", VIEWS)
def test_nominals_hang_from_their_adpositions(case):
    tree, changed = VIEWS[case]
    assert viewed(*tree) == [changed.get(line.split()[0], line) for line in tree]


def test_a_postposition_is_not_rehung():
    assert viewed("two 2 nummod", "years 4 obl", "ago 2 case", "left 0 root")[2] == "ago 2 case"


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
    listed = (Path(__file__).parents[3] / "docs/relations.md").read_text("utf-8")
    for label, known in RELATIONS.items():
        row = f"| `{label}` | {known.meaning} | {known.marked('**{}**', '*{}*')} |"
        assert row in listed and known.example.count("<") == 1
    assert explained("dobj") == "direct object, as in: She read the book" and meaning("obl:lmod") == meaning("obl")
    assert explained("no-such-label") == ""
