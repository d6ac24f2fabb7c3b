"""Dependency heads: which head finds which relation, and where it is right and wrong (section 4.2; Table 1)."""

import streamlit as st

from bertviz_core.analyses.dependency_heads.figure import latex, offset_figure, paper_figure
from bertviz_core.analyses.dependency_heads.guesses import DIRECTIONS, MAX_SENTENCES, best_words
from bertviz_core.analyses.dependency_heads.result import DependencyHeads
from bertviz_core.corpora.treebank import explained
from bertviz_core.heads import DirectedHead, arrow
from bertviz_core.plotting.head_map import accuracy_map
from bertviz_core.viewer.preview import of_guesses
from pages.shared import endnotes, head_panel, page, stored
from pages.shared.frame import header
from pages.shared.memoize import memoize
from pages.shared.messages import plain
from pages.shared.views import relation_view

selection = header.current()
choices, options = page.controls()
with options:
    request = relation_view.choose_rule(selection)
computed = stored.result_or_stop(request, DependencyHeads)
with options:
    shown = relation_view.choose_counts(computed, selection)
result = memoize(DependencyHeads.show, computed, shown)
page.restriction(result)
with choices:
    relation, direction = relation_view.choose(result)
choice = DirectedHead(direction, selection.head)
relation_view.headline(result, relation, choice, selection.base)

left, right = st.columns(2, gap="medium")
with left:
    st.markdown(f"**Head map**: {relation_view.named(relation)}, {arrow(DIRECTIONS[direction])}")
    values = result.accuracy[direction, result.relations.index(relation)]
    squares = memoize(accuracy_map, values, relation, selection.base)
    lines = memoize(of_guesses, result, choice, relation) or None
    alt = f"Map of all heads, layer by head, colored by accuracy on {relation}"
    page.head_map(squares, "relation-map", alt, selection, lines=lines)
    if glossed := explained(relation, "**{}**", "*{}*"):
        st.caption(f"{plain(relation)}: {glossed} (**dependent**, *governor*).")
    st.markdown(f"**Fixed offsets**: {relation_view.named(relation)}")
    alt = f"Accuracy of fixed offsets on {relation}"
    page.chart(page.drawn(offset_figure, result, relation, direction), "offsets-figure", alt)
with right:
    st.markdown("**Table 1 as a chart**" + (", of the arcs that a direction sees" if result.is_causal else ""))
    alt = "For each relation the best head with its interval, the best fixed offset, and the paper's best head"
    drawing = page.drawn(paper_figure, result)
    page.chart(drawing, "table-figure", alt, head=selection.head, choose=lambda dot: relation_view.take(result, dot[3]))

page.metrics(relation_view.numbers(result, relation, choice, selection.label))

st.markdown("**Best head for each relation** (%); click a row to choose the relation and its best head.")
relation_view.table(result, selection)

head_panel.attended_words(computed, shown.view, selection)
relation_view.sentences(result, request, shown, relation, choice, selection.label)

page.downloads(result)
endnotes.folded("LaTeX", ":material/table:", "latex", lambda: st.code(memoize(latex, result), language="latex"))
endnotes.ending(
    result,
    r"\hat{g}(w) = \arg\max_{v \neq w} A_{wv} \quad\text{or}\quad \arg\max_{v \neq w} A_{vw}",
    "Section 4.2. A head's guess for a word is the other word with the highest word-level attention, excluding "
    "special tokens; attention to a split word is summed over its pieces, attention from it is averaged. *all* counts "
    "every word including the root, as in the authors' code; *UAS* excludes punctuation. The best head is selected on "
    "the words on which it is scored; for *held out* it is selected on one half of the sentences and scored on the "
    "other. Intervals are Wilson's, 95%. The guesses in all sentences are stored beside the result; where the store's "
    f"limit has dropped them, those in the first {MAX_SENTENCES} remain. The paper's numbers: BERT-base on the Wall "
    "Street Journal with Stanford Dependencies.",
    best_words,
    section=6,
    unit="sentences",
)
