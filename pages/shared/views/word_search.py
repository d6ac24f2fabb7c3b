"""Sentences of a list by a word or words that stand in them one after the other."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from pages.shared.frame import address

MAX_LETTERS = 60


def wanted(key: str) -> list[str]:
    """The words that the reader searches for, lower case; none where nothing is searched."""
    help_text = "A word, or several that stand one after the other. * stands for any ending."
    given = address.text(st.text_input, "Search", key=key, default="", max_chars=MAX_LETTERS, help=help_text, width=180)
    return given.casefold().split()


def has(words: Sequence[str], searched: Sequence[str]) -> bool:
    """Whether a sentence has the searched words one after the other; a searched word may end in `*`."""
    lower = [word.casefold() for word in words]
    starts = range(len(lower) - len(searched) + 1)
    return any(all(_is(lower[at + i], word) for i, word in enumerate(searched)) for at in starts)


def _is(word: str, searched: str) -> bool:
    return word.startswith(searched[:-1]) if searched.endswith("*") else word == searched
