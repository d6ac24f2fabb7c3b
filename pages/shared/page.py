"""The parts of every page of the paper: metrics, figures, map, table, downloads, ending."""

import inspect
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

import pandas as pd
import plotly.graph_objects as go
import streamlit as st
from plotly.basedatatypes import BaseFigure
from streamlit.delta_generator import DeltaGenerator

from bertviz_core import exports
from bertviz_core.analyses.results import Result, corpus_size
from bertviz_core.heads import Head
from bertviz_core.overview.head_card import HeadCard
from bertviz_core.plotting.drawing import FigureSpec
from bertviz_core.plotting.head_map import HeadMap
from pages.shared import files, messages, preview
from pages.shared.components import component
from pages.shared.frame import address
from pages.shared.frame.selection import Selection
from pages.shared.memoize import memoize

METHODS = Path(__file__).parents[2] / "docs" / "methods.md"


def controls() -> tuple[DeltaGenerator, DeltaGenerator]:
    """One line of choices between a page's title and its claim, so that the pictures below are in sight.

    Returns:
        Two parts, to be filled in any order: choices made often, and those behind the button at the end of the line.
    """
    line = st.container(horizontal=True, vertical_alignment="bottom", key="page-controls")
    often = line.container(horizontal=True, vertical_alignment="bottom")
    return often, line.popover("Options", icon=":material/tune:")


def metrics(entries: Sequence[tuple[str, str, str]]) -> None:
    """(label, this run, paper) side by side."""
    for column, (label, here, paper) in zip(st.columns(len(entries)), entries, strict=True):
        column.metric(label, here, paper, delta_color="off", delta_arrow="off", border=True, height="stretch")


class Checked(BaseFigure):
    """A figure that was checked when its drawing was made: Streamlit would have plotly check a plain dict again."""

    def __init__(self, spec: dict[str, Any]) -> None:
        self._spec = spec

    def to_dict(self) -> dict[str, Any]:
        return self._spec


def drawn(build: Callable[..., go.Figure], *arguments: Any, **options: Any) -> FigureSpec:
    """The drawing of build(*arguments, **options), made once for all sessions; see `memoize` for the arguments."""
    return memoize(_drawing, build, arguments, tuple(options.items()))


def _drawing(build: Callable[..., go.Figure], arguments: tuple[Any, ...], options: tuple[Any, ...]) -> FigureSpec:
    return FigureSpec.of(build(*arguments, **dict(options)))


def chart(
    figure: go.Figure | FigureSpec, key: str, alt: str, *, clickable: bool = True, head: Head | None = None,
    shapes: Sequence[dict[str, Any]] = (),
) -> None:  # fmt: skip
    """A figure whose clicks choose a head; the camera above it saves SVG.

    Args:
        figure: What is drawn.
        key: Key of the element.
        alt: What the figure shows, for those who cannot see it.
        clickable: Whether clicks count.
        head: The head to ring.
        shapes: More shapes of the layout.
    """
    options: dict[str, Any] = {"on_select": lambda: _clicked(key), "selection_mode": "points"} if clickable else {}
    drawing = figure if isinstance(figure, FigureSpec) else FigureSpec.of(figure)
    spec = drawing.spec(head, st.session_state.get("origin", ""), shapes)
    # Wide enough for every legend, at any width of the window.
    picture = {"format": "svg", "filename": files.picture_name(key), "width": 1000, "height": spec["layout"]["height"]}
    config = {"displaylogo": False, "toImageButtonOptions": picture}
    st.plotly_chart(Checked(spec), key=key, alt=alt, config=config, **options)


def head_map(
    described: HeadMap,
    key: str,
    alt: str,
    selection: Selection,
    *,
    cards: Sequence[HeadCard] = (),
    link: str = "",
    own: bool = True,
) -> None:
    """The map of heads with the chosen head ringed, where it has that head; a click, Enter or Space chooses one.

    Args:
        described: What is drawn.
        key: Key of the element.
        alt: What the map shows, for those who cannot see it.
        selection: The chosen head and model.
        cards: What stands beside the map of the head that is pointed at or chosen; nothing without.
        link: From the cards into the attention viewer, as `links.hidden` gives it.
        own: Whether the heads are those of the chosen model on no input of its own: pointing at one previews it.
    """
    origin, name = st.session_state.get("origin", ""), files.picture_name(key)
    data = {"chosen": selection.head.label(), "alt": alt, "origin": origin, "name": name, "key": key}
    data |= {
        "preview": preview.of(selection) if own else None,
        "cards": [asdict(card) for card in cards] or None,
        "link": link,
    }
    component("head_map")(data=described.to_json() | data, key=key, on_head_change=lambda: _head_clicked(key))


def _head_clicked(key: str) -> None:
    if head := st.session_state[key].get("head"):
        address.choose(head=head)


def _clicked(key: str) -> None:
    """A redrawn figure reports an empty selection: only a point counts."""
    points = st.session_state[key]["selection"]["points"]
    if points and points[0].get("customdata"):
        address.choose(head=points[0]["customdata"][0])


def table(
    result: Result | None, columns: Sequence[str], selection: Selection, key: str, frame: pd.DataFrame | None = None,
    decimals: Mapping[str, int] | None = None,
) -> None:  # fmt: skip
    """All heads, sortable; a click on a row chooses the head. `frame` where the result's own has no row a head;
    `decimals` where some columns want their own."""
    if frame is None:
        assert result is not None, "there is a result or a frame"
        frame = result.to_frame()
    frame = frame[["label", "layer", "head", *columns]].copy()
    frame["layer"] += selection.base - 1
    frame["head"] += selection.base - 1
    shown = frame.drop(columns="label")
    numbers = [name for name in columns if shown[name].dtype.kind == "f"]
    digits = {name: "%.3f" if shown[name].max() >= 0.1 else "%.3g" for name in numbers}
    digits |= {name: f"%.{count}f" for name, count in (decimals or {}).items()}
    formats = {name: st.column_config.NumberColumn(name.replace("_", " "), format=digits[name]) for name in numbers}
    labels = list(frame["label"])
    st.dataframe(
        shown,
        key=key,
        hide_index=True,
        on_select=lambda: _row_clicked(key, labels),
        selection_mode="single-row",
        column_config=formats,
        height=320,
        alt="A row for each head, with every quantity",
    )


def _row_clicked(key: str, labels: list[str]) -> None:
    rows = st.session_state[key]["selection"]["rows"]
    if rows:
        address.choose(head=labels[rows[0]])


def downloads(result: Result) -> None:
    """Buttons that save the bytes that the command line writes, built on click; a figure's camera saves SVG."""
    builders = {suffix: build for suffix, build in exports.builders(result).items() if suffix != ".svg"}
    files.offer({files.label(suffix): (exports.file_name(result, suffix), build) for suffix, build in builders.items()})


def about(
    formula: str, text: str, function: Callable[..., Any] | property | ModuleType | str, section: int | None = None
) -> None:
    """The expander that explains a page's numbers.

    Args:
        formula: LaTeX, or empty.
        text: Markdown.
        function: What computes the numbers, whose source is shown, or that source.
        section: Number of the section of docs/methods.md that a button opens: it needs no network.
    """
    source: Any = function.fget if isinstance(function, property) else function
    with st.expander("About this figure", icon=":material/functions:"):
        if formula:
            st.latex(formula)
        st.markdown(text)
        if section is not None:
            heading, methods = methods_section(section)
            if st.button(f"Methods, section {heading}", key="methods", icon=":material/menu_book:"):
                st.dialog(f"Methods, section {heading}", width="large")(st.markdown)(methods)
        st.code(source if isinstance(source, str) else inspect.getsource(source), language="python")


@cache
def methods_section(number: int) -> tuple[str, str]:
    """The heading of a section of docs/methods.md, as "4. Entropy", and its text in Markdown; raises LookupError."""
    for part in re.split(r"(?m)^## ", METHODS.read_text(encoding="utf-8"))[1:]:
        heading, _, text = part.partition("\n")
        if heading.startswith(f"{number}. "):
            return heading, text.strip()
    raise LookupError(f"{METHODS.name} has no section {number}")


def ending(
    result: Result, formula: str, text: str, function: Callable[..., Any] | property | ModuleType | str,
    section: int | None = None, unit: str = "segments",
) -> None:  # fmt: skip
    """The end of a page: `about` its numbers, what was left out or changed of the corpus, counted in `unit`, what the
    numbers were computed from and with, and how to cite the paper."""
    about(formula, text, function, section)
    origin = result.provenance
    changed = sum(entry["count"] for entry in origin["skipped"])
    with st.expander(f"Skipped or modified input ({changed:,})", icon=":material/rule:"):
        if not changed:
            st.write(f"Nothing was skipped: all {origin[unit]:,} {unit} of the corpus were analyzed in full.")
        for entry in origin["skipped"]:
            where, more = (
                messages.plain(", ".join(entry["where"])),
                ", …" if entry["count"] > len(entry["where"]) else "",
            )
            st.markdown(f"**{entry['count']:,}** {messages.plain(entry['reason'])}: {where}{more}")
    basis = f"{corpus_size(origin)}; {changed:,} skipped or modified; {origin['device']}, {origin['settings']['dtype']}"
    with st.expander(f"Where these numbers come from: {basis}", icon=":material/fingerprint:"):
        st.json(origin, expanded=1)
