"""Fixed offsets in words."""

import pytest

from bertviz_core.analyses.dependency_heads.guesses import offset_words


@pytest.mark.parametrize(
    ("offset", "words"), [(-2, "2 words to the left"), (1, "1 word to the right"), (0, "the word itself")]
)
def test_an_offset_is_told_in_words(offset: int, words: str) -> None:
    assert offset_words(offset) == words
