"""Head words and types, by trees and by the rule; number, gender and person."""

from __future__ import annotations

import pytest

from bertviz_core.corpora.agreement import features
from bertviz_core.corpora.documents import CoreferenceDocument, Mention
from bertviz_core.corpora.head_words import TYPES, head_word, how, mention_type


def document(text: str, tags=None, governors=None) -> CoreferenceDocument:
    words = tuple(text.split())
    return CoreferenceDocument(0, "d", "line 1", words, (0,), (), tags, governors)


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
    assert given.words[head_word(given, Mention(0, len(given.words), 0))] == head and how(given) == "rule"


def test_the_tree_says_which_word_is_governed_from_outside():
    # the captain of the ship sank: captain <- sank, the and ship <- captain
    tree = document("the captain of the ship sank", governors=(1, 5, 4, 4, 1, -1))
    assert head_word(tree, Mention(0, 5, 0)) == 1 and head_word(tree, Mention(3, 5, 0)) == 4 and how(tree) == "tree"
    assert head_word(tree, Mention(4, 6, 0)) == 4  # two words are governed from outside: the first


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
        ("Ship", None, "nominal"),  # a capital at the start of a sentence says nothing
    ],
)
def test_types(words, tag, expected):
    given = document(words, tags=None if tag is None else (*["-"] * words.count(" "), tag))
    assert TYPES[mention_type(given, len(given.words) - 1)] == expected


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
    first, second = (features(words.split(), head) for words, head in (one, other))
    assert first.agrees(second) is agree and second.agrees(first) is agree


def test_tags_say_number():
    assert features(["police"], "police", "NNS").number == "plural"
    assert features(["Paris"], "Paris", "NNP").number == "singular"
