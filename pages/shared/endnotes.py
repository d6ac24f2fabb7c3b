"""The end of a page: how its numbers are computed, and from what, in expanders that draw their content when opened."""

import inspect
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import streamlit as st

from bertviz_core.analyses.analysis import Analysis
from bertviz_core.analyses.results import Result, corpus_size
from pages.shared import messages
from pages.shared.frame import address, links

Computation = Callable[..., Any] | Analysis
METHODS = Path(__file__).parents[2] / "docs" / "methods.md"


def folded(label: str, icon: str, key: str, draw: Callable[..., object], *arguments: Any, **options: Any) -> None:
    """Draw a closed expander, and draw(*arguments, **options) in it once it is opened."""
    expander = st.expander(label, icon=icon, key=f"folded-{key}", on_change="rerun")
    if expander.open:
        with expander:
            draw(*arguments, **options)


def about(formula: str, text: str, computation: Computation) -> None:
    """Draw the expander with a formula in LaTeX or "", a text in Markdown, the code, and the section of the methods."""

    def draw() -> None:
        if formula:
            st.latex(formula)
        st.markdown(text)
        code = computation.source if isinstance(computation, Analysis) else inspect.getsource(computation)
        st.code(code, language="python")
        heading, methods = methods_section(links.entry(address.current().page))
        if st.button(f"Methods, {heading}", key="methods", icon=":material/menu_book:"):
            st.dialog(heading, width="large")(st.markdown)(methods)

    folded("About this figure", ":material/functions:", "about", draw)


def methods_section(entry: links.Entry) -> tuple[str, str]:
    """Heading and text of the section of docs/methods.md whose heading names a page, else of the whole file."""
    whole = METHODS.read_text(encoding="utf-8")
    for part in re.split(r"(?m)^## ", whole)[1:]:
        heading, _, text = part.partition("\n")
        if entry.title in heading or entry.section in heading:
            return heading, text.strip()
    return "all sections", whole


def ending(result: Result, formula: str, text: str, computation: Computation, unit: str = "segments") -> None:
    """Draw the end of a page: `about` its numbers, the skipped `unit`s, and what the numbers were computed from."""
    about(formula, text, computation)
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
