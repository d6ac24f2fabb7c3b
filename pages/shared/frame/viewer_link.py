"""The way from any page to an input in the attention viewer; model, mode and head go along by themselves."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from bertviz_core.heads import Head
from pages.shared.frame import address, catalogue, links

MAX_CHARACTERS = 1000  # of a text in the address
LABEL = "Open in the attention viewer"


def to_segment(number: int) -> None:
    """A link to a segment of the loaded text corpus, by its number from 0."""
    _link(LABEL, input="corpus", segment=str(number + 1))


def to_words(words: Sequence[str], label: str = LABEL) -> None:
    """A link to a sentence whose words are given, as in a treebank; what is too long for an address has none."""
    own = words_address(words)
    if own is not None:
        _link(label, **own)


def words_address(words: Sequence[str]) -> dict[str, str] | None:
    """What the viewer's address holds for a sentence whose words are given; None where it is too long."""
    text = " ".join(words)
    fits = len(text) <= MAX_CHARACTERS
    return {"input": "own text", "text": text, "given": "true", "units": "words"} if fits else None


def to_window(window: Sequence[str], position: int, side: str, document: int) -> None:
    """Go to the words of a window of a coreference document, numbered from 1, the unit that begins at a token's
    `position`, from 0, pinned on its `side`, "from" or "to"."""
    words, page = words_address(window), catalogue.page("attention_viewer")
    if words is None or page is None:
        st.toast("This window is too long for a link.")
    else:
        pinned = {"pin": f"{side}{position + 1}", "least": "0", "document": str(document)}
        head = Head.parse(st.session_state["head"])
        st.switch_page(page, query_params=links.parameters("attention_viewer", head, **words, **pinned))


def back_to_document() -> None:
    """A link to the coreference document that the input came from, if it did."""
    if document := address.get("document"):
        links.back("coreference_heads", "Back to the document", document=document)


def _link(label: str, **own: str) -> None:
    head = Head.parse(st.session_state["head"])
    links.to("attention_viewer", label, head, catalogue.entry("attention_viewer").icon, **own)
