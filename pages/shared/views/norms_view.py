"""Surface patterns in weights and in norms: what changes, and how long the vectors are."""

from __future__ import annotations

from dataclasses import replace

import streamlit as st

from bertviz_core.analyses.head_averages import HeadAverages
from bertviz_core.analyses.results import head_frame
from bertviz_core.analyses.surface_patterns import NORM_QUANTITIES
from bertviz_core.analyses.surface_patterns import norms as summary
from pages.shared import page, services
from pages.shared.boxes import plain
from pages.shared.frame import choices
from pages.shared.frame.selection import Selection


def change(result: HeadAverages, selection: Selection) -> HeadAverages | None:
    """Say what norms change, where both results are stored.

    Returns:
        The result of the other kind of weights, where the reader wants both in the figure.
    """
    norms = selection.settings.weights == "norms"
    settings = replace(selection.settings, weights="attention" if norms else "norms")
    other = services.find(replace(selection, settings=settings).request(result.analysis))
    if not isinstance(other, HeadAverages):
        if norms:
            st.caption("Choose `attention` in the sidebar and analyze to see what norms change.")
        return None
    weights, moved = (other, result) if norms else (result, other)
    with st.container(horizontal=True, vertical_alignment="center"):
        label = f"Add {'attention weights' if norms else 'norms'}"
        add = choices.toggle(label, key="both", help="To the figure, as dashed lines.", width="content")
        st.markdown(f"{plain(summary.change(weights, moved, selection.base))}.")
    return other if add else None


def lengths(result: HeadAverages, selection: Selection) -> None:
    """The lengths of the vectors, for every head and class of tokens; nothing for a result of attention weights."""
    if "norm_correlation" not in result.present:
        return
    st.subheader("Lengths of the vectors")
    st.markdown(f"{plain(summary.lengths(result, selection.base))}.")
    st.caption(
        "norm: the mean length of what the tokens of a class pass on through a head. correlation: Spearman's, over "
        "the tokens of a segment, of that length with the mean attention weight that a token receives."
    )
    columns = [name for name in NORM_QUANTITIES if name in result.present]
    page.table(result, columns, selection, "lengths-table", head_frame({name: result[name] for name in columns}))
