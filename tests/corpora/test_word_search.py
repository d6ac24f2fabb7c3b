"""Words are found in sentences and in whole corpora, whatever the corpus is written in."""

import json

import pytest

from bertviz_core.corpora.source import from_bytes
from bertviz_core.corpora.word_search import search

TEXT = 'The cat sat.\nCATS sleep; the cat, too.\n\n小王愛書。\nNo animal.\nA "cat" again\n'


def hits(text: str, words: str, first: int = 0, count: int = 100, name: str = "a.txt"):
    return search(from_bytes(text.encode(), name), words, first, count)


@pytest.mark.parametrize(
    ("words", "lines"),
    [
        ("cat", [1, 2, 6]),
        ("Cat*", [1, 2, 6]),
        ("cat sat", [1]),
        ("sat cat sat", []),
        ("the cat,", [2]),
        ("cats", [2]),
        ("愛書", [4]),
        ("王書", []),
        ("an*", [5]),
        ("", []),
        ("*", []),
        ("(?i).*", []),
    ],
)
def test_the_lines_of_a_text_are_found(words: str, lines: list[int]) -> None:
    total, found = hits(TEXT, words)
    assert (total, [hit.line for hit in found]) == (len(lines), lines)


def test_a_page_of_many_hits_and_what_stands_around_them() -> None:
    text = "".join(f"{'x ' * 200}Needle {number} {'y ' * 200}\n" for number in range(50))
    total, found = hits(text, "needle", first=20, count=5)
    assert total == 50 and [hit.line for hit in found] == [21, 22, 23, 24, 25]
    assert all(hit.match == "Needle" and hit.before.endswith("x ") and hit.after.startswith(" 2") for hit in found)
    assert max(len(hit.before + hit.after) for hit in found) <= 140
    assert hits(text, "needle", first=48)[1][-1].line == 50


def test_objects_and_sentences_of_other_formats() -> None:
    objects = [{"text": "A dog."}, {"words": ["The", "cat"]}, {"tokens": ["[CLS]", "cat", "[SEP]"]}]
    total, found = hits(json.dumps(objects), "cat", name="a.json")
    assert total == 2 and [hit.record for hit in found] == [1, 2]
    total, found = hits("The 2-det\ncat 3-nsubj\nsat 0-root\n\nA 2-det\ndog 0-root\n", "cat sat")
    assert total == 1 and found[0].before == "The "
