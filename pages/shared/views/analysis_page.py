"""The page of an analysis that has no file in pages/: all of it follows from the analysis's own columns."""

from __future__ import annotations

import numpy as np
import streamlit as st

from bertviz_core.analyses.analysis import Analysis
from bertviz_core.analyses.head_averages import HeadAverages
from bertviz_core.analyses.head_column import HeadColumn
from bertviz_core.analyses.registry import examples_class
from bertviz_core.analyses.results import Result, head_frame
from bertviz_core.heads import highest, ranks
from pages.shared import page, services, stored_result
from pages.shared.boxes import plain
from pages.shared.frame import sidebar
from pages.shared.frame.selection import Selection
from pages.shared.views import findings_view, head_view

Values = dict[HeadColumn, np.ndarray]  # (layer, head)


def show(analysis: Analysis) -> None:
    """Finding, map, chosen head, top segments, table, downloads, About and provenance."""
    selection = sidebar.current()
    page.header(analysis.name, selection)
    request = selection.request(analysis.name)
    if services.find(request) is None:
        st.markdown(plain(analysis.summary))
    result = stored_result.result_or_stop(request, analysis.result_class)
    values = {column: read for column in analysis.columns if (read := column.read(result)) is not None}
    if values:
        _heads(analysis, result, values, selection)
    elif analysis.own_figure:
        page.chart(page.drawn(analysis.own_figure, result), f"{analysis.name}-figure", analysis.title)
    page.downloads(result)
    source = getattr(analysis.measure, "measure", analysis.measure)
    unit = examples_class(analysis.corpus).unit
    page.ending(result, analysis.formula, plain(analysis.summary), source, unit=unit)


def _heads(analysis: Analysis, result: Result, values: Values, selection: Selection) -> None:
    """What the columns say of all heads, and of the chosen one."""
    chosen = head_view.choose(analysis, result)
    findings_view.headline(analysis.column_finding(chosen, result, selection.base))
    left, right = st.columns([3, 2], gap="medium")
    with left:
        st.markdown(f"**Head map**: {plain(chosen.label)}")
        alt = f"Map of all heads, layer by head, colored by {chosen.label}"
        page.head_map(chosen.map(result, selection.base), f"{analysis.name}-map", alt, selection)
    with right:
        head_view.numbers(analysis, result, selection, chosen)
    page.metrics(_key_numbers(chosen, result, values[chosen], selection))
    if analysis.own_figure:
        figure = page.drawn(analysis.own_figure, result, selection.base)
        page.chart(figure, f"{analysis.name}-figure", analysis.title, head=selection.head)
    if isinstance(result, HeadAverages) and chosen.quantity in result.present:
        head_view.examples(result, selection, chosen)
    st.subheader("All heads")
    frame = head_frame({column.quantity: read for column, read in values.items()})
    page.table(result, [column.quantity for column in values], selection, f"{analysis.name}-table", frame)


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
