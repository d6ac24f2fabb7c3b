"""Head words and types, by trees and by the rule; number, gender and person."""

import re
import time

import pytest
from hypothesis import given as given_by
from hypothesis import strategies as st

from bertviz_core.analyses.coreference_heads.baselines import features
from bertviz_core.corpora.coreference import CoreferenceDocument, Mention
from bertviz_core.corpora.coreference.mentions import TYPES, head_word_source, head_words, mention_type
from tests.oracles import coreference as oracle


def document(text: str, *spans: tuple[int, int], tags=None, governors=None, parse=None) -> CoreferenceDocument:
    words = tuple(text.split())
    mentions = tuple(Mention(start, end, 0) for start, end in spans or [(0, len(words))])
    return CoreferenceDocument(0, "d", words, (0,), mentions, tags, governors, parse)


@pytest.mark.parametrize(
    ("text", "head"),
    [
        ("the old captain", "captain"),
        ("the captain of the ship", "captain"),
        ("Ines , who has commanded the vessel", "Ines"),
        ("the ship that sank", "ship"),
        ("of mice and men", "men"),  # a preposition in the first place breaks nothing
        ("his mother 's", "mother"),
        ("the ship .", "ship"),
        ('" The Raven "', "Raven"),
        ("they", "they"),
        ("...", "..."),
    ],
)
def test_the_rule(text, head):
    given = document(text)
    assert given.words[head_words(given)[0]] == head and head_word_source(given) == "rule"


def test_the_tree_says_which_word_is_governed_from_outside():
    # the captain of the ship sank: captain <- sank, the and ship <- captain
    spans = ((0, 5), (3, 5), (4, 6))  # in the last two words are governed from outside: the first
    tree = document("the captain of the ship sank", *spans, governors=(1, 5, 4, 4, 1, -1))
    assert head_words(tree) == (1, 4, 4) and head_word_source(tree) == "trees"


@pytest.mark.parametrize(
    ("text", "tags", "parse", "head"),
    [
        ("the captain of the ship", "DT NN IN DT NN", "(TOP(NP(NP* *) (PP* (NP* *))))", "captain"),
        ("the ship that sank", "DT NN WDT VBD", "(NP(NP* *) (SBAR(WHNP*) (S(VP*))))", "ship"),
        ("the big red", "DT JJ JJ", "(NP* * *)", "red"),
        ("a cat and the dog", "DT NN CC DT NN", "(NP(NP* *) * (NP* *))", "cat"),
        ("Smith and Sons Ltd", "NNP CC NNPS NNP", "(NP* * * *)", "Ltd"),
        ("his mother 's", "PRP$ NN POS", "(NP* * *)", "mother"),
        ("about 20 of them", "RB CD IN PRP", "(NP(NP(QP* *)) (PP* (NP*)))", "20"),
        ("they", "PRP", "(TOP(S(NP*)))", "they"),
        ("here in Rome", "RB IN NNP", "(ADVP* (PP* (NP*)))", "here"),  # no noun phrase: the rule
        ("the old captain", "DT JJ NN", "(S(NP* *) (NP*))", "captain"),  # no phrase spans it: the rule
        ("a broken tree", "DT JJ NN", "(NP* *)) *", "tree"),
    ],
)
def test_a_noun_phrase_has_its_head_by_collins_rules(text, tags, parse, head):
    pieces = tuple(piece.replace(" ", "") for piece in _pieces(parse))
    given = document(text, tags=tuple(tags.split()), parse=pieces)
    assert given.words[head_words(given)[0]] == head and head_word_source(given) == "parse"


def _pieces(parse: str) -> list[str]:
    """One for each word: what opens before its star, and what closes after it."""
    return re.findall(r"[^*]*\*\s*\)*(?:\s*\))*", parse)


@pytest.mark.parametrize(
    ("words", "tag", "expected"),
    [
        ("so he", "PRP", "pronoun"),
        ("so his", "PRP$", "pronoun"),
        ("so it", "PRON", "pronoun"),
        ("so Ann", "NNP", "proper"),
        ("so Ann", "PROPN", "proper"),
        ("so Americans", "NNPS", "proper"),
        ("so Ship", "NN", "nominal"),
        ("so they", "-", "nominal"),  # a file with tags is believed
        ("so they", None, "pronoun"),
        ("so Ann", None, "proper"),
        ("so ship", None, "nominal"),
        ("Ship", None, "proper"),
        ("Everyone", None, "nominal"),
    ],
)
def test_types(words, tag, expected):
    given = document(words, tags=None if tag is None else (*["-"] * words.count(" "), tag))
    assert TYPES[mention_type(given, len(given.words) - 1)] == expected


def test_a_capital_at_the_start_of_a_sentence_is_no_name_where_the_document_has_the_word_without():
    """GAP has names and pronouns alone, without tags; a name that begins a sentence is one."""
    words = ("Ann", "saw", "a", "ship", ".", "Ships", "float", ".", "Ship", "Ann")
    given = CoreferenceDocument(0, "d", words, (0, 5, 8), ())
    assert [TYPES[mention_type(given, head)] for head in (0, 5, 8, 9)] == ["proper", "proper", "nominal", "proper"]


@pytest.mark.parametrize(
    ("one", "other", "agree"),
    [
        (("she", "she"), ("Ann", "Ann"), True),
        (("she", "she"), ("Mr. Brown", "Brown"), False),
        (("she", "she"), ("the queen", "queen"), True),
        (("it", "it"), ("the queen", "queen"), False),
        (("they", "they"), ("Ann and Bo", "Bo"), True),
        (("they", "they"), ("the ship", "ship"), False),
        (("they", "they"), ("the ships", "ships"), True),
        (("he", "he"), ("they", "they"), False),
        (("I", "I"), ("he", "he"), False),
        (("you", "you"), ("yourselves", "yourselves"), True),
        (("we", "we"), ("I", "I"), False),
        (("it", "it"), ("the glass", "glass"), True),
    ],
)
def test_agreement(one, other, agree):
    first, second = (features(words.lower().split(), head.lower()) for words, head in (one, other))
    assert first.agrees(second) is agree and second.agrees(first) is agree
    numbers = [features([word], word, tag).number for word, tag in (("police", "NNS"), ("paris", "NNP"))]
    assert numbers == ["plural", "singular"]  # as tags say


@st.composite
def documents(draw) -> CoreferenceDocument:
    words = draw(st.lists(st.sampled_from(["cat", "dog", "of", ",", "that", "'s", "."]), min_size=1, max_size=40))
    place = st.integers(0, len(words) - 1)
    spans = [(min(a, b), max(a, b) + 1) for a, b in draw(st.lists(st.tuples(place, place), max_size=30))]
    tree = st.lists(st.integers(-1, len(words) - 1), min_size=len(words), max_size=len(words)).map(tuple)
    return document(" ".join(words), *spans, governors=draw(st.none() | tree))


@given_by(documents())
def test_the_head_is_that_of_looking_at_every_word(given):
    document = {"words": given.words, "governors": given.governors}
    by_hand = [oracle.head_word(document, mention.start, mention.end) for mention in given.mentions]
    assert list(head_words(given)) == by_hand


@pytest.mark.parametrize("governors", [None, tuple((i + 1) % 40_000 for i in range(40_000))], ids=["rule", "cycle"])
def test_thousands_of_nested_mentions_have_heads_soon(governors):
    nested = document("the " * 40_000, *((i, 40_000 - i) for i in range(10_000)), governors=governors)
    began = time.process_time()
    assert len(head_words(nested)) == 10_000
    assert time.process_time() - began < 2
