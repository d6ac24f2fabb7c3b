"""The page of an analysis: all of it follows from the analysis's own columns, but for the parts that a file in pages/
adds."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from bertviz_core.analyses.analysis import Analysis
from bertviz_core.analyses.head_averages import HeadAverages, HeadColumn
from bertviz_core.analyses.registry import EXAMPLES
from bertviz_core.analyses.request import Request
from bertviz_core.analyses.results import Result, head_frame
from bertviz_core.heads import highest, ranks
from bertviz_core.plotting.drawing import FigureSpec
from bertviz_core.plotting.head_map import HeadMap
from pages.shared import endnotes, page, services, stored
from pages.shared.frame import header
from pages.shared.frame.selection import Selection
from pages.shared.memoize import memoize
from pages.shared.messages import plain
from pages.shared.views import findings_view, head_view


def _column_map(result: Result, column: HeadColumn, base: int) -> HeadMap:
    return column.map(result, base)


@dataclass(frozen=True)
class Parts:
    """The parts of a page beyond its analysis's columns; each is drawn or computed for a result and selection.

    Attributes:
        heads: Draws a threshold for the shown column; the heads beyond it, and what they do.
        numbers: The key numbers, as `page.metrics` takes them.
        figure: The paper's figure.
        below: Draws what follows the key numbers.
        after: Draws what follows the table of all heads.
        text: What "About" says, in Markdown.
        section: Section of docs/methods.md.
        request: Draws the options of the analysis; the request with them.
        squares: The map of the chosen column.
    """

    heads: Callable[[Any, HeadColumn, Selection], tuple[list[str], str]] | None = None
    numbers: Callable[[Any, Selection], list[tuple[str, str, str]]] | None = None
    figure: Callable[[Any, Selection], FigureSpec] | None = None
    below: Callable[[Any, Selection], None] = lambda result, selection: None
    after: Callable[[Any, Selection], None] = lambda result, selection: None
    text: str = ""
    section: int | None = None
    request: Callable[[Selection], Request] | None = None
    squares: Callable[[Any, HeadColumn, int], HeadMap] = _column_map


def show(analysis: Analysis, parts: Parts = Parts()) -> None:
    """Finding, figure, map, chosen head, top segments, table, downloads, About and provenance."""
    selection = header.current()
    line = st.container(horizontal=True, vertical_alignment="bottom", key="page-controls")
    with line:
        request = parts.request(selection) if parts.request else selection.request(analysis.name)
    if services.find(request) is None:
        st.markdown(plain(analysis.summary))
    result = stored.result_or_stop(request, analysis.result_class)
    values = {column: read for column in analysis.columns if (read := column.read(result)) is not None}
    if values:
        with line:
            chosen = head_view.choose(analysis, result)
            beyond = parts.heads(result, chosen, selection) if parts.heads else None
        _heads(analysis, result, values, selection, parts, chosen, beyond)
    elif analysis.main_figure:
        page.chart(page.drawn(analysis.main_figure, result), f"{analysis.name}-figure", analysis.title)
    parts.after(result, selection)
    page.downloads(result)
    unit = EXAMPLES[analysis.corpus].unit
    text = parts.text or plain(analysis.summary)
    endnotes.ending(result, analysis.formula, text, analysis, parts.section, unit)


def _heads(
    analysis: Analysis, result: Result, values: dict[HeadColumn, np.ndarray], selection: Selection, parts: Parts,
    chosen: HeadColumn, beyond: tuple[list[str], str] | None,
) -> None:  # fmt: skip
    """Draw the columns for all heads, and for the chosen one."""
    findings_view.headline(analysis.column_finding(chosen, result, selection.base))
    if isinstance(result, HeadAverages) and result.absence:
        st.caption(plain(result.absence))
    numbers = parts.numbers or (lambda result, selection: _key_numbers(chosen, result, values[chosen], selection))
    entries = numbers(result, selection)
    with _pictures(analysis, result, chosen, selection, parts):
        head_view.numbers(analysis, result, selection, chosen)
    page.metrics(entries)
    if beyond:
        head_view.named(*beyond)
    parts.below(result, selection)
    if isinstance(result, HeadAverages) and result.texts and chosen.quantity in result.present:
        head_view.examples(result, selection, chosen)
    st.header("All heads")
    titles = {column.quantity: column.short for column in values}
    page.table(memoize(_all_heads, analysis, result), [*titles], selection, f"{analysis.name}-table", titles=titles)


def _all_heads(analysis: Analysis, result: Result) -> pd.DataFrame:
    read = {column.quantity: column.read(result) for column in analysis.columns}
    return head_frame({quantity: values for quantity, values in read.items() if values is not None})


def _pictures(
    analysis: Analysis, result: Result, chosen: HeadColumn, selection: Selection, parts: Parts
) -> DeltaGenerator:
    """The figure, where there is one, and the map of the chosen column; the room for the chosen head's numbers."""
    squares, name = memoize(parts.squares, result, chosen, selection.base), analysis.name
    if own := analysis.main_figure:
        build = parts.figure or (lambda result, selection: page.drawn(own, result, selection.base))
        drawing = build(result, selection)
        return head_view.figure_and_map(drawing, analysis.summary, squares, chosen.label, name, selection)
    left, right = st.columns([3, 2], gap="medium")
    with left:
        st.markdown(f"**Head map**: {plain(chosen.label)}")
        alt = f"Map of all heads, layer by head, colored by {chosen.label}"
        page.head_map(squares, f"{name}-map", alt, selection)
    return right


def _key_numbers(
    column: HeadColumn, result: Result, values: np.ndarray, selection: Selection
) -> list[tuple[str, str, str]]:
    """(label, value, beside it) of the highest head, the highest layer, all heads and the chosen head."""
    head, at = highest(values), selection.head
    value = column.text(values[head])
    baseline, name = column.baseline(result) if column.baseline else (np.nan, "")
    means = np.nanmean(values, axis=1)
    layer = int(means.argmax())
    return [
        ("Highest head", head.label(selection.base), f"{value}, of {values.size} heads"),
        ("Highest layer", str(layer + selection.base), f"mean of its heads: {column.text(means[layer])}"),
        ("Mean over heads", column.text(np.nanmean(values)), f"{name}: {column.text(baseline)}" if name else ""),
        (f"Head {selection.label}", column.text(values[at]), f"rank {ranks(values)[at]} of {values.size}"),
    ]
