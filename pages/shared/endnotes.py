"""The end of a page: how its numbers are computed, and from what, in expanders that are drawn when they are opened."""

import inspect
import re
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import streamlit as st

from bertviz_core.analyses.analysis import Analysis
from bertviz_core.analyses.results import Result, corpus_size
from pages.shared import messages
from pages.shared.frame import address, links

METHODS = Path(__file__).parents[2] / "docs" / "methods.md"
Source = Callable[..., Any] | property | Analysis


def folded(label: str, icon: str, key: str, draw: Callable[..., object], *args: Any, **kwargs: Any) -> None:
    """A closed expander that costs nothing until it is opened: only then is its content drawn."""
    box = st.expander(label, icon=icon, key=f"folded-{key}", on_change="rerun")
    if box.open:
        with box:
            draw(*args, **kwargs)


def about(formula: str, text: str, function: Source) -> None:
    """The expander that explains a page's numbers: a formula in LaTeX or "", a text in Markdown, the source of what
    computes them, and a button that opens the page's section of docs/methods.md, without a network."""

    def draw() -> None:
        if formula:
            st.latex(formula)
        st.markdown(text)
        work: Any = getattr(function, "fget", function)  # of a property
        st.code(work.source if isinstance(work, Analysis) else inspect.getsource(work), language="python")
        heading, methods = methods_section(links.entry(address.current().page))
        if st.button(f"Methods, {heading}", key="methods", icon=":material/menu_book:"):
            st.dialog(heading, width="large")(st.markdown)(methods)

    folded("About this figure", ":material/functions:", "about", draw)


@cache
def methods_section(entry: links.Entry) -> tuple[str, str]:
    """The section of docs/methods.md that has a page's name or what stands beside it in its heading, which it begins
    with: "4. Entropy (3.3; Figure 4)", and its text in Markdown. Else the whole file."""
    whole = METHODS.read_text(encoding="utf-8")
    parts = [part.partition("\n") for part in re.split(r"(?m)^## ", whole)[1:]]
    named = [part for part in parts if any(name in part[0] for name in (entry.title, entry.section))]
    return (named[0][0], named[0][2].strip()) if named else ("all sections", whole)


def ending(result: Result, formula: str, text: str, function: Source, unit: str = "segments") -> None:
    """The end of a page: `about` its numbers, the `unit`s that were skipped, and what they were computed from."""
    about(formula, text, function)
    origin = result.provenance
    changed = sum(entry["count"] for entry in origin["skipped"])
    folded(f"Skipped or modified input ({changed:,})", ":material/rule:", "skipped", _skipped, origin, unit)
    basis = f"{corpus_size(origin)}; {changed:,} skipped or modified; {origin['device']}, {origin['settings']['dtype']}"
    title = f"Where these numbers come from: {basis}"
    folded(title, ":material/fingerprint:", "provenance", st.json, origin, expanded=1)


def _skipped(origin: dict[str, Any], unit: str) -> None:
    if not origin["skipped"]:
        st.write(f"Nothing was skipped: all {origin[unit]:,} {unit} of the corpus were analyzed in full.")
    for entry in origin["skipped"]:
        where = messages.plain(", ".join(entry["where"]))
        more = ", …" if entry["count"] > len(entry["where"]) else ""
        st.markdown(f"**{entry['count']:,}** {messages.plain(entry['reason'])}: {where}{more}")
