"""The page of an analysis, drawn from its columns, with what its file in pages/ adds."""

from dataclasses import replace
from typing import Any

import numpy as np
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from bertviz_core.analyses.base.analysis import Analysis
from bertviz_core.analyses.base.averages import HeadAverages, HeadColumn
from bertviz_core.analyses.base.column_view import ColumnView
from bertviz_core.analyses.base.parts import head_rows, head_title, segments_note, segments_title
from bertviz_core.analyses.base.registry import ANALYSES
from bertviz_core.analyses.base.result import Result
from bertviz_core.analyses.run.corpus_kinds import EXAMPLES
from bertviz_core.numbers import number
from bertviz_core.plotting.drawing import HEIGHT, FigureSpec
from pages.shared import endnotes, page, services, stored, widgets
from pages.shared.costly import chosen_finding, column_map, findings_of, head_frame
from pages.shared.frame import links
from pages.shared.memoize import memoized
from pages.shared.messages import joined, plain
from pages.shared.state import session
from pages.shared.state.analysis_choices import AnalysisChoices
from pages.shared.state.kinds import kind_of

view_of = memoized(ColumnView.choose)

SEGMENT_START = 12  # tokens of a passage that tell it from another
NO_BREAK = "\u00a0"  # in a narrow table


def show(name: str) -> None:
    """The whole page of an analysis that adds nothing to it."""
    chosen = session.page(kind_of(name))
    assert isinstance(chosen, AnalysisChoices), "a page of its own has its own choices"
    view = AnalysisPage(chosen)
    analysis = view.analysis
    if view.values:
        view.draw_figures()
        view.draw_cards()
        view.draw_heads()
    elif analysis.main_figure:
        drawing = page.drawn(analysis.main_figure, view.result)
        page.chart(drawing, f"{analysis.name}-figure", analysis.title, view.selection.basis, choose=page.choose_head)
    else:
        for finding in findings_of(analysis, view.result):
            page.finding(finding)
    view.end()


class AnalysisPage:
    """The parts of an analysis's page, between which its file in pages/ draws more.

    Without a stored result the page ends with the offer to compute it.

    Attributes:
        controls: The container of the page's frequent choices.
        analysis: The analysis.
        selection: What the header shows.
        result: The stored result.
        shown: The same, with what is chosen of it: what the page says and saves.
        values: (layer, head) values of each column that the result has.
        column: The column on the map; missing where the result has none.
    """

    def __init__(self, chosen: AnalysisChoices, controls: DeltaGenerator | None = None) -> None:
        if controls is None:
            controls = page.controls()
        self.controls = controls
        self.analysis = ANALYSES[chosen.page]
        self.selection = session.selection()
        request = self.selection.request(chosen.page, chosen.options(self.selection.settings.paper))
        if services.find(request) is None:
            st.markdown(plain(self.analysis.summary))
        self.result: Any = stored.result_or_stop(request, self.analysis.result_class)
        self.shown = self.result
        self.values = values_of(self.analysis, self.result)
        if self.values:
            with controls:
                self.column = choose_column(chosen, self.analysis, self.result, list(self.values))
            self.choose(ColumnView())

    def choose(self, view: ColumnView, drawn: Result | None = None) -> None:
        """Let what the page says and saves follow a view, with the column and the head that are chosen; of the result,
        or of what is `drawn` of it."""
        chosen = replace(view, quantity=self.column.quantity, head=self.selection.head.key())
        self.shown = view_of(chosen, drawn or self.result)

    def draw_figures(self, drawing: FigureSpec | None = None) -> None:
        """The finding, the analysis's figure or another `drawing`, the map, and the chosen head's numbers."""
        head = self.selection.head
        main_figure = self.analysis.main_figure
        if finding := chosen_finding(self.analysis, self.shown):
            page.finding(finding, bold=True)
        if isinstance(self.result, HeadAverages) and self.result.absence:
            st.caption(plain(self.result.absence))
        left, right = st.columns([3, 2], gap="medium")
        map_column = left
        free_column = right
        if main_figure:
            drawing = drawing or page.drawn(main_figure, self.result)
            with left:
                basis = self.selection.basis
                page.chart(drawing, f"{self.analysis.name}-figure", self.analysis.summary, basis, head=head)
            is_long = (drawing.layout.get("height") or HEIGHT) > 500  # pixels, more than the map has
            map_column = right
            free_column = right if is_long else left
        with map_column:
            squares = column_map(self.column, self.result)
            st.markdown(f"**Head map**: {plain(self.column.label)}")
            alt = f"Map of all heads, layer by head, colored by {self.column.label}"
            previewed = self.selection if self.analysis.reads_maps else self.selection.of_weights("attention")
            page.head_map(squares, f"{self.analysis.name}-map", alt, previewed)
        ordered = {self.column: None} | dict.fromkeys(self.values)
        rows = [
            {name: plain(text) if name == "quantity" else text.replace(" ", NO_BREAK) for name, text in row.items()}
            for row in head_rows(self.result, head, ordered)
        ]
        label, separator, over = head_title(self.result, head).partition(",")
        with free_column:
            st.markdown(f"**{label}**{separator}{over}")
            st.table(
                rows, hide_index=True, alt=f"Every quantity of head {self.selection.label}, with interval and rank"
            )

    def draw_finding(self, name: str) -> None:
        """Draw the finding of the statement with this name."""
        for finding in findings_of(self.analysis, self.result):
            if finding.id == f"{self.analysis.name}.{name}":
                page.finding(finding)

    def draw_cards(self) -> None:
        """Draw the key numbers of what is shown, as the analysis names them."""
        page.metrics(self.analysis.cards(self.shown))

    def draw_heads(self) -> None:
        """Draw the segments in which the chosen head shows the quantity most, and the table of all heads."""
        if isinstance(self.result, HeadAverages) and self.analysis.corpus == "text":
            self._draw_segments(self.result)
        st.header("All heads", anchor=False)
        titles = {column.quantity: column.short for column in self.values}
        frame = head_frame({column.quantity: values for column, values in self.values.items()})
        page.table(frame, [*titles], self.selection, f"{self.analysis.name}-table", titles=titles)

    def _draw_segments(self, result: HeadAverages) -> None:
        """A line for each passage in which the chosen head shows the quantity on the map most, if any are kept."""
        quantity = self.column.quantity
        if not result.texts or quantity not in result.present:
            return
        shown = result.highest_segments(quantity, self.selection.head)
        st.header(segments_title(len(shown), self.selection.head), anchor=False)
        st.caption(plain(segments_note(self.column)))
        for segment in shown:
            begun = joined(" ".join(segment.tokens[:SEGMENT_START]))
            with page.row("center", gap="xsmall"):
                st.markdown(f"**{number(segment.value)}** {plain(segment.place)}: :gray[{begun} …]", width="content")
                links.to_segment(segment.number, self.selection.head)

    def end(self) -> None:
        """Draw the files, and the end of the page."""
        page.downloads(self.shown)
        endnotes.ending(self.result, self.analysis, EXAMPLES[self.analysis.corpus].unit)


def values_of(analysis: Analysis, result: Result) -> dict[HeadColumn, np.ndarray]:
    """(layer, head) values of the columns that the result has."""
    return {column: values for column in analysis.columns if (values := column.read(result)) is not None}


def choose_column(chosen: AnalysisChoices, analysis: Analysis, result: Result, columns: list[HeadColumn]) -> HeadColumn:
    """Draw the choice of the column on the map, if there are several."""
    column = chosen.resolve(analysis, result)
    assert column, "a result with columns"
    if len(columns) > 1:
        by_name = {column.quantity: column for column in columns}
        widgets.select(
            "Color heads by",
            [*by_name],
            "quantity",
            column.quantity,
            format_func=lambda name: by_name[name].short,
            width=320,
        )
    return column
