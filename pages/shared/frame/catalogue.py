"""The pages: file, title, address, section of the paper. One entry makes a page appear everywhere."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path

import streamlit as st

from bertviz_core.analyses.registry import ANALYSES, BUILT_IN

FOLDER = Path(__file__).parents[2]
ANALYSIS_PAGE = "pages.shared.views.analysis_page"


@dataclass(frozen=True, slots=True)
class Entry:
    """`name` is the file's stem, the page's address and the analysis's name: one name, everywhere. An analysis that has
    no file has the page that every analysis can have.

    Attributes:
        corpus: The kind of corpus that the sidebar offers on this page.
        panel: Whether the chosen head's numbers from every analysis stand under the page's title.
        reads_maps: Whether its numbers change where norms stand in for attention weights.
    """

    name: str
    title: str
    icon: str
    section: str
    corpus: str = "text"
    panel: bool = True
    reads_maps: bool = True


EXPLORE = (
    Entry("overview", "Overview", ":material/dashboard:", "All heads, every analysis", panel=False),
    Entry("attention_viewer", "Attention viewer", ":material/hub:", "Figures 1 and 5"),
    Entry("compare", "Compare", ":material/compare_arrows:", "Two runs side by side", panel=False, reads_maps=False),
    Entry("emergence", "Emergence", ":material/timeline:", "Heads during training", panel=False, reads_maps=False),
    Entry("tour", "Guided tour", ":material/tour:", "The paper in short steps", panel=False, reads_maps=False),
)
ANALYSES_PAGES = tuple(
    Entry(
        analysis.name,
        analysis.title,
        analysis.icon,
        analysis.section,
        analysis.corpus,
        reads_maps=analysis.reads_maps,
    )
    for analysis in sorted(ANALYSES.values(), key=lambda analysis: analysis.section)
)
BUILT_IN_PAGES = tuple(entry for entry in ANALYSES_PAGES if entry.name in BUILT_IN)
SECTIONS = {
    "Explore": EXPLORE,
    "The paper": tuple(entry for entry in BUILT_IN_PAGES if entry.section.startswith("Section")),
    "Beyond the paper": tuple(entry for entry in BUILT_IN_PAGES if not entry.section.startswith("Section")),
    "Installed analyses": tuple(entry for entry in ANALYSES_PAGES if entry.name not in BUILT_IN),
}
ENTRIES = (*EXPLORE, *ANALYSES_PAGES)
DEFAULT = EXPLORE[0]


def sections() -> dict[str, list[st.Page]]:
    """The sections of the menu, with their pages: made again for each run, whose Streamlit writes in them."""
    return {name: [_page(entry) for entry in entries] for name, entries in SECTIONS.items() if entries}


def entry(name: str) -> Entry:
    """The entry of a page by its address; the default page's is empty."""
    return next((e for e in ENTRIES if e.name == name), DEFAULT)


def page(name: str) -> st.Page | None:
    """The page of that name, where there is one."""
    return next((_page(entry) for entry in ENTRIES if entry.name == name), None)


def _page(entry: Entry) -> st.Page:
    path = FOLDER / f"{entry.name}.py"
    script = path if path.is_file() else _analysis_page(entry.name)
    return st.Page(script, title=entry.title, icon=entry.icon, url_path=entry.name, default=entry is DEFAULT)


def _analysis_page(name: str) -> Callable[[], None]:
    """The generic page of an analysis, loaded when it is opened, as Streamlit loads a page's file."""

    def show() -> None:
        import_module(ANALYSIS_PAGE).show(ANALYSES[name])

    return show
