"""The way from any page to an input in the attention viewer; model, mode and head go along by themselves."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from pages.shared.frame import catalogue, links

MAX_CHARACTERS = 1000  # of a text in the address
LABEL = "Open in the attention viewer"


def to_segment(number: int) -> None:
    """A link to a segment of the loaded text corpus, by its number from 0."""
    _link(LABEL, input="corpus", segment=str(number + 1))


def to_words(words: Sequence[str], label: str = LABEL) -> None:
    """A link to a sentence whose words are given, as in a treebank; what is too long for an address has none."""
    address = words_address(words)
    if address is not None:
        _link(label, **address)


def words_address(words: Sequence[str]) -> dict[str, str] | None:
    """What the viewer's address holds for a sentence whose words are given; None where it is too long."""
    text = " ".join(words)
    fits = len(text) <= MAX_CHARACTERS
    return {"input": "own text", "text": text, "given": "true", "units": "words"} if fits else None


def to_window(words: Sequence[str], position: int, side: str, document: int) -> None:
    """Go to the words of a window of a coreference document, numbered from 1, the unit that begins at a token's
    `position`, from 0, pinned on its `side`, "from" or "to"."""
    address, page = words_address(words), catalogue.page("attention_viewer")
    if address is None or page is None:
        st.toast("This window is too long for a link.")
    else:
        at = {"at": st.session_state["head"]}
        pinned = {"pin": f"{side}{position + 1}", "least": "0.0"}
        st.switch_page(page, query_params=at | address | pinned | {"document": str(document)})


def back_to_document() -> None:
    """A link to the coreference document that the input came from, if it did."""
    if document := st.query_params.get("document"):
        links.to("coreference_heads", "Back to the document", icon=":material/arrow_back:", document=document)


def _link(label: str, **address: str) -> None:
    links.to("attention_viewer", label, None, catalogue.entry("attention_viewer").icon, **address)
