"""The chosen head in every stored analysis of this model: its numbers, ranks, nearest heads, and where to go on."""

import numpy as np
import streamlit as st

from bertviz_core.analyses.behaviors import LINGUISTIC, Thresholds, linguistic
from bertviz_core.analyses.clustering.result import Clustering
from bertviz_core.analyses.dependency_heads.relations import RelationCounts
from bertviz_core.analyses.results import Results, result_of
from bertviz_core.overview.figure import behavior_map, head_rows, relation_rows
from bertviz_core.overview.head_card import NONE
from bertviz_core.overview.head_summary import behavior_labels, columns, nearest, relations
from bertviz_core.plotting.head_map import HeadMap
from bertviz_core.plotting.style import BEHAVIORS
from pages.shared import stored
from pages.shared.frame import catalogue, links
from pages.shared.frame.selection import Selection
from pages.shared.memoize import memoize
from pages.shared.messages import plain

WIDTHS = {"quantity": 230, "value": 75, "rank": 75, "baseline": 150}  # so that they fit where the card is narrow


def folded(page: str, selection: Selection) -> None:
    """What the head does, which opens, and is filled only then; nothing where nothing is stored."""
    results = stored.results(selection)
    if results:
        label = behavior(results, selection, Thresholds())
        panel = st.popover(plain(label), icon=":material/my_location:", key="head-panel", on_change="rerun")
        if panel.open:
            with panel:
                card(page, results, selection)


def card(page: str, results: Results, selection: Selection) -> None:
    """The numbers as a table, what the head finds and resembles, and links that keep it."""
    rows = head_rows(memoize(columns, results), selection.head)
    if not any(row["baseline"] for row in rows):
        rows = [{name: value for name, value in row.items() if name != "baseline"} for row in rows]
    alt = f"Every stored number of head {selection.label}, with its rank among all heads"
    widths = {name: st.column_config.Column(width=pixels) for name, pixels in WIDTHS.items()}
    st.dataframe(rows, hide_index=True, height="content", column_config=widths, alt=alt)
    if best := memoize(relations, results, selection.head):
        st.markdown(f"**Best relations** ({result_of(results, RelationCounts).trees}), with the best fixed offset")
        rows = relation_rows(best, selection.checkpoint.layers * selection.checkpoint.heads)
        st.dataframe(rows, hide_index=True, height="content", alt=f"The best relations of head {selection.label}")
    if near := nearest(results, selection.head):
        alike = ", ".join(f"{other.label(selection.base)} ({distance:.3g})" for other, distance in near)
        st.markdown(f"**Most similar heads** (divergence, {result_of(results, Clustering).unit}): {plain(alike)}")
    corpora = {result.provenance["corpus"]["name"] for result in results.values()}
    st.caption(plain(f"Stored results of {selection.checkpoint.label} on {', '.join(sorted(corpora))}."))
    with st.container(horizontal=True, gap="small"):
        for entry in catalogue.OF_HEADS:
            if entry.name != page:
                links.to(entry.name, entry.title, None, entry.icon)


def labels_of(results: Results, thresholds: Thresholds) -> np.ndarray | None:
    """(layer, head) names of behaviors; None where neither surface patterns nor entropy is stored."""
    return behavior_labels(results, thresholds, memoize(linguistic, results))


def map_of(results: Results, thresholds: Thresholds, base: int) -> HeadMap:
    """The map of all heads by what they do."""
    labels, named = labels_of(results, thresholds), memoize(linguistic, results)
    assert labels is not None, "drawn only where surface patterns or entropy is stored"
    return behavior_map(labels, memoize(columns, results), named, base)


def behavior(results: Results, selection: Selection, thresholds: Thresholds) -> str:
    """Behavior of the chosen head, in words."""
    named = memoize(linguistic, results)
    labels = memoize(labels_of, results, thresholds)
    if labels is None:
        return "no behavior computed yet"
    label = str(labels[selection.head])
    if label == LINGUISTIC:
        return named[selection.head.label()]
    return NONE if label == "other" else BEHAVIORS[label][-1]
