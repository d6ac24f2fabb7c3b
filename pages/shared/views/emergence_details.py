"""Parts of the page of emergence that no step of the slider changes: relations, the chosen head, the table."""

from __future__ import annotations

import streamlit as st

from bertviz_core.analyses.dependency_heads.relations import UAS
from bertviz_core.emergence.figure import head_figure, relations_figure
from bertviz_core.emergence.result import Emergence
from bertviz_core.heads import all_heads
from pages.shared import page
from pages.shared.derived import derived
from pages.shared.frame import address, choices
from pages.shared.frame.selection import Selection
from pages.shared.views.emergence_view import STEP, linear

MAX_RELATIONS = 6


@address.fragment
def relations(result: Emergence, selection: Selection) -> None:
    """Chosen relations over the training; the slider does not redraw them."""
    st.markdown(
        "**Relations**: the best head and the best fixed offset. The best head of a step is selected on the words on "
        "which it is scored; the dotted line follows the head that is best at the end."
    )
    chosen = choices.multiselect(
        "Relations",
        result.relations,
        key="relations_of",
        default=[*result.telling(MAX_RELATIONS - 1), UAS],
        max_selections=MAX_RELATIONS,
        label_visibility="collapsed",
    )
    if chosen:
        figure = page.drawn(relations_figure, result, tuple(chosen), selection.base, linear=linear())
        alt = "For each relation the accuracy of the best head and of the best fixed offset over the training"
        page.chart(figure, "emergence-relations-figure", alt, clickable=False)


def one_head(result: Emergence, selection: Selection) -> None:
    """The chosen head over the training, or why there is none."""
    layers, heads = result.shape
    if selection.head not in all_heads(layers, heads):  # the one chosen at the left is another model's
        st.caption(
            f"Head {selection.label} is not one of this training's {layers} × {heads} heads. To browse them, choose "
            "one of its checkpoints as the model in the sidebar."
        )
        return
    st.markdown(f"**Head {selection.label}** over the training")
    alt = f"Average attention and entropy of head {selection.label} over the training"
    figure = page.drawn(head_figure, result, selection.head, linear=linear())
    page.chart(figure, "emergence-head", alt, clickable=False)


def table(result: Emergence) -> None:
    """The emergence as a table, a row for each step."""
    frame = derived(Emergence.to_frame, result)
    formats = {name: "%.3f" if values.dtype.kind == "f" else "localized" for name, values in frame.items()}
    st.dataframe(
        frame,
        key="emergence-table",
        hide_index=True,
        on_select=lambda: _row_clicked(result),
        selection_mode="single-row",
        column_config={
            name: st.column_config.NumberColumn(name.replace("_", " "), format=format)
            for name, format in formats.items()
        },
        alt="A row for each step of the training",
    )


def _row_clicked(result: Emergence) -> None:
    rows = st.session_state["emergence-table"]["selection"]["rows"]
    if rows:
        st.session_state[STEP] = int(result.steps[rows[0]])
