"""The chosen head in every stored analysis of the model: its numbers, ranks, most similar heads, and links."""

from dataclasses import replace
from typing import Any

import streamlit as st

from bertviz_core.analyses.base.head_facts import FactColumn, HeadFacts
from bertviz_core.analyses.base.registry import ANALYSES
from bertviz_core.analyses.base.result import Results
from bertviz_core.heads import Head, all_heads, all_keys
from bertviz_core.overview.head_columns import in_order
from bertviz_core.overview.summary import behavior_map, head_rows, role_words, without_broad
from bertviz_core.plotting.head_map import HeadMap
from pages.shared import stored, widgets
from pages.shared.costly import behavior_heads, behavior_labels, columns, find, found_by_heads, head_facts, linguistic
from pages.shared.frame import links
from pages.shared.memoize import memoized
from pages.shared.messages import plain
from pages.shared.state.choices import HeadChoices
from pages.shared.state.kinds import kind_of
from pages.shared.state.selection import Selection

WIDTHS = {"quantity": 230, "value": 75, "rank": 75, "baseline": 150}  # pixels that fit a narrow card


def folded(page: str, selection: Selection) -> None:
    """Draw a link to the head's own page, and a popover with its numbers, whose label is its behavior; nothing if no
    result is stored."""
    results = stored.results(selection)
    if not results:
        return
    label = role_of(results, selection.head) or "Head details"
    links.to(HeadChoices(), "All about it")
    panel = widgets.popover(plain(label), ":material/my_location:", "head-panel")
    if panel.open:
        with panel:
            card(page, results, selection)


def role_of(results: Results, head: Head) -> str:
    """What a head does, in a word or two; empty where it has no behavior, or none is computed."""
    labels = behavior_labels(results)
    members = behavior_heads(results)
    if labels is None or members is None or head not in all_heads(*labels.shape):
        return ""
    return role_words(members, linguistic(results), head)


def card(page: str, results: Results, selection: Selection) -> None:
    """Draw the head's numbers as a table, its best relations, similar heads, and links to other pages of the head."""
    rows = head_rows(columns(results), selection.head)
    shown = [name for name in WIDTHS if any(row[name] for row in rows)]  # few quantities have a baseline
    alt = f"Every stored number of head {selection.label}, with its rank among all heads"
    widths = {name: st.column_config.Column(width=pixels) for name, pixels in WIDTHS.items()}
    st.dataframe(rows, hide_index=True, height="content", column_config=widths, column_order=shown, alt=alt)
    for name, result in in_order(results):
        facts = head_facts(ANALYSES[name], result, selection.head)
        draw_facts(facts, narrow=page in {entry.name for entry in links.HEAD_PAGES})
    for result in results.values():
        if result.provenance["model"].get("causal") and (restriction := result.default_view().restriction):
            st.caption(restriction)
    corpora = {result.provenance["corpus"]["name"] for result in results.values()}
    st.caption(plain(f"Stored results of {selection.checkpoint.label} on {', '.join(sorted(corpora))}."))
    with st.container(horizontal=True, gap="small"):
        for entry in links.HEAD_PAGES:
            if entry.name != page:
                links.to(kind_of(entry.name)())


def draw_facts(facts: list[HeadFacts], *, narrow: bool = False) -> None:
    """Draw what an analysis says of a head, one table below the other if `narrow`."""
    for each in facts:
        st.markdown(f"**{plain(each.title)}**{plain(each.detail)}")
        stacked = narrow or len(each.tables) < 2
        places = [st.container() for _ in each.tables] if stacked else st.columns(len(each.tables))
        for place, table in zip(places, each.tables, strict=True):
            values = {column.title: column.values for column in table.columns}
            config = {column.title: _drawn_as(column) for column in table.columns}
            place.dataframe(values, hide_index=True, height="content", column_config=config, alt=table.alt)
        if each.caption:
            st.caption(plain(each.caption))


def _drawn_as(column: FactColumn) -> Any:
    """Streamlit's configuration of a column."""
    note = column.help or None
    if column.format == "bar":
        highest = max(column.values)
        return st.column_config.ProgressColumn(format="%.0f%%", max_value=highest, width=column.width, help=note)
    if column.format == "text":
        return st.column_config.Column(width=column.width, help=note)
    pattern = "%.1f%%" if column.format == "percent" else "%.1f×"
    return st.column_config.NumberColumn(format=pattern, width=column.width, help=note)


@memoized
def map_of(results: Results, expression: str = "", *, with_broad: bool = True) -> HeadMap:
    """The map of behaviors, on which heads that the expression does not find stand back; broad heads are marked or, if
    not `with_broad`, have the dots of heads without a behavior."""
    members = behavior_heads(results)
    named = linguistic(results)
    assert members is not None, "drawn only where surface patterns or entropy is stored"
    members = members if with_broad else without_broad(members)
    squares = behavior_map(members, columns(results), named, found=found_by_heads(results))
    listed = {*find(results, expression)["label"]}
    return replace(
        squares, faint=tuple(label for label in all_keys(squares.layers, squares.heads) if label not in listed)
    )
