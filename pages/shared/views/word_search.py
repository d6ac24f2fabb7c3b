"""Sentences of a list by a word or words that stand in them one after the other."""

from __future__ import annotations

from bertviz_core.corpora.word_search import searched_words
from pages.shared.frame import choices

MAX_LETTERS = 60


def words(key: str) -> list[str]:
    """The words that the reader searches for, lower case; none where nothing is searched."""
    return searched_words(text(key))


def text(key: str) -> str:
    """The box of the search; returns its text as the reader typed it."""
    help_text = "A word, or several that stand one after the other. * stands for any ending."
    return choices.text("Search", key=key, default="", max_chars=MAX_LETTERS, help=help_text, width=180)
