"""Attention viewer: one head on one input, token by token (Figures 1 and 5)."""

import streamlit as st

from bertviz_core.models.single_input import mask, predict
from bertviz_core.viewer.figure import heatmap
from bertviz_core.viewer.view import SIDES, InputView, apply_view, moved
from pages.shared import endnotes, messages, page, services
from pages.shared.frame import address, choices, header
from pages.shared.views import (
    attention_panel,
    gold_tree,
    input_choice,
    masked_words,
    query_key_view,
    side_by_side,
    token_pair,
)

selection = header.current()
model = services.model(selection.checkpoint, selection.settings.dtype)
line = st.container(horizontal=True, vertical_alignment="bottom", key="input-choice")
often, options = page.controls()
with line:
    original = input_choice.choose(selection, model, options)

can_mask = model.tokens.mask is not None
positions = [p for p in input_choice.masked(address.get("mask")) if original.can_mask(p, model.tokens)]
changed = mask(original, positions, model.tokens) if positions else original

with options:
    sides = "all"
    if original.layout.two_sides:
        sides = choices.selectbox("Segments", list(SIDES), key="sides", default="all")
    min_weight = choices.slider("Minimum weight", 0.0, 0.5, 0.02, 0.01, key="least")
    hidden = choices.toggle("Hide special tokens", key="hide", help="The remaining weights are rescaled to sum to 1.")
with often.container(horizontal=True, vertical_alignment="bottom", key="input-choice-view"):
    shape = choices.segmented("Show", ["lines", "heatmap", "table", query_key_view.NAME], key="as", default="lines")
    wide = shape == query_key_view.NAME  # between tokens, of the whole input
    units = "tokens" if wide else choices.segmented("Between", ["tokens", "words"], key="units", default="tokens")
    asked = st.container(horizontal=True, vertical_alignment="center", width="content")
    with (compare := st.popover("Compare", icon=":material/compare:", key="compare", on_change="rerun")):
        together = side_by_side.kind() if shape == "lines" else side_by_side.ONE
        off = attention_panel.choose_switched_off(selection, model)

summary, alone = st.container(), together == side_by_side.ONE
left, right = (st.container(), st.container()) if wide else st.columns([3, 2] if alone else 2, gap="medium")
notes = right if alone else st.container()  # what is said of the input stands beside the drawing, not above it
before = positions and attention_panel.choose_masked(notes)
view = InputView(units == "words", not hidden, sides, selection.settings.paper)
gold_tree.pin(original)
weights = selection.settings.weights
title = f"Head {selection.label}, {selection.checkpoint.label}"
first = side_by_side.side(selection, model, view, selection.head, title, original, positions, before=bool(before))
attention = first.attention
with summary:
    attention_panel.claim(attention, selection, view, min_weight if shape == "lines" else 0)
whole = predict(model, original, changed) if positions else ()
without = predict(model, original, changed, off) if off is not None else ()
if not attention.weights.size:
    address.stop()

other = side_by_side.choose(compare, together, selection, model, view, original, positions, before=bool(before))
product = None
with left.container(gap=None):  # a title takes little room
    if other is not None:
        st.caption(f"**{messages.plain(side_by_side.first_title(together, selection))}**")
    if shape == "lines":
        with compare:
            overlaid = attention_panel.choose_overlaid(attention, selection, model) if alone else []
        attention_panel.lines(first, "attention-lines", can_mask, min_weight, overlaid)
    elif shape == "heatmap":
        alt = f"Attention of head {selection.label}, from each row's token to each column's"
        page.chart(heatmap(attention, selection.head), "attention-heatmap", alt, clickable=False)
    elif wide:
        product = query_key_view.draw(model, first.shown, attention, selection, asked)
    else:
        attention_panel.table(attention, selection)
with right.container(gap=None):
    if other is not None:
        st.caption(f"**{messages.plain(other.title)}**")
        attention_panel.lines(other, "attention-lines-2", can_mask, min_weight)
with notes:
    input_choice.say_cut(original, selection)
    gold_tree.show(original)
    if positions:
        maps = (services.attention(model, each.example, weights) for each in (original, changed))
        masked_words.masking(moved(*maps), whole, selection)
    if off is not None:
        masked_words.compared_guesses(whole, without, off)
    st.markdown("**All heads** on this input; click one to choose it")
    attention_panel.pictures(attention, selection)

pair = token_pair.heads(attention, selection)
guesses = {"": whole} | ({} if off is None else {attention_panel.names_of(off): without})
attention_panel.downloads(first, selection, pair, shape, guesses, product)
endnotes.about(
    r"A_{ij} = \operatorname{softmax}_j\!\left(\tfrac{q_i \cdot k_j}{\sqrt{d}}\right) \qquad "
    r"A^{\text{words}}_{uv} = \frac{1}{|u|} \sum_{i \in u} \sum_{j \in v} A_{ij}",
    "Figures 1 and 5. The darker a line, the more the token on the left attends to the one on the right. Attention to "
    "a word split into several pieces is summed over them, attention from it is averaged (section 4.1). If special "
    "tokens are hidden, each row's remaining weights are divided by their sum. With norms, a line is as dark as the "
    "share of what the token receives that comes from there (section 11 of the methods).",
    apply_view,
    section=10,
)
