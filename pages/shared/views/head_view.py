"""The chosen head: its numbers with intervals and ranks, and the segments where its value is highest."""

import numpy as np
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from bertviz_core.analyses.analysis import Analysis
from bertviz_core.analyses.head_averages import HeadAverages, HeadColumn
from bertviz_core.analyses.results import Result
from bertviz_core.heads import all_labels, ranks
from bertviz_core.numbers import number
from bertviz_core.overview.head_summary import segments
from bertviz_core.plotting.drawing import HEIGHT, FigureSpec
from bertviz_core.plotting.head_map import HeadMap
from pages.shared import messages, page
from pages.shared.frame import choices, links
from pages.shared.frame.selection import Selection
from pages.shared.messages import joined, plain

MAX_NAMED = 10
LONG = 500  # pixels of a figure that is longer than the map beside it


def labels_over(values: np.ndarray, threshold: float, base: int) -> list[str]:
    """Labels of the heads whose value is over the threshold, the highest first."""
    labels, order = all_labels(*values.shape, base), np.argsort(-values, axis=None, kind="stable")
    return [labels[index] for index in order[values.flat[order] > threshold]]


def named(labels: list[str], what: str) -> None:
    """List heads in a caption, after a description of what they do."""
    more = " …" if len(labels) > MAX_NAMED else ""
    st.caption(f"{plain(what)}: {', '.join(labels[:MAX_NAMED]) or 'no head'}{more}.")


def figure_and_map(
    drawing: FigureSpec, alt: str, squares: HeadMap, title: str, key: str, selection: Selection
) -> DeltaGenerator:
    """Draw the figure by layer, and beside it the map of heads.

    Returns:
        The column with room for more: of the figure, or of the map where the figure is the longer one.
    """
    left, right = st.columns([3, 2], gap="medium")
    with left:
        page.chart(drawing, f"{key}-figure", alt, head=selection.head)
    with right:
        st.markdown(f"**Head map**: {plain(title)}")
        page.head_map(squares, f"{key}-map", f"Map of all heads, layer by head, colored by {title}", selection)
    return right if (drawing.layout.get("height") or HEIGHT) > LONG else left


def choose(analysis: Analysis, result: Result) -> HeadColumn:
    """The column that the map shows: a choice where there are several."""
    columns = {column.quantity: column for column in analysis.columns if column.read(result) is not None}
    first = analysis.default_column(result)
    assert first is not None, "a result with columns"
    quantity = first.quantity
    if len(columns) > 1:
        quantity = choices.selectbox(
            "Show on the map",
            [*columns],
            key=analysis.control_key,
            default=quantity,
            format_func=lambda name: columns[name].short,
            width=320,
        )
    return columns[quantity]


def numbers(analysis: Analysis, result: Result, selection: Selection, first: HeadColumn) -> None:
    """The chosen head's value in every column, with its 95% interval where there is one, and its rank."""
    head, rows = selection.head, []
    for column in (first, *(column for column in analysis.columns if column != first)):
        if (values := column.read(result)) is not None:
            rank = f"{ranks(values)[head]} of {values.size}"
            value = column.with_interval(result, head)
            rows.append({"quantity": plain(column.short), "value": unbroken(value), "rank": unbroken(rank)})
    over = f", with 95% intervals over {result.units_text}" if isinstance(result, HeadAverages) else ""
    st.markdown(f"**Head {selection.label}**{over}")
    st.table(rows, hide_index=True, alt=f"Every quantity of head {selection.label}, with interval and rank")


def unbroken(text: str) -> str:
    """The text on one line, where a table is narrow."""
    return text.replace(" ", "\u00a0")


@messages.fragment()
def examples(result: HeadAverages, selection: Selection, column: HeadColumn) -> None:
    """The segments in which the chosen head's value is highest."""
    st.header(f"Top segments for head {selection.label}")
    shown = list(segments(result, column.quantity, selection.head))
    st.caption(f"The {len(shown)} segments with the highest value: {plain(column.short)}.")
    for segment in shown:
        location = plain(f"segment {segment.number + 1}, {segment.where}")
        st.markdown(f"**{number(segment.value)}** {location}: :gray[{joined(' '.join(segment.tokens))}]")
        links.to_segment(segment.number)
