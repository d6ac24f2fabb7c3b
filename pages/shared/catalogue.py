"""The pages: file, title, address, section of the paper. One entry makes a page appear everywhere."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import streamlit as st


@dataclass(frozen=True, slots=True)
class Entry:
    """`name` is the file's stem, the page's address and the analysis's name: one name, everywhere.

    corpus: the kind of corpus that the sidebar offers on this page.
    """

    name: str
    title: str
    icon: str
    section: str
    corpus: str = "text"


PAPER = (
    Entry("surface_patterns", "Surface patterns", ":material/grid_on:", "Section 3.1–3.2, Figure 2"),
    Entry("sep_gradients", "[SEP] gradients", ":material/trending_down:", "Section 3.2, Figure 3"),
    Entry("entropy", "Entropy", ":material/blur_on:", "Section 3.3, Figure 4"),
    Entry("dependency_heads", "Dependency heads", ":material/account_tree:", "Section 4.2, Table 1", "treebank"),
    Entry("coreference_heads", "Coreference heads", ":material/link:", "Section 4.3, Table 2", "coreference"),
    Entry("probes", "Probes", ":material/science:", "Section 5, Table 3", "treebank"),
    Entry("clustering", "Clustering", ":material/scatter_plot:", "Section 6, Figure 6"),
)


@cache
def sections() -> dict[str, list[st.Page]]:
    """The sections of the menu, with their pages."""
    pages = [
        st.Page(f"pages/{e.name}.py", title=e.title, icon=e.icon, url_path=e.name, default=e is PAPER[0]) for e in PAPER
    ]
    return {"The paper": pages}


def entry(name: str) -> Entry:
    """The entry of a page by its address; the default page's is empty."""
    return next((e for e in PAPER if e.name == name), PAPER[0])
