"""Figures 1 and 5 of this model: the heads that most clearly do one thing, in the segments where they do it most."""

from __future__ import annotations

import streamlit as st

from bertviz_core.analyses.clearest import Example, Segment
from bertviz_core.figures.style import BEHAVIOURS, NAMES, number
from pages.shared import links
from pages.shared.boxes import plain
from pages.shared.selection import Selection

LONGEST = 60  # tokens shown of a segment
SEGMENTS = 2
PAGES = {"surface_patterns": "quantity", "entropy": "of"}  # page -> its control of what the map shows
BESIDE = 2  # examples in a row


def examples(found: list[Example], selection: Selection) -> None:
    """A card for each: the head, its number, its segments, and links to look closer."""
    for start in range(0, len(found), BESIDE):
        for column, example in zip(st.columns(BESIDE, gap="medium"), found[start : start + BESIDE], strict=False):
            with column.container(border=True, height="stretch"):
                _card(example, selection)


def _card(example: Example, selection: Selection) -> None:
    label = example.head.label(selection.base)
    unit = "nats of entropy" if example.quantity == "entropy" else "of the attention"
    st.markdown(f"**{BEHAVIOURS[example.behaviour][-1].capitalize()}: head {label}**, {number(example.value)} {unit}")
    for segment in example.segments[:SEGMENTS]:
        where = plain(f"segment {segment.number + 1}, {segment.where}")
        st.caption(f"**{number(segment.value)}** in {where}")
        st.markdown(_tokens(segment, example.behaviour))
    with st.container(horizontal=True, gap="small"):
        control = {PAGES[example.analysis]: NAMES[example.quantity]}
        links.to(example.analysis, "All heads by this", example.head, ":material/grid_on:", **control)
        first = str(example.segments[0].number + 1) if example.segments else "1"
        corpus = {"input": "corpus", "segment": first, "corpus": st.query_params.get("corpus", "")}
        links.to("attention_viewer", "See its lines", example.head, ":material/hub:", **corpus)


def _tokens(segment: Segment, behaviour: str) -> str:
    """The tokens, those that the head looks at in bold and colour."""
    looked_at = {"to_sep": segment.tokens[-1:], "to_punct": [".", ","]}.get(behaviour, [])
    words = [f":red[**{plain(t)}**]" if t in looked_at else plain(t) for t in segment.tokens[:LONGEST]]
    more = " …" if len(segment.tokens) > LONGEST else ""
    return " ".join(words).replace(" \\#\\#", "") + more
