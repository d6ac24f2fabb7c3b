"""Attention viewer: one head on one input, token by token (Figures 1 and 5)."""

import streamlit as st

from bertviz_core.heads import all_heads
from bertviz_core.models.single_input import mask, predict
from bertviz_core.viewer import SIDES, InputView, apply_view, attention_shift, figure
from pages.shared import endnotes, page, services
from pages.shared.frame import address, choices, header
from pages.shared.messages import plain
from pages.shared.views import viewer_heads, viewer_input, viewer_panes

selection = header.current()
model = services.model(selection.checkpoint, selection.settings.dtype)
input_row = page.row(key="input-choice")
controls, options = page.controls()
with input_row:
    original = viewer_input.choose(selection, model, options)

can_mask = model.tokens.mask is not None
positions = [position for position in viewer_input.masked() if original.can_mask(position, model.tokens)]
masked = mask(original, positions, model.tokens) if positions else original

with options:
    sides = "all"
    if original.layout.two_sides:
        sides = choices.selectbox("Segments", list(SIDES), key="sides", default="all")
    min_weight = choices.slider("Minimum weight", 0.0, 0.5, 0.02, 0.01, key="least")
    hidden = choices.toggle("Hide special tokens", key="hide", help="The remaining weights are rescaled to sum to 1.")
with controls.container(horizontal=True, vertical_alignment="bottom"):
    shapes = ["lines", "heatmap", "table", viewer_heads.QUERY_KEY]
    shape = choices.segmented("Show", shapes, key="as", default="lines", label_visibility="collapsed")
    # Between tokens, of the whole input.
    is_wide = shape == viewer_heads.QUERY_KEY
    units = "tokens"
    if not is_wide:
        between = ["tokens", "words"]
        units = choices.segmented("Between", between, key="units", default=units, label_visibility="collapsed")
    query_controls = page.row("center", width="content")
    compare = st.popover("Compare", icon=":material/compare:", key="compare", on_change="rerun")
    with compare:
        kind = viewer_panes.ONE
        if shape == "lines":
            kind = choices.selectbox("Side by side", viewer_panes.KINDS, key="beside", default=kind, width=180)
        ablated = viewer_heads.choose_ablated(selection, model)

summary = st.container()
is_alone = kind == viewer_panes.ONE
if is_wide:
    left, right = st.container(), st.container()
else:
    left, right = st.columns([3, 2] if is_alone else 2, gap="medium")
# Beside the drawing, not above it.
notes = right if is_alone else st.container()
shown = masked
if positions:
    with notes.container(horizontal=True, vertical_alignment="center"):
        if choices.toggle("Before masking", key="before"):
            shown = original
        st.button("Unmask all", on_click=address.put, args=("mask", ""), icon=":material/undo:")
view = InputView(units == "words", not hidden, sides, selection.settings.paper)
viewer_input.pin_dependents(original)
first = viewer_panes.Pane(selection, model, view, original, shown, positions)
with summary:
    viewer_panes.draw_summary(first, min_weight if shape == "lines" else 0)
if not first.attention.weights.size:
    raise address.PageEnd

second = viewer_panes.choose_second(compare, kind, first)
products = None
# Without a gap a title takes little room.
with left.container(gap=None):
    if second is not None:
        st.caption(f"**{plain(first.title)}**")
    if shape == "lines":
        with compare:
            overlaid = viewer_heads.choose_overlaid(selection) if is_alone else []
        viewer_panes.draw_lines(first, "attention-lines", can_mask, min_weight, overlaid)
    elif shape == "heatmap":
        alt = f"Attention of head {selection.label}, from each row's token to each column's"
        page.chart(figure.heatmap(first.attention, selection.head), "attention-heatmap", alt)
    elif is_wide:
        products = viewer_heads.draw_query_key(first, query_controls)
    else:
        viewer_panes.draw_table(first)
with right.container(gap=None):
    if second is not None:
        st.caption(f"**{plain(second.title)}**")
        viewer_panes.draw_lines(second, "attention-lines-2", can_mask, min_weight)
guesses = {"": predict(model, original, masked)}
if ablated is not None:
    names = [head.label() for head in all_heads(*ablated.shape) if ablated[head]]
    guesses[" ".join(names)] = predict(model, original, masked, ablated)
with notes:
    viewer_input.warn_of_cut(original, selection)
    if positions:
        weights = selection.settings.weights
        before, after = (services.attention(model, each.example, weights) for each in (original, masked))
        viewer_heads.draw_shift(attention_shift(before, after), selection)
    if positions or ablated is not None:
        viewer_heads.draw_guesses(guesses)
    st.markdown("**All heads** on this input; click one to choose it")
    viewer_panes.draw_pictures(first)

pair = viewer_heads.draw_token_pair(first)
viewer_panes.offer_downloads(first, pair, guesses, products, as_lines=shape == "lines")
endnotes.about(apply_view)
