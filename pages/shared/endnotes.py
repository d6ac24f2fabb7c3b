"""The end of a page: how its numbers are computed, and from what, in expanders that are drawn when they are opened."""

import inspect
from collections.abc import Callable
from pathlib import Path
from typing import Any

import streamlit as st

from bertviz_core.analyses.analysis import Analysis
from bertviz_core.analyses.results import Result, corpus_size
from pages.shared import messages

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
    computes them, and docs/methods.md, without a network."""

    def draw() -> None:
        if formula:
            st.latex(formula)
        st.markdown(text)
        work: Any = getattr(function, "fget", function)  # of a property
        st.code(work.source if isinstance(work, Analysis) else inspect.getsource(work), language="python")
        if st.button("Methods", key="methods", icon=":material/menu_book:"):
            st.dialog("Methods", width="large")(st.markdown)(METHODS.read_text(encoding="utf-8"))

    folded("About this figure", ":material/functions:", "about", draw)


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
