"""Figures 1 and 5 of this model: the heads that most clearly do one thing, in the segments where they do it most."""

from __future__ import annotations

import re

import streamlit as st

from bertviz_core.analyses.dependency_heads.figure import example_svg, examples
from bertviz_core.analyses.dependency_heads.relations import ShownRelations
from bertviz_core.analyses.dependency_heads.result import DependencyHeads
from bertviz_core.analyses.dependency_heads.sentences import SentenceExample
from bertviz_core.analyses.registry import ANALYSES
from bertviz_core.analyses.results import Results
from bertviz_core.numbers import number
from bertviz_core.overview.head_summary import ClearestHead, Relation, Segment, clearest, relation_heads
from bertviz_core.plotting.style import BEHAVIORS
from pages.shared.boxes import plain
from pages.shared.components import drawings
from pages.shared.derived import derived
from pages.shared.frame import links
from pages.shared.frame.selection import Selection

LONGEST = 34  # tokens shown of a segment
SEGMENTS = 2
SENTENCES = 2
SENTENCE = 70  # characters of a sentence that is seen without scrolling
BESIDE = 3  # examples in a row


def behaviors(results: Results, selection: Selection) -> None:
    """A card for each behavior: the head, its number, its segments, and links to look closer."""
    examples = derived(clearest, results)
    for start in range(0, len(examples), BESIDE):
        for column, example in zip(st.columns(BESIDE, gap="medium"), examples[start : start + BESIDE], strict=False):
            with column.container(border=True, height="stretch"):
                _card(example, selection)


def relations(results: Results, selection: Selection) -> None:
    """Draw, for the clearest relations, the sentences in which their best head is right and surest."""
    if "dependency_heads" not in results:
        return
    shown = derived(DependencyHeads.show_default, results["dependency_heads"])
    for each in derived(relation_heads, shown):
        direction, head = each.choice
        label = head.label(selection.base)
        with st.container(horizontal=True, vertical_alignment="center"):
            st.markdown(
                f"**{plain(each.name)}: head {label}** finds {each.accuracy:.1%}, the best fixed offset "
                f"{each.baseline:.1%}"
            )
            icon = ":material/account_tree:"
            links.to("dependency_heads", "Show all sentences", head, icon, relation=each.name)
        best = derived(_best, shown, each)
        drawn = [(example.where, example_svg(example, each.choice)) for example in best]
        targets = [links.to_tree(example.sentence, example.chosen, direction, head) for example in best]
        addresses = links.hidden(f"gallery-{each.name}", targets)
        drawings(drawn, f"gallery-{each.name}", addresses)


def _best(shown: ShownRelations, each: Relation) -> list[SentenceExample]:
    """The sentences that are shown of a relation."""
    sentences = examples(shown, each.choice, each.name)
    right = sorted(
        (example for example in sentences if example.right == example.words), key=lambda example: -example.weight
    )
    short = [example for example in right if len(" ".join(example.sentence["words"])) <= SENTENCE]
    return (short or right)[:SENTENCES]


def _card(example: ClearestHead, selection: Selection) -> None:
    label = example.head.label(selection.base)
    name = BEHAVIORS[example.behavior][-1]
    unit = "nats of entropy" if example.quantity == "entropy" else "of the attention"
    st.markdown(f"**{name[0].upper()}{plain(name[1:])}: head {label}**")
    st.markdown(f"{number(example.value)} {unit}")
    for segment in example.segments[:SEGMENTS]:
        location = plain(f"segment {segment.number + 1}, {segment.where}")
        st.caption(f"**{number(segment.value)}** in {location}")
        st.markdown(_tokens(segment, example.behavior))
    with st.container(horizontal=True, gap="small"):
        control = ANALYSES[example.analysis].map_of(example.quantity)
        links.to(example.analysis, "Show all heads", example.head, ":material/grid_on:", **control)
        first = str(example.segments[0].number + 1) if example.segments else "1"
        corpus = {"input": "corpus", "segment": first}
        links.to("attention_viewer", "Show attention lines", example.head, ":material/hub:", **corpus)


def _tokens(segment: Segment, behavior: str) -> str:
    """A part of the tokens, those that the head looks at in bold and color: the last is the separator."""
    looked_at = {"to_sep": segment.tokens[-1:], "to_punct": [".", ","]}.get(behavior, [])
    part = segment.tokens[-LONGEST:] if behavior == "to_sep" else segment.tokens[:LONGEST]
    words = " ".join(f":red[**{plain(t)}**]" if t in looked_at else plain(t) for t in part)
    words = re.sub(r"(?<=\w) \\#\\#", "", words)  # a piece that a special token precedes stays apart
    cut = len(segment.tokens) > LONGEST
    return f"… {words}" if cut and behavior == "to_sep" else f"{words} …" if cut else words
