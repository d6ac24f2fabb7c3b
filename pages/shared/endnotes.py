"""The end of a page: how its numbers are computed, and from what, in expanders that draw their content when opened."""

import inspect
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import streamlit as st

from bertviz_core.analyses.base.analysis import Analysis
from bertviz_core.analyses.base.registry import ANALYSES
from bertviz_core.analyses.base.result import Provenance, Result, corpus_size
from bertviz_core.corpora import skipped_summary
from bertviz_core.numbers import unit_name
from pages.shared import messages
from pages.shared.frame import links
from pages.shared.state import session
from pages.shared.state.selection import Selection

Computation = Callable[..., Any] | Analysis[Any, Any]
METHODS = Path(__file__).parents[2] / "docs" / "methods.md"


def folded(
    label: str,
    icon: str,
    key: str,
    draw: Callable[..., object],
    *arguments: Any,
    is_open: bool = False,
    **options: Any,
) -> None:
    """Draw an expander, closed at first unless `is_open`, and draw(*arguments, **options) in it once it is opened."""
    expander = st.expander(label, is_open, icon=icon, key=f"folded-{key}", on_change="rerun")
    if expander.open:
        with expander:
            draw(*arguments, **options)


def about(computation: Computation) -> None:
    """Draw the expander with the page's section of the methods, and the code that computes its numbers."""

    def draw() -> None:
        entry = links.entry(session.current().page)
        section = methods_section(entry)
        if section:
            st.markdown(section)
        else:
            analysis = ANALYSES[entry.name]
            if analysis.formula:
                st.latex(analysis.formula)
            st.markdown(messages.plain(analysis.summary))
        code = computation.source if isinstance(computation, Analysis) else inspect.getsource(computation)
        st.code(code, language="python")

    folded("About this figure", ":material/functions:", "about", draw)


def methods_section(entry: links.PageEntry) -> str:
    """The section of docs/methods.md whose heading names a page; "" for the page of an installed analysis."""
    for section in re.split(r"(?m)^## ", METHODS.read_text(encoding="utf-8"))[1:]:
        heading = section.partition("\n")[0]
        if entry.title in heading or (entry.section and entry.section in heading):
            return f"#### {section.strip()}"
    return ""


def ending(result: Result, computation: Computation, unit: str = "segments") -> None:
    """Draw the end of a page: `about` its numbers, the skipped `unit`s, and what the numbers were computed from."""
    about(computation)
    origin = result.provenance
    for notice in origin.get("notices", ()):
        st.caption(f":material/info: {messages.plain(notice)}")
    summary = skipped_summary(origin["skipped"]) or "nothing"
    folded(f"Skipped or changed: {summary}", ":material/rule:", "skipped", _skipped, origin, unit)
    basis = f"{corpus_size(origin)}; {origin['device']}, {origin['settings']['dtype']}"
    title = f"Where these numbers come from: {basis}"
    folded(title, ":material/fingerprint:", "provenance", st.json, origin, expanded=1)


def sources(selection: Selection) -> None:
    """Draw what the figures of the page are drawn from, once for all of them; a slide alone says nothing of it."""
    if selection.basis.caption:
        st.caption(f"Source: {messages.plain(selection.basis.caption)}.")


def _skipped(origin: Provenance, unit: str) -> None:
    if not origin["skipped"]:
        st.write(f"Nothing was skipped: all {origin[unit]:,} {unit_name(unit)} that were read were analyzed in full.")
    if limit := origin["settings"].get("limit"):
        st.caption(f"At most {limit:,} inputs were read.")
    for entry in origin["skipped"]:
        where = messages.plain(", ".join(entry["where"]))
        more = ", …" if entry["count"] > len(entry["where"]) else ""
        st.markdown(f"**{entry['count']:,}** {messages.plain(entry['reason'])}: {where}{more}")
