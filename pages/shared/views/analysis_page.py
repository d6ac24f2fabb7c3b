"""The page of an analysis: all of it follows from the analysis's own columns, but for what a file in pages/ adds."""

from collections.abc import Callable
from typing import Any

import numpy as np
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from bertviz_core.analyses.analysis import Analysis
from bertviz_core.analyses.head_averages import HeadAverages, HeadColumn
from bertviz_core.analyses.registry import EXAMPLES
from bertviz_core.analyses.request import Request
from bertviz_core.analyses.results import Result, head_frame
from bertviz_core.heads import all_labels, highest, ranks
from bertviz_core.numbers import number
from bertviz_core.overview import segments
from bertviz_core.plotting.drawing import HEIGHT, FigureSpec
from pages.shared import endnotes, page, services, stored
from pages.shared.frame import Selection, choices, header, links
from pages.shared.memoize import memoize
from pages.shared.messages import joined, plain
from pages.shared.page import Metric

MAX_NAMED = 10
NO_BREAK = "\u00a0"  # in a narrow table
LONG = 500  # pixels of a figure that is longer than the map beside it
Draw = Callable[[Any, Selection], None]


def show(
    analysis: Analysis,
    *,
    request: Callable[[Selection], Request] | None = None,
    beyond: Callable[[Any, HeadColumn, Selection], str] | None = None,
    numbers: Callable[[Any, Selection], list[Metric]] | None = None,
    figure: Callable[[Any, Selection], FigureSpec] | None = None,
    below: Draw | None = None,
    after: Draw | None = None,
    text: str = "",
) -> None:
    """Finding, figure, map, chosen head, top segments, table, downloads, About and provenance. A page's file may give
    `request`, which draws the options of the analysis; `beyond`, which draws a threshold and names the heads beyond it;
    key `numbers`, `figure` and `text` of its own; what is drawn `below` the key numbers and `after` the table."""
    selection = header.current()
    line = st.container(horizontal=True, vertical_alignment="bottom", key="page-controls")
    with line:
        asked = request(selection) if request else selection.request(analysis.name)
    if services.find(asked) is None:
        st.markdown(plain(analysis.summary))
    result = stored.result_or_stop(asked, analysis.result_class)
    values = values_of(analysis, result)
    if values:
        with line:
            shown = choose_column(analysis, result, list(values))
            named = beyond(result, shown, selection) if beyond else ""
        page.finding(memoize(analysis.column_finding, shown, result, selection.base), bold=True)
        if isinstance(result, HeadAverages) and result.absence:
            st.caption(plain(result.absence))
        with _pictures(analysis, result, shown, selection, figure):
            _chosen_head(result, {shown: values[shown]} | values, selection)
        page.metrics(numbers(result, selection) if numbers else _key_numbers(shown, result, values[shown], selection))
        if named:
            st.caption(named)
        if below:
            below(result, selection)
        if isinstance(result, HeadAverages) and result.texts and shown.quantity in result.present:
            _examples(result, selection, shown)
        st.header("All heads")
        titles = {column.quantity: column.short for column in values}
        frame = memoize(head_frame, {column.quantity: read for column, read in values.items()})
        page.table(frame, [*titles], selection, f"{analysis.name}-table", titles=titles)
    elif analysis.main_figure:
        drawing = page.drawn(analysis.main_figure, result)
        page.chart(drawing, f"{analysis.name}-figure", analysis.title, choose=page.choose_head)
    if after:
        after(result, selection)
    page.downloads(result)
    about = text or plain(analysis.summary)
    endnotes.ending(result, analysis.formula, about, analysis, EXAMPLES[analysis.corpus].unit)


def named_over(values: np.ndarray, threshold: float, base: int, what: str) -> str:
    """The heads whose value is over the threshold, the highest first, after a description of what they do."""
    labels = all_labels(*values.shape, base)
    order = np.argsort(-values, axis=None, kind="stable")
    over = [labels[index] for index in order[values.flat[order] > threshold]]
    more = " …" if len(over) > MAX_NAMED else ""
    return f"{plain(what)}: {', '.join(over[:MAX_NAMED]) or 'no head'}{more}."


def values_of(analysis: Analysis, result: Result) -> dict[HeadColumn, np.ndarray]:
    """(layer, head) values of the columns that the result has."""
    return {column: values for column in analysis.columns if (values := column.read(result)) is not None}


def choose_column(analysis: Analysis, result: Result, columns: list[HeadColumn]) -> HeadColumn:
    """The column that the map shows: a choice where there are several."""
    first = analysis.default_column(result)
    assert first is not None, "a result with columns"
    if len(columns) == 1:
        return first
    by_name = {column.quantity: column for column in columns}
    look: dict[str, Any] = {"format_func": lambda name: by_name[name].short, "width": 320}
    options = [*by_name]
    key = analysis.control_key
    return by_name[choices.selectbox("Show on the map", options, key=key, default=first.quantity, **look)]


def _pictures(
    analysis: Analysis,
    result: Result,
    shown: HeadColumn,
    selection: Selection,
    figure: Callable[[Any, Selection], FigureSpec] | None,
) -> DeltaGenerator:
    """The figure, where there is one, beside the map of the shown column; the room for the chosen head's numbers."""
    left, right = st.columns([3, 2], gap="medium")
    room, beside = right, left
    if analysis.main_figure:
        drawing = figure(result, selection) if figure else page.drawn(analysis.main_figure, result, selection.base)
        with left:
            page.chart(drawing, f"{analysis.name}-figure", analysis.summary, head=selection.head)
        is_long = (drawing.layout.get("height") or HEIGHT) > LONG
        room = right if is_long else left
        beside = right
    with beside:
        drawn = memoize(HeadColumn.map, shown, result, selection.base)
        st.markdown(f"**Head map**: {plain(shown.label)}")
        alt = f"Map of all heads, layer by head, colored by {shown.label}"
        page.head_map(drawn, f"{analysis.name}-map", alt, selection)
    return room


def _chosen_head(result: Result, values: dict[HeadColumn, np.ndarray], selection: Selection) -> None:
    """The chosen head's value in every column, with its 95% interval where there is one, and its rank."""
    head = selection.head
    rows = [
        {
            "quantity": plain(column.short),
            "value": column.with_interval(result, head).replace(" ", NO_BREAK),
            "rank": f"{ranks(read)[head]} of {read.size}".replace(" ", NO_BREAK),
        }
        for column, read in values.items()
    ]
    over = f", with 95% intervals over {result.units_text}" if isinstance(result, HeadAverages) else ""
    st.markdown(f"**Head {selection.label}**{over}")
    st.table(rows, hide_index=True, alt=f"Every quantity of head {selection.label}, with interval and rank")


def _key_numbers(column: HeadColumn, result: Result, values: np.ndarray, selection: Selection) -> list[Metric]:
    """Of the highest head, the highest layer, all heads and the chosen head."""
    head, at = highest(values), selection.head
    baseline, name = column.baseline(result) if column.baseline else (np.nan, "")
    means = np.nanmean(values, axis=1)
    layer = int(means.argmax())
    return [
        ("Highest head", head.label(selection.base), f"{column.text(values[head])}, of {values.size} heads"),
        ("Highest layer", str(layer + selection.base), f"mean of its heads: {column.text(means[layer])}"),
        ("Mean over heads", column.text(np.nanmean(values)), f"{name}: {column.text(baseline)}" if name else ""),
        (f"Head {selection.label}", column.text(values[at]), f"rank {ranks(values)[at]} of {values.size}"),
    ]


def _examples(result: HeadAverages, selection: Selection, column: HeadColumn) -> None:
    """The segments in which the chosen head's value is highest."""
    st.header(f"Top segments for head {selection.label}")
    shown = segments(result, column.quantity, selection.head)
    st.caption(f"The {len(shown)} segments with the highest value: {plain(column.short)}.")
    for segment in shown:
        location = plain(f"segment {segment.number + 1}, {segment.where}")
        st.markdown(f"**{number(segment.value)}** {location}: :gray[{joined(' '.join(segment.tokens))}]")
        links.to_segment(segment.number)
