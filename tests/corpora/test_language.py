"""Whether words are English."""

import pytest

from bertviz_core.corpora.files import sample
from bertviz_core.corpora.language import is_english


def test_the_sample_text_is_english() -> None:
    words = " ".join(text for _, text in sample("encyclopedia").lines()).split()
    assert is_english(words)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "Der Hund, der die Katze jagte, lief in den Garten und bellte.",
        "Le thé de la maison est à la menthe, et il a du sucre.",
        "De man in de tuin is of was een vriend van mijn vader.",
        "ذهب الرجل إلى السوق واشترى كتابا",
        "the " + 100 * "mot ",
    ],
)
def test_other_languages_are_not(text: str) -> None:
    assert not is_english(text.split())


def test_one_word_in_a_hundred_is_enough() -> None:
    assert is_english(["The", *["x"] * 99]) and not is_english(["the", *["x"] * 100])
