"""The way from any page to an input in the attention viewer; model, mode and head go along by themselves."""

from __future__ import annotations

from collections.abc import Sequence

from pages.shared import catalogue, links
from pages.shared.input_choice import MOST_CHARACTERS

LABEL = "Open in the attention viewer"


def to_segment(number: int) -> None:
    """A link to a segment of the loaded text corpus, by its number from 0."""
    _link(LABEL, input="corpus", segment=str(number + 1))


def to_words(words: Sequence[str], label: str = LABEL) -> None:
    """A link to a sentence whose words are given, as in a treebank; what is too long for an address has none."""
    text = " ".join(words)
    if len(text) <= MOST_CHARACTERS:
        _link(label, input="own text", text=text, given="true", units="words")


def _link(label: str, **address: str) -> None:
    links.to("attention_viewer", label, icon=catalogue.entry("attention_viewer").icon, **address)
