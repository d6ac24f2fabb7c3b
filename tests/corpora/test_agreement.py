"""Minimal pairs of a treebank: which subjects give one, what the other sentence is, and why others give none."""

from collections import Counter
from pathlib import Path

import pytest

from bertviz_core.corpora import Skipped, agreement, format_detection
from bertviz_core.corpora.contents import describe
from bertviz_core.corpora.pairs import PairCorpus
from bertviz_core.corpora.source import from_bytes, from_path
from bertviz_core.errors import InputError

TREEBANKS = Path(__file__).parents[3] / "shared" / "data" / "treebanks"
SING, PLUR = "Number=Sing", "Number=Plur"
IS = "Mood=Ind|Number=Sing|Person=3|Tense=Pres|VerbForm=Fin"
ARE = IS.replace("Sing", "Plur")


def block(*rows: str) -> str:
    """A sentence from `form lemma tag features governor relation [misc]`, `_` for none."""
    lines = []
    number = 0
    for row in rows:
        form, *rest = row.split()
        if not rest or rest[0] == "SpaceAfter=No":  # a contraction of the next two words
            lines.append(f"{number + 1}-{number + 2}\t{form}" + "\t_" * 7 + f"\t{rest[0] if rest else '_'}")
            continue
        number += 1
        lemma, tag, features, governor, relation, *misc = rest
        cells = (number, form, lemma, tag, "_", features, governor, relation, "_", *(misc or "_"))
        lines.append("\t".join(map(str, cells)))
    return "\n".join(lines) + "\n\n"


def forms_of(*forms: str) -> str:
    """Sentences without subjects in which forms occur, each as `form lemma tag features`."""
    return "".join(block(f"{form} 0 root") for form in forms)


BE = forms_of(f"is be AUX {IS}", f"are be AUX {ARE}")
CATS = f"cats cat NOUN {PLUR} 3 nsubj"
TWO_CATS = CATS.replace("3", "2")
OLD = "old old ADJ _ 0 root"


def pairs_of(text: str) -> tuple[list[tuple[str, str, str]], dict[str, int]]:
    skipped = Skipped()
    pairs = PairCorpus(from_bytes(text.encode(), "bank.conllu")).pairs(skipped)
    found = [(pair.good, pair.bad, pair.phenomenon) for pair in pairs]
    return found, {entry["reason"]: entry["count"] for entry in skipped.to_json()}


def reason(*rows: str, forms: str = BE) -> str:
    """Why a sentence of one subject gives no pair."""
    good = block(TWO_CATS, f"are be AUX {ARE} 0 root")
    pairs, reasons = pairs_of(forms + good + block(*rows))
    assert len(pairs) == 1 and sum(reasons.values()) == 1
    return next(iter(reasons))


def test_worked_example() -> None:
    """The verb is replaced by the form that the treebank has in the other number; casing and spaces stay."""
    text = BE + block(
        f"Are be AUX {ARE} 3 cop",
        f"cats cat NOUN {PLUR} 3 nsubj",
        "old old ADJ _ 0 root SpaceAfter=No",
        "? ? PUNCT _ 3 punct",
    )
    assert pairs_of(text) == ([("Are cats old?", "Is cats old?", "verb agreement")], {})
    source = from_bytes(text.encode(), "bank.conllu")
    assert format_detection.kinds(source) == ("treebank", "pairs", "text")
    assert describe("pairs", source) == "Read as a treebank (CoNLL-U): 1 minimal pair of 1 phenomenon."
    (pair,) = PairCorpus(source).pairs(Skipped())
    assert (pair.number, pair.line) == (0, 5)


@pytest.mark.parametrize(
    ("rows", "other"),
    [
        ((f"IT it PRON {SING} 2 nsubj", f"IS be AUX {IS} 0 root"), "IT ARE"),
        ((f"This this PRON {SING} 3 nsubj", f"is be AUX {IS} 3 cop", OLD), "This are old"),
        (
            (
                f"It it PRON {SING} 4 nsubj",
                "isn't",
                f"is be AUX {IS} 4 cop",
                "n't not PART _ 4 advmod",
                "old old ADJ _ 0 root",
            ),
            "It aren't old",
        ),
        (("( ( PUNCT _ 3 punct SpaceAfter=No", CATS, f"are be AUX {ARE} 0 root"), "(cats is"),
        (
            (
                f"cats cat NOUN {PLUR} 3 nsubj:pass",
                f"are be AUX {ARE} 3 aux:pass",
                "seen see VERB VerbForm=Part 0 root",
            ),
            "cats is seen",
        ),
    ],
)
def test_the_other_sentence(rows: tuple[str, ...], other: str) -> None:
    assert [bad for _, bad, _ in pairs_of(BE + block(*rows))[0]] == [other]


def test_phenomena_by_what_stands_between() -> None:
    rows = [f"cats cat NOUN {PLUR} 0 nsubj", *["so so ADV _ 1 advmod"] * 3, f"are be AUX {ARE} 0 root"]
    rows = [row.replace(" 0 nsubj", " 5 nsubj") for row in rows]
    assert pairs_of(BE + block(*rows))[0][0][2] == agreement.DISTANT
    rows[1] = f"cat cat NOUN {SING} 1 nmod"
    assert pairs_of(BE + block(*rows))[0][0][2] == agreement.DISTRACTED
    rows[1] = f"cats cat NOUN {PLUR} 1 nmod"
    assert pairs_of(BE + block(*rows))[0][0][2] == agreement.DISTANT


@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        (("who who PRON PronType=Rel 2 nsubj", f"is be AUX {IS} 0 root"), agreement.NO_SUBJECT_NUMBER),
        ((TWO_CATS, "slept sleep VERB Tense=Past|VerbForm=Fin 0 root"), agreement.NO_VERB_NUMBER),
        ((CATS, "will will AUX VerbForm=Fin 3 aux", "be be AUX VerbForm=Inf 0 root"), agreement.NO_VERB_NUMBER),
        ((f"police police NOUN {SING} 2 nsubj", f"are be AUX {ARE} 0 root"), agreement.UNEQUAL),
        ((f"A A NOUN {SING} 3 nsubj", f"B B NOUN {SING} 1 conj", f"are be AUX {ARE} 0 root"), agreement.COORDINATED),
        (("There there PRON _ 2 expl", f"is be AUX {IS} 0 root", f"a a NOUN {SING} 2 nsubj"), agreement.EXPLETIVE),
        ((f"it it PRON {SING} 3 nsubj SpaceAfter=No", f"'s be AUX {IS} 3 cop", OLD), agreement.JOINED),
        ((f"It it PRON {SING} 2 nsubj", f"iz be AUX {IS}|Typo=Yes 0 root"), agreement.ODD),
        ((f"It it PRON {SING} 2 nsubj", f"sings sing VERB {IS} 0 root"), agreement.MISSING),
    ],
)  # fmt: skip
def test_what_gives_no_pair_is_counted(rows: tuple[str, ...], expected: str) -> None:
    assert reason(*rows) == expected


def test_two_subjects_of_a_clause() -> None:
    rows = (f"idea idea NOUN {SING} 4 nsubj:outer", f"is be AUX {IS} 4 cop", f"cats cat NOUN {PLUR} 4 nsubj", OLD)
    good = block(TWO_CATS, f"are be AUX {ARE} 0 root")
    assert pairs_of(BE + good + block(*rows))[1] == {agreement.SEVERAL: 2}


HAVE = (f"have have VERB {ARE}", f"have have VERB {IS}")
PUT = f"put put VERB {ARE}"
PAST = "Mood=Ind|Number=Sing|Person=3|Tense=Past|VerbForm=Fin"


@pytest.mark.parametrize(
    ("forms", "verb", "expected"),
    [
        (HAVE, "have have", agreement.SAME),
        ((PUT, f"put put VERB {PAST}"), "puts put", agreement.POSSIBLE),
        ((PUT, f"put put VERB {PAST.replace('3', '1')}"), "puts put", ""),
        ((*[PUT] * 11, f"put put VERB {IS}"), "puts put", ""),
    ],
)
def test_a_form_that_may_be_right_is_no_other(forms: tuple[str, ...], verb: str, expected: str) -> None:
    """Where it is ten times as often the other one, the treebank is thought to be wrong."""
    rows = (f"She she PRON {SING} 2 nsubj", f"{verb} VERB {IS} 0 root")
    if expected:
        assert reason(*rows, forms=BE + forms_of(*forms)) == expected
    else:
        assert len(pairs_of(forms_of(*forms) + block(*rows))[0]) == 1


def test_was_has_another_mood_in_a_subordinate_clause() -> None:
    forms = forms_of(f"were be AUX {PAST.replace('Sing', 'Plur')}", f"were be AUX {PAST.replace('Ind', 'Sub')}")
    main = (f"It it PRON {SING} 2 nsubj", f"was be AUX {PAST} 0 root")
    assert pairs_of(forms + block(*main))[0] == [("It was", "It were", "verb agreement")]
    clause = ("Go go VERB _ 0 root", "if if SCONJ _ 4 mark", f"it it PRON {SING} 4 nsubj", f"was be AUX {PAST} 1 advcl")
    assert pairs_of(forms + block(*main) + block(*clause))[1] == {agreement.POSSIBLE: 1}


def test_a_subject_of_both_numbers() -> None:
    sheep = forms_of(f"sheep sheep NOUN {SING}", f"sheep sheep NOUN {PLUR}")
    assert (
        reason(f"sheep sheep NOUN {PLUR} 2 nsubj", f"are be AUX {ARE} 0 root", forms=BE + sheep) == agreement.AMBIGUOUS
    )


def test_forms_are_as_alike_as_the_treebank_has_them() -> None:
    """Where the plural has no Person it stands for all; of several forms the more alike, then the more frequent."""
    alike = f"are be AUX {PLUR}|Mood=Ind|Tense=Pres|VerbForm=Fin"
    verse = (f"It it PRON {SING} 2 nsubj", f"is be AUX {IS} 0 root")
    assert pairs_of(forms_of(alike) + block(*verse))[0][0][1] == "It are"
    first = f"am be AUX {ARE.replace('3', '1')}"
    assert pairs_of(forms_of(alike, first, first) + block(*verse))[0][0][1] == "It are"


def test_sentences_are_units_or_documents_where_the_file_has_them() -> None:
    sentence = block(TWO_CATS, f"are be AUX {ARE} 4 ccomp", "it it PRON Number=Sing 4 nsubj", f"is be AUX {IS} 0 root")
    corpus = PairCorpus(from_bytes((2 * sentence).encode(), "x"))
    assert corpus.unit == "sentences" and [p.template for p in corpus.pairs(Skipped())] == ["0", "0", "1", "1"]
    corpus = PairCorpus(from_bytes((2 * f"# newdoc\n{sentence}{sentence}").encode(), "x"))
    assert corpus.unit == "documents" and [p.template for p in corpus.pairs(Skipped())] == ["0"] * 4 + ["1"] * 4


def test_a_treebank_without_pairs_says_why() -> None:
    bare = block("cats cat NOUN _ 2 nsubj", "sleep sleep VERB _ 0 root")
    with pytest.raises(InputError, match="no Number in the column FEATS"):
        PairCorpus(from_bytes(bare.encode(), "x"))
    lonely = block(f"It it PRON {SING} 2 nsubj", f"is be AUX {IS} 0 root")
    with pytest.raises(InputError, match=f"give a pair. Most often there is {agreement.MISSING}: 1."):
        list(PairCorpus(from_bytes(lonely.encode(), "x")).pairs(Skipped()))


def test_forms_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(agreement, "MAX_FORMS", 2)
    text = BE + forms_of(f"sing sing VERB {ARE}") + block(f"It it PRON {SING} 2 nsubj", f"is be AUX {IS} 0 root")
    assert pairs_of(text)[1][agreement.FORGOTTEN] == 3


@pytest.mark.skipif(not TREEBANKS.exists(), reason="needs the treebanks beside the repository")
def test_a_treebank_of_another_language() -> None:
    skipped = Skipped()
    pairs = list(PairCorpus(from_path(TREEBANKS / "UD_German-GSD" / "de_gsd-ud-dev.conllu.xz")).pairs(skipped))
    assert Counter(pair.phenomenon for pair in pairs) == {
        agreement.NEAR: 459,
        agreement.DISTANT: 68,
        agreement.DISTRACTED: 41,
    }
    assert "Mein Freund ist" not in [pair.bad for pair in pairs] and sum(e["count"] for e in skipped.to_json()) == 496
