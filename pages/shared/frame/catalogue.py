"""The pages: file, title, address, section of the paper. One entry makes a page appear everywhere."""

from collections.abc import Callable
from copy import copy
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from pathlib import Path

import streamlit as st

from bertviz_core.analyses.analysis import Analysis, Kind
from bertviz_core.analyses.registry import ANALYSES, BUILT_IN

FOLDER = Path(__file__).parents[2]
ANALYSIS_PAGE = "pages.shared.views.analysis_page"


@dataclass(frozen=True)
class Entry:
    """A page that is no analysis's; an `Analysis` is the entry of its own page, the one that every analysis can have
    where it has no file. `name` is the file's stem and the page's address: one name, everywhere.

    Attributes:
        corpora: The kinds of corpora that its numbers come from.
        reads_maps: Whether its numbers change where norms stand in for attention weights.
    """

    name: str
    title: str
    icon: str
    section: str
    corpora: tuple[Kind, ...] = ("text",)
    reads_maps: bool = True


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


def corpora(entry: Page) -> tuple[Kind, ...]:
    """The kinds of corpora that the numbers of a page come from."""
    if isinstance(entry, Entry):
        return entry.corpora
    return EVERY if entry.name in NAMES_HEADS else (entry.corpus,)


def _section(entry: Page) -> str:
    """The section of the menu in which a page stands."""
    if isinstance(entry, Entry):
        return "Explore"
    if entry.name not in BUILT_IN:
        return "Installed analyses"
    return "The paper" if entry.section.startswith("Section") else "Beyond the paper"


MENU = ("Explore", "The paper", "Beyond the paper", "Installed analyses")
SECTIONS = {name: [entry for entry in ENTRIES if _section(entry) == name] for name in MENU}


def sections() -> dict[str, list[st.Page]]:
    """The sections of the menu, with their pages: copies for each run."""
    return {name: [_page(entry) for entry in entries] for name, entries in SECTIONS.items() if entries}


def entry(name: str) -> Page:
    """The entry of a page by its address; the default page's is empty."""
    return next((e for e in ENTRIES if e.name == name), DEFAULT)


def page(name: str) -> st.Page | None:
    """The page of that name, where there is one."""
    return next((_page(entry) for entry in ENTRIES if entry.name == name), None)


def _page(entry: Page) -> st.Page:
    """A copy, as `st.navigation` and the page's run change it."""
    return copy(_prototype(entry))


@cache
def _prototype(entry: Page) -> st.Page:
    path = FOLDER / f"{entry.name}.py"
    script = path if path.is_file() else _analysis_page(entry.name)
    return st.Page(script, title=entry.title, icon=entry.icon, url_path=entry.name, default=entry is DEFAULT)


def _analysis_page(name: str) -> Callable[[], None]:
    """The generic page of an analysis, loaded when it is opened, as Streamlit loads a page's file."""

    def show() -> None:
        import_module(ANALYSIS_PAGE).show(ANALYSES[name])

    return show
