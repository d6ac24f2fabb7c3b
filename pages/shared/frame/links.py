"""The pages, and the links between them, which carry the choices of the header. What the attention viewer has to know
of an input is in its address: the words to pin, and the page with its choices to which "Back" leads."""

from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlencode

import streamlit as st

from bertviz_core.analyses.analysis import Analysis, Kind
from bertviz_core.analyses.registry import ANALYSES, BUILT_IN
from bertviz_core.heads import Head
from pages.shared.frame import address

FOLDER = Path(__file__).parents[2]
ANALYSIS_PAGE = "pages.shared.views.analysis_page"
MAX_CHARACTERS = 1000  # of a text in the address
LABEL = "Open in the attention viewer"
SIDES = ("from", "to")  # on which a pin stands, by the direction in which a head is read
BACK = ":material/arrow_back:"


@dataclass(frozen=True)
class Entry:
    """A page that is no analysis's; an `Analysis` is the entry of its own page, the one that every analysis can have
    where it has no file. `name` is the file's stem and the page's address: one name, everywhere."""

    name: str
    title: str
    icon: str
    section: str
    corpora: tuple[Kind, ...] = ("text",)  # that its numbers come from
    reads_maps: bool = True  # whether its numbers change where norms stand in for attention weights


Page = Entry | Analysis
VIEWER = Entry("attention_viewer", "Attention viewer", ":material/hub:", "Figures 1 and 5")
EVERY: tuple[Kind, ...] = ("text", "treebank", "coreference")
DEFAULT = Entry("overview", "Overview", ":material/dashboard:", "All heads, every analysis", EVERY)
EXPLORE = (
    DEFAULT,
    VIEWER,
    Entry("compare", "Compare", ":material/compare_arrows:", "Two runs side by side", (), reads_maps=False),
    Entry("emergence", "Emergence", ":material/timeline:", "Heads during training", EVERY[:2], reads_maps=False),
    Entry("tour", "Guided tour", ":material/tour:", "The paper as slides", EVERY, reads_maps=False),
)
BY_SECTION = sorted(ANALYSES.values(), key=lambda analysis: analysis.section)
NAMES_HEADS = ("clustering",)  # by what treebank and coreference say of them
HEAD_PAGES: tuple[Page, ...] = (VIEWER, *BY_SECTION)  # pages with the chosen head's numbers under their titles
ENTRIES: tuple[Page, ...] = (*EXPLORE, *BY_SECTION)

SHIPPED = [each for each in BY_SECTION if each.name in BUILT_IN]
SECTIONS: dict[str, list[Page]] = {
    "Explore": [*EXPLORE],
    "The paper": [each for each in SHIPPED if each.section.startswith("Section")],
    "Beyond the paper": [each for each in SHIPPED if not each.section.startswith("Section")],
}
if installed := [each for each in BY_SECTION if each.name not in BUILT_IN]:
    SECTIONS["Installed analyses"] = [*installed]


def corpora(entry: Page) -> tuple[Kind, ...]:
    if isinstance(entry, Entry):
        return entry.corpora
    return EVERY if entry.name in NAMES_HEADS else (entry.corpus,)


def sections() -> dict[str, list[st.Page]]:
    """The sections of the menu, with their pages: copies, as `st.navigation` and a page's run change them."""
    return {title: [copy(_page(entry)) for entry in entries] for title, entries in SECTIONS.items()}


def entry(name: str) -> Page:
    """The entry of a page by its address; the default page's is empty."""
    return next((e for e in ENTRIES if e.name == name), DEFAULT)


@cache
def _page(entry: Page) -> st.Page:
    path = FOLDER / f"{entry.name}.py"

    def show() -> None:  # the generic page, loaded when it is opened, as Streamlit loads a page's file
        import_module(ANALYSIS_PAGE).show(entry.name)

    script = path if path.is_file() else show
    return st.Page(script, title=entry.title, icon=entry.icon, url_path=entry.name, default=entry is DEFAULT)


def to(name: str, label: str, head: Head | None = None, icon: str | None = None, /, **own: str) -> None:
    """A link to a page, at another head where one is given, with choices of its own; nothing without such a page."""
    for entry in ENTRIES:
        if entry.name == name:
            at = {} if head is None else {"head": head.label()}
            st.page_link(copy(_page(entry)), label=label, icon=icon, query_params=parameters(**at | own))


def parameters(**own: str) -> dict[str, str]:
    """The address of a page with the header's choices and its own."""
    return dict(sorted((address.texts(shared=True) | own).items()))


def menu() -> list[dict[str, Any]]:
    """The sections of the menu with their pages, each with its address, relative to any page, as it was left."""

    def described(entry: Page) -> dict[str, str]:
        query = urlencode(parameters(**address.current().visited.get(entry.name, {})))
        path = "./" if entry is DEFAULT else entry.name
        icon = entry.icon.removeprefix(":material/").removesuffix(":")
        return {"name": entry.name, "title": entry.title, "icon": icon, "href": f"{path}?{query}" if query else path}

    return [{"title": title, "pages": [*map(described, entries)]} for title, entries in SECTIONS.items()]


def to_segment(number: int) -> None:
    """A link to a segment of the loaded text corpus in the attention viewer, by its number from 0."""
    own = {"head": st.session_state["head"], "input": "corpus", "segment": str(number + 1), "back": address.here()}
    to(VIEWER.name, LABEL, None, VIEWER.icon, **own)


def to_words(words: Sequence[str], dependents: Sequence[int] = (), direction: int = 0, **more: str) -> str:
    """The viewer's address for a sentence that is already split into words, as in a treebank; empty where it is too
    long for an address, or a word has a space in it, at which the viewer would split it. The `dependents`, words from
    0, are pinned on the side of the direction in which the head is read."""
    text = " ".join(words)
    if len(text) > MAX_CHARACTERS or any(len(word.split()) != 1 for word in words):
        return ""
    own = {"input": "own text", "text": text, "given": "true", "units": "words", "back": address.here()}
    if dependents:
        own["dependents"] = ",".join(f"{SIDES[direction]}{word + 1}" for word in dependents)
    return viewer_address(own | more)


def viewer_address(own: dict[str, str]) -> str:
    """The viewer's address, relative to any page, with choices of its own. Components link to it: a link of Streamlit's
    for each sentence would be most of what a page sends."""
    return f"{VIEWER.name}?{urlencode(parameters(**{'head': st.session_state['head']} | own))}"


def back() -> None:
    """A link from the viewer to the page that the input came from, with the choices it had."""
    name, _, query = address.get("back").partition("?")
    to(name, f"Back to {entry(name).title}", None, BACK, **dict(parse_qsl(query)))
