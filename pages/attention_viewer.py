"""Attention viewer: one head on one input, token by token (Figures 1 and 5)."""

from functools import partial

import streamlit as st

from bertviz_core.heads import all_heads
from bertviz_core.models.single_input import mask, predict
from bertviz_core.viewer import figure
from bertviz_core.viewer.input_attention import SIDES, InputView, apply_view, attention_shift
from pages.shared import endnotes, page, services, widgets
from pages.shared.messages import plain
from pages.shared.state import session
from pages.shared.state.choices import AttentionViewerChoices
from pages.shared.views import viewer_heads, viewer_input, viewer_next, viewer_panes, viewer_window

selection = session.selection()
chosen = session.page(AttentionViewerChoices)
model = services.model(selection.checkpoint, selection.settings.dtype)
input_row = page.controls(key="input-choice")
controls, options = page.with_options(page.row("center", key="view-controls"))
with input_row:
    original = viewer_input.choose(selection, model, options)

can_mask = model.tokens.mask is not None and not model.causal  # a decoder guesses next words, whatever its tokens are
marked = viewer_input.masked(chosen) if can_mask else []
positions = [position for position in marked if original.can_mask(position, model.tokens)]
masked = mask(original, positions, model.tokens) if positions else original
sides = chosen.sides if chosen.sides in SIDES and original.layout.two_sides else "all"

if options.open:
    with options:
        if original.layout.two_sides:
            widgets.select("Segments", list(SIDES), "sides", sides)
        widgets.slider("Minimum weight", "least", chosen.least, 0.01)
        about = "The remaining weights are rescaled to sum to 1."
        widgets.toggle("Hide special tokens", "hide", chosen.hide, help=about)
        if model.causal:
            about = "Many heads of a decoder attend to it whatever it is. " + about
            widgets.toggle("Hide the first token", "skip", chosen.skip, help=about)
with controls:
    shapes = ["lines", "heatmap", "table", viewer_heads.QUERY_KEY]
    shape = widgets.segmented("Show", shapes, "shape", chosen.shape, label_visibility="collapsed")
    # Between tokens, of the whole input.
    is_wide = shape == viewer_heads.QUERY_KEY
    units = "tokens"
    if not is_wide:
        between = ["tokens", "words"]
        units = widgets.segmented("Between", between, "units", chosen.units, label_visibility="collapsed")
    query_controls = page.row("center", width="content")
    compare = widgets.popover("Compare", ":material/compare:", "compare")
    if compare.open and shape == "lines":
        with compare:
            # It would cover the second drawing.
            close = partial(widgets.close, "compare")
            widgets.select("Side by side", viewer_panes.KINDS, "beside", chosen.beside, width=180, on_change=close)
    with compare:
        ablated = viewer_heads.choose_ablated(chosen, selection, model, bool(compare.open))

window, found = viewer_window.choose(chosen, original.layout)
is_alone = shape != "lines" or chosen.beside == viewer_panes.ONE
if is_alone:
    summary = panel = st.container()
else:  # The choices of the second drawing stand over it.
    summary, panel = st.columns(2, gap="medium", vertical_alignment="center")
if is_wide:
    left, right = st.container(), st.container(width=460)
else:
    left, right = st.columns([3, 2] if is_alone else 2, gap="medium")
# Beside the drawing, not above it.
notes = right if is_alone else st.container()
shown = masked
if positions:
    with notes.container(horizontal=True, vertical_alignment="center"):
        if widgets.toggle("Before masking", "before", chosen.before):
            shown = original
        st.button("Unmask all", on_click=session.choose, kwargs={"mask": ""}, icon=":material/undo:")
view = InputView(
    words=units == "words",
    special=not chosen.hide,
    sides=sides,
    first_piece=selection.settings.paper,
    first=not (chosen.skip and model.causal),
)
pins = viewer_input.pins(chosen, original)
part = None if window.is_whole else window
first = viewer_panes.Pane(selection, model, view, original, shown, positions, pins, part, found)
with summary:
    viewer_panes.draw_summary(first, chosen.least if shape == "lines" else 0)
if not first.attention.weights.size:
    raise session.PageEnd

second = None
if not is_alone:
    panel = panel.container(horizontal=True, vertical_alignment="center")
    second = viewer_panes.second_pane(first, chosen, panel)
    if second is not None and chosen.beside == viewer_panes.WEIGHTS:
        panel.caption(f"**{plain(second.title)}**")  # Of others their boxes say it.
products = None
# Without a gap a title takes little room.
with left.container(gap=None):
    if shape == "lines":
        with compare:
            overlaid = viewer_heads.choose_overlaid(chosen, selection, bool(compare.open)) if is_alone else []
        viewer_panes.draw_lines(first, "attention-lines", can_mask, chosen.least, overlaid)
    elif shape == "heatmap":
        alt = f"Attention of head {selection.label}, from each row's token to each column's"
        page.chart(figure.heatmap(first.drawn, selection.head), "attention-heatmap", alt, selection.basis)
    elif is_wide:
        products = viewer_heads.draw_query_key(first, query_controls)
    else:
        viewer_panes.draw_table(first)
with right.container(gap=None):
    if second is not None:
        field = "head2" if chosen.beside == viewer_panes.HEADS else "head"
        viewer_panes.draw_lines(second, "attention-lines-2", can_mask, chosen.least, field=field)
guesses = {"": predict(model, original, masked)}
if ablated is not None:
    names = [head.key() for head in all_heads(*ablated.shape) if ablated[head]]
    guesses[" ".join(names)] = predict(model, original, masked, ablated)
shift = None
with notes:
    viewer_input.warn_of_cut(original, selection)
    viewer_input.draw_notices(original, model)
    if positions:
        weights = selection.settings.weights
        before, after = (services.attention(model, each.example, weights) for each in (original, masked))
        shift = attention_shift(before, after)
        viewer_heads.draw_shift(shift, selection)
    following = viewer_next.choose(first)
    if (positions or ablated is not None) and following is None:
        viewer_heads.draw_guesses(guesses, can_mask=can_mask)
    st.markdown("**All heads** on this input; click one to choose it")
    viewer_panes.draw_pictures(first)

written = None if following is None else viewer_next.draw(first, following, ablated)
pair = viewer_heads.draw_token_pair(first)
viewer_panes.offer_downloads(
    first,
    pair,
    guesses,
    products,
    beside=second,
    shift=shift,
    next_token=written,
    as_lines=shape == "lines",
)
endnotes.about(apply_view)
