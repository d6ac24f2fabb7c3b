"""The pages, and the links between them, which carry the choices of the header.

A link names choices of a page, as in `to(kind_of("dependency_heads").on("det"), head=head)`. One to the
attention viewer also has the input, the words to pin, and the page with its choices to which "Back" leads.
"""

from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib import import_module
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, quote_plus, urlencode

import streamlit as st

from bertviz_core.analyses.base.analysis import Analysis
from bertviz_core.analyses.base.presentation import CorpusKind
from bertviz_core.analyses.base.registry import ANALYSES, BUILT_IN
from bertviz_core.heads import Head, link_heads
from pages.shared.messages import plain
from pages.shared.state import address, session
from pages.shared.state.choices import MAX_CHARACTERS, AttentionViewerChoices, HeadChoices, PageChoices
from pages.shared.state.kinds import kind_of

FOLDER = Path(__file__).parents[2]
ANALYSIS_PAGE = "pages.shared.views.analysis_page"
LABEL = "Open in the attention viewer"
PIN_SIDES = ("from", "to")  # of a pinned word, by the direction in which a head is read
BACK = ":material/arrow_back:"
# A page has dozens of addresses with the same parameters.
_quoted = lru_cache(1024)(quote_plus)


@dataclass(frozen=True)
class PageEntry:
    """A page. An analysis that has no file in pages/ is shown by the page that every analysis can have.

    Attributes:
        name: The stem of its file, its address and, of an analysis's page, the name of the analysis.
        title: Its title, also in the navigation.
        section: What it is about, in a few words beside the title.
        corpora: The kinds of corpora that its numbers come from.
        reads_maps: Whether its numbers change where norms stand in for attention weights.
        has_model: Whether it is about the model of the header.
        has_settings: Whether its numbers depend on the settings of the header.
        does_without: Whether it shows the rest where a corpus is missing.
    """

    name: str
    title: str
    icon: str
    section: str
    corpora: tuple[CorpusKind, ...] = ("text",)
    reads_maps: bool = True
    has_model: bool = True
    has_settings: bool = True
    does_without: bool = False


ALL_KINDS: tuple[CorpusKind, ...] = ("text", "treebank", "coreference", "pairs")
VIEWER = PageEntry("attention_viewer", "Attention viewer", ":material/hub:", "Figures 1 and 5")
DEFAULT = PageEntry(
    name="overview",
    title="Overview",
    icon=":material/dashboard:",
    section="All heads, every analysis",
    corpora=ALL_KINDS,
    does_without=True,
)
EXPLORE = (
    DEFAULT,
    PageEntry(
        name="head",
        title="Head",
        icon=":material/my_location:",
        section="All that one head does",
        corpora=ALL_KINDS,
        does_without=True,
    ),
    VIEWER,
    PageEntry(
        name="compare",
        title="Compare",
        icon=":material/compare_arrows:",
        section="Two runs side by side",
        corpora=(),
        reads_maps=False,
        has_model=False,
        has_settings=False,
    ),
    PageEntry(
        name="emergence",
        title="Emergence",
        icon=":material/timeline:",
        section="Heads during training",
        corpora=ALL_KINDS[:2],
        reads_maps=False,
        has_model=False,
    ),
    PageEntry(
        name="tour",
        title="Guided tour",
        icon=":material/tour:",
        section="The paper as slides",
        corpora=ALL_KINDS,
        reads_maps=False,
    ),
)


def _entry_of(analysis: Analysis[Any, Any]) -> PageEntry:
    reads = analysis.view.marks_named_heads or analysis.options.reads_named_heads
    naming = [each.corpus for each in ANALYSES.values() if each.names_heads and reads]
    corpora = tuple(dict.fromkeys((analysis.corpus, *naming)))
    return PageEntry(
        name=analysis.name,
        title=analysis.title,
        icon=analysis.icon,
        section=analysis.section,
        corpora=corpora,
        reads_maps=analysis.reads_maps,
    )


BY_SECTION = sorted(map(_entry_of, ANALYSES.values()), key=lambda entry: entry.section)
# With the head's numbers under their titles.
HEAD_PAGES = (VIEWER, *BY_SECTION)
ENTRIES = (*EXPLORE, *BY_SECTION)
SECTIONS: dict[str, list[PageEntry]] = {"Explore": [*EXPLORE], "The paper": [], "Beyond the paper": []}
for each in BY_SECTION:
    title = "The paper" if each.section.startswith("Section") else "Beyond the paper"
    if each.name not in BUILT_IN:
        title = "Installed analyses"
    SECTIONS.setdefault(title, []).append(each)


def entry(name: str) -> PageEntry:
    """The page of this name; the default page for any other, such as the empty one of its address."""
    return next((entry for entry in ENTRIES if entry.name == name), DEFAULT)


def page(entry: PageEntry) -> st.Page:
    """A page for Streamlit, a copy, as `st.navigation` and a page's run change it."""
    return copy(_page(entry))


@cache
def _page(entry: PageEntry) -> st.Page:
    path = FOLDER / f"{entry.name}.py"

    def show() -> None:  # The generic page is imported when it is opened, as Streamlit does with the file of a page.
        import_module(ANALYSIS_PAGE).show(entry.name)

    script = path if path.is_file() else show
    return st.Page(script, title=entry.title, icon=entry.icon, url_path=entry.name, default=entry is DEFAULT)


def to(
    page: PageChoices, label: str | None = None, icon: str | None = None, *, head: Head | None = None, model: str = ""
) -> None:
    """Draw a link to a page with these choices, by default with the page's title and icon. It may have a head and a
    model of its own."""
    query = parameters(page, head) | ({"model": model} if model else {})
    st.page_link(_page(entry(page.page_name)), label=label, icon=icon, query_params=query)


def address_of(page: PageChoices, head: Head | None = None) -> str:
    """The address of a page with these choices, relative to any page: for links in components and drawings."""
    return _address(page, head, tuple(session.shared().items()))


@lru_cache(1024)  # each run of a page draws dozens, the menu's with every one
def _address(page: PageChoices, head: Head | None, shared: tuple[tuple[str, str], ...]) -> str:
    path = "./" if page.page_name == DEFAULT.name else page.page_name
    query = urlencode(_parameters(page, head, dict(shared)), quote_via=_quoted)  # type: ignore[arg-type]
    return f"{path}?{query}" if query else path


def to_heads(text: str) -> str:
    """A text as Markdown, in which every head that it names leads to the page of that head."""

    def link(label: str) -> str:
        return f"[{plain(label)}]({address_of(HeadChoices(), Head.of_label(label))})"

    return link_heads(text, link, plain)


def parameters(page: PageChoices, head: Head | None = None) -> dict[str, str]:
    """The parameters of a link: the header's, a head of its own, and the page's."""
    return _parameters(page, head, session.shared())


def _parameters(page: PageChoices, head: Head | None, shared: dict[str, str]) -> dict[str, str]:
    own_head = {} if head is None else {"head": head.key()}
    return dict(sorted((shared | own_head | address.query(page)).items()))


def menu() -> list[dict[str, Any]]:
    """The sections of the menu with their pages, each with its address as it was left."""
    now = session.current()

    def described(entry: PageEntry) -> dict[str, str]:
        icon = entry.icon.removeprefix(":material/").removesuffix(":")
        left = now.of_page(kind_of(entry.name))
        return {"name": entry.name, "title": entry.title, "icon": icon, "href": address_of(left)}

    return [{"title": title, "pages": [*map(described, entries)]} for title, entries in SECTIONS.items()]


def to_segment(number: int, head: Head) -> None:
    """A link to a segment of the chosen text corpus in the attention viewer, by its number from 0."""
    to(AttentionViewerChoices(input="corpus", segment=number + 1, back=session.here()), LABEL, head=head)


def to_pair(number: int, query: int, key: int, head: Head) -> str:
    """The viewer's address for an input of the chosen text corpus, by its number from 0, with the query and the key
    pinned, positions from 0."""
    pinned = f"from{query + 1},to{key + 1}"
    choices = AttentionViewerChoices(input="corpus", segment=number + 1, pin=pinned, back=session.here())
    return address_of(choices, head)


def to_words(
    words: Sequence[str],
    head: Head,
    dependents: Sequence[int] = (),
    direction: int = 0,
    least: float = AttentionViewerChoices.least,
    origin: str = "",
) -> str:
    """The viewer's address for a sentence that is already split into words, as in a treebank.

    Args:
        dependents: Words, from 0, that are pinned.
        direction: The direction in which the head is read, which decides the side of the pins.
        least: The weight from which on lines are drawn.
        origin: What the viewer calls the sentence.

    Returns:
        The address; empty where it would be too long, or a word has a space in it, at which the viewer would split it.
    """
    text = " ".join(words)
    if len(text) > MAX_CHARACTERS or any(len(word.split()) != 1 for word in words):
        return ""
    pinned = ",".join(f"{PIN_SIDES[direction]}{word + 1}" for word in dependents)
    back = session.here()
    choices = AttentionViewerChoices(
        input="own text",
        text=text,
        origin=origin,
        given=True,
        units="words",
        dependents=pinned,
        back=back,
        least=least,
    )
    return address_of(choices, head)


def back(page: AttentionViewerChoices) -> None:
    """A link from the viewer to the page that the input came from, with the choices it had."""
    name, _, query = page.back.partition("?")
    if any(entry.name == name for entry in ENTRIES):
        choices, _ = address.parse(kind_of(name), dict(parse_qsl(query)))
        to(choices, f"Back to {entry(name).title}", BACK)
