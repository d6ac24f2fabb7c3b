"""Links between pages. The choices of the header go along; the page's own are given, or those of its last visit.

What the attention viewer has to know of an input's origin is in the address: the gold tree of a sentence, the words to
pin, and the page with its choices to which "Back" leads.
"""

from collections.abc import Sequence
from typing import Any
from urllib.parse import parse_qsl, urlencode

import streamlit as st

from bertviz_core.heads import Head
from pages.shared.frame import address, catalogue

VIEWER = "attention_viewer"
MAX_CHARACTERS = 1000  # of a text in the address
LABEL = "Open in the attention viewer"
SIDES = ("from", "to")  # on which a pin stands, by the direction in which a head is read
BACK = ":material/arrow_back:"


def to(name: str, label: str, head: Head | None = None, icon: str | None = None, /, **own: str) -> None:
    """A link to a page, at another head where one is given, with the page's own choices as its address has them;
    nothing where there is no such page."""
    page = catalogue.page(name)
    if page is not None:
        st.page_link(page, label=label, icon=icon, query_params=parameters(head, **own))


def parameters(head: Head | None = None, /, **own: str) -> dict[str, str]:
    """The address of a page with the header's choices, at another head where one is given, and its own choices."""
    at = {} if head is None else {"head": head.label()}
    return dict(sorted((address.common() | at | own).items()))


def menu() -> list[dict[str, Any]]:
    """The sections of the menu with their pages, each with its address, relative to any page, as it was left."""
    return [
        {"title": title, "pages": [_entry(each) for each in entries]}
        for title, entries in catalogue.SECTIONS.items()
        if entries
    ]


def _entry(entry: catalogue.Page) -> dict[str, str]:
    query = urlencode(parameters(**address.current().visited.get(entry.name, {})))
    path = "./" if entry is catalogue.DEFAULT else entry.name
    icon = entry.icon.removeprefix(":material/").removesuffix(":")
    return {"name": entry.name, "title": entry.title, "icon": icon, "href": f"{path}?{query}" if query else path}


def to_segment(number: int) -> None:
    """A link to a segment of the loaded text corpus in the attention viewer, by its number from 0."""
    icon = catalogue.entry(VIEWER).icon
    to(VIEWER, LABEL, _head(), icon, input="corpus", segment=str(number + 1), back=address.here())


def to_words(words: Sequence[str], **more: str) -> dict[str, str] | None:
    """The viewer's address for a sentence that is already split into words, as in a treebank; None where it is too long
    for an address, or a word has a space in it, at which the viewer would split it."""
    text = " ".join(words)
    own = {"input": "own text", "text": text, "given": "true", "units": "words", "back": address.here(), **more}
    whole = all(len(word.split()) == 1 for word in words)
    return own if whole and len(text) <= MAX_CHARACTERS else None


def to_tree(
    sentence: dict[str, Any], dependents: Sequence[int] = (), direction: int = 0, head: Head | None = None
) -> dict[str, str] | None:
    """The viewer's address for a sentence of a treebank with its gold tree; None as in `to_words`.

    Args:
        sentence: With its words, governors and relations.
        dependents: Words, from 0, that are pinned.
        direction: In which a head is read; it decides the side of the pins.
        head: The head to look at, where it is not the chosen one.
    """
    rows = zip(sentence["governors"], sentence["relations"], strict=True)
    more = {"gold": " ".join(f"{governor}-{relation}" for governor, relation in rows)}
    if head is not None:
        more["head"] = head.label()
    if dependents:
        more["dependents"] = ",".join(f"{SIDES[direction]}{word + 1}" for word in dependents)
    return to_words(sentence["words"], **more)


def addresses(targets: Sequence[dict[str, str] | None]) -> list[str]:
    """The viewer's addresses, relative to any page, of what `to_words` or `to_tree` gave; empty where there is none.

    Components link to them: a link of Streamlit's for each would be most of what a page sends.
    """
    return ["" if own is None else f"{VIEWER}?{urlencode(parameters(_head(), **own))}" for own in targets]


def back() -> None:
    """A link from the viewer to the page that the input came from, with the choices it had."""
    name, _, query = address.get("back").partition("?")
    if name in (entry.name for entry in catalogue.ENTRIES):
        to(name, f"Back to {catalogue.entry(name).title}", None, BACK, **dict(parse_qsl(query)))


def forget() -> None:
    """Remove origin, gold tree and pins from the address, in a callback, when another text is chosen."""
    for key in ("back", "gold", "dependents"):
        address.put(key, "")


def _head() -> Head:
    return Head.parse(st.session_state["head"])
