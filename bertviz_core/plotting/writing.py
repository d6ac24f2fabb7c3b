"""How text is written: from right to left or not, how wide, and kept apart from the text around it."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable

LEFT_TO_RIGHT, RIGHT_TO_LEFT = ("L",), ("R", "AL")  # Unicode's classes of letters with a direction
TAKES_NO_ROOM = ("Mn", "Me", "Cf")  # Unicode's categories of marks on letters, and of what is not seen


def right_to_left(words: Iterable[str]) -> bool:
    """Whether most letters with a direction are of a writing like Arabic or Hebrew."""
    classes = [unicodedata.bidirectional(letter) for word in words for letter in word]
    return sum(map(RIGHT_TO_LEFT.__contains__, classes)) > sum(map(LEFT_TO_RIGHT.__contains__, classes))


def columns(text: str) -> int:
    """How many columns of a monospaced letter it takes: two for a wide letter, as in Chinese, none for a mark."""
    letters = (letter for letter in text if unicodedata.category(letter) not in TAKES_NO_ROOM)
    return sum(2 if unicodedata.east_asian_width(letter) in "WF" else 1 for letter in letters)


def isolated(text: str) -> str:
    """The text; where letters in it run from right to left, between Unicode's marks that keep the numbers and quotes
    around it in their places."""
    runs = any(unicodedata.bidirectional(letter) in RIGHT_TO_LEFT for letter in text)
    return f"\u2068{text}\u2069" if runs else text
