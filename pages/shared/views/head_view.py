"""The chosen head: its numbers with intervals and ranks, and the segments in which it is most itself."""

from __future__ import annotations

import re
from collections.abc import Mapping

import numpy as np
import streamlit as st

from bertviz_core.analyses.head_averages import HeadAverages
from bertviz_core.heads import all_heads, ranks
from bertviz_core.overview.clearest import segments
from bertviz_core.plotting.style import NAMES, number
from pages.shared.boxes import plain
from pages.shared.frame import viewer_link
from pages.shared.frame.selection import Selection

MOST_NAMED = 24


def over(values: np.ndarray, threshold: float, base: int) -> list[str]:
    """Labels of the heads whose value is over the threshold, the highest first."""
    heads = [head for head in all_heads(*values.shape) if values[head.layer, head.head] > threshold]
    return [head.label(base) for head in sorted(heads, key=lambda head: -values[head.layer, head.head])]


def claim(labels: list[str], total: int, does: str) -> None:
    """How many heads of all do something, and which."""
    which = ": " + ", ".join(labels[:MOST_NAMED]) + (" …" if len(labels) > MOST_NAMED else "") if labels else "."
    st.markdown(f"**{len(labels) or 'None'} of {total} heads {does}**{which}")


def numbers(result: HeadAverages, selection: Selection, quantity: str) -> None:
    """The chosen head's value of every quantity, 95% interval and rank; the map's quantity first."""
    at = (selection.head.layer, selection.head.head)
    first = [quantity, *(name for name in result.present if name not in (quantity, "uniform"))]
    rows = [
        {
            "quantity": NAMES[name],
            "value": f"{number(result[name][at])} ± {result.interval(name)[at]:.1g}",
            "rank": f"{ranks(result[name])[at]} of {result[name].size}",
        }
        for name in first
    ]
    st.markdown(f"**Head {selection.label}**")
    st.dataframe(rows, hide_index=True, alt=f"Every quantity of head {selection.label}, with interval and rank")


@st.fragment
def examples(result: HeadAverages, selection: Selection, quantity: str, names: Mapping[str, str] = NAMES) -> None:
    """The segments in which the chosen head's value is highest."""
    st.subheader(f"Where head {selection.label} does it most")
    shown = list(segments(result, quantity, selection.head))
    st.caption(f"The {len(shown)} segments with the highest value of: {plain(names[quantity])}.")
    for segment in shown:
        joined = re.sub(r"(?<!\]) ##", "", " ".join(segment.tokens))  # [CLS] and [SEP] have no further pieces
        tokens = plain(joined)
        where = plain(f"segment {segment.number + 1}, {segment.where}")
        st.markdown(f"**{number(segment.value)}** {where}: :gray[{tokens}]")
        viewer_link.to_segment(segment.number)
