"""Attention viewer: one head on one input, token by token (Figures 1 and 5)."""

import streamlit as st

from bertviz_core.models.single_input import mask, predict
from bertviz_core.viewer import SIDES, InputView, apply_view, attention_shift
from bertviz_core.viewer.figure import heatmap
from pages.shared import endnotes, page, services
from pages.shared.frame import address, choices, header
from pages.shared.messages import plain
from pages.shared.views import viewer_heads, viewer_input, viewer_panes

selection = header.current()
model = services.model(selection.checkpoint, selection.settings.dtype)
line = st.container(horizontal=True, vertical_alignment="bottom", key="input-choice")
often, options = page.controls()
with line:
    original = viewer_input.choose(selection, model, options)

can_mask = model.tokens.mask is not None
positions = [position for position in viewer_input.masked() if original.can_mask(position, model.tokens)]
changed = mask(original, positions, model.tokens) if positions else original

with options:
    sides = "all"
    if original.layout.two_sides:
        sides = choices.selectbox("Segments", list(SIDES), key="sides", default="all")
    min_weight = choices.slider("Minimum weight", 0.0, 0.5, 0.02, 0.01, key="least")
    hidden = choices.toggle("Hide special tokens", key="hide", help="The remaining weights are rescaled to sum to 1.")
with often.container(horizontal=True, vertical_alignment="bottom", key="input-choice-view"):
    shapes = ["lines", "heatmap", "table", viewer_heads.QUERY_KEY]
    shape = choices.segmented("Show", shapes, key="as", default="lines")
    wide = shape == viewer_heads.QUERY_KEY  # between tokens, of the whole input
    units = "tokens" if wide else choices.segmented("Between", ["tokens", "words"], key="units", default="tokens")
    asked = st.container(horizontal=True, vertical_alignment="center", width="content")
    with (compare := st.popover("Compare", icon=":material/compare:", key="compare", on_change="rerun")):
        together = viewer_panes.ONE
        if shape == "lines":
            together = choices.selectbox("Side by side", viewer_panes.KINDS, key="beside", default=together, width=180)
        off = viewer_heads.choose_switched_off(selection, model)

summary = st.container()
alone = together == viewer_panes.ONE
left, right = (st.container(), st.container()) if wide else st.columns([3, 2] if alone else 2, gap="medium")
notes = right if alone else st.container()  # what is said of the input stands beside the drawing, not above it
before = False
if positions:
    with notes.container(horizontal=True, vertical_alignment="center"):
        before = choices.toggle("Before masking", key="before")
        st.button("Unmask all", on_click=address.put, args=("mask", ""), icon=":material/undo:")
view = InputView(units == "words", not hidden, sides, selection.settings.paper)
viewer_input.pin_dependents(original)
first = viewer_panes.pane(selection, model, view, original, positions, before=before)
with summary:
    viewer_panes.claim(first, view, min_weight if shape == "lines" else 0)
if not first.attention.weights.size:
    raise address.PageEnd

other = viewer_panes.second(compare, together, first, model, view, before=before)
products = None
with left.container(gap=None):  # a title takes little room
    if other is not None:
        st.caption(f"**{plain(first.title)}**")
    if shape == "lines":
        with compare:
            overlaid = viewer_heads.choose_overlaid(selection, model) if alone else []
        viewer_panes.lines(first, "attention-lines", can_mask, min_weight, overlaid)
    elif shape == "heatmap":
        alt = f"Attention of head {selection.label}, from each row's token to each column's"
        page.chart(heatmap(first.attention, selection.head), "attention-heatmap", alt)
    elif wide:
        products = viewer_heads.query_key(model, first, asked)
    else:
        viewer_panes.table(first)
with right.container(gap=None):
    if other is not None:
        st.caption(f"**{plain(other.title)}**")
        viewer_panes.lines(other, "attention-lines-2", can_mask, min_weight)
whole = predict(model, original, changed)
without = predict(model, original, changed, off) if off is not None else ()
with notes:
    viewer_input.say_cut(original, selection)
    if positions:
        weights = selection.settings.weights
        maps = (services.attention(model, each.example, weights) for each in (original, changed))
        viewer_heads.moved_by_masking(attention_shift(*maps), selection)
    if positions or off is not None:
        viewer_heads.guesses(whole, without, off)
    st.markdown("**All heads** on this input; click one to choose it")
    viewer_panes.pictures(first)

pair = viewer_heads.token_pair(first)
viewer_panes.downloads(first, pair, whole, without, off, products, as_lines=shape == "lines")
endnotes.about(
    r"A_{ij} = \operatorname{softmax}_j\!\left(\tfrac{q_i \cdot k_j}{\sqrt{d}}\right) \qquad "
    r"A^{\text{words}}_{uv} = \frac{1}{|u|} \sum_{i \in u} \sum_{j \in v} A_{ij}",
    "Figures 1 and 5. The stronger a line, the more the token on the left attends to the one on the right. Attention "
    "to a word split into several pieces is summed over them, attention from it is averaged (section 4.1). If special "
    "tokens are hidden, each row's remaining weights are divided by their sum. With norms, a line is as strong as "
    "the share of what the token receives that comes from there (section 11 of the methods).",
    apply_view,
)
