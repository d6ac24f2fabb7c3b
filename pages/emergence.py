"""Emergence: how the heads' behaviors develop during training, checkpoint by checkpoint."""

from dataclasses import replace

import streamlit as st

from bertviz_core.emergence import page_blocks
from bertviz_core.emergence.result import MAX_RELATIONS, Emergence
from bertviz_core.heads import all_heads
from pages.shared import blocks, endnotes, page, preview, stored, widgets
from pages.shared.components import component
from pages.shared.frame import header
from pages.shared.memoize import built
from pages.shared.messages import plain
from pages.shared.state import session
from pages.shared.state.choices import EmergenceChoices
from pages.shared.state.selection import Basis
from pages.shared.views import emergence_view

PLAYER = "emergence-player"  # key of the component


@session.fragment
def draw_step() -> None:
    """The slider, and what moves with it: the player's frames run this part of the page alone."""
    # A click on the map has chosen a head, which the picker is to follow.
    if session.current().header.head not in (None, selection.head):
        st.rerun()
    with st.container(gap="xsmall"):  # The gap is that of the page; a fragment's own container has wider gaps.
        index = choose_step() if len(result.steps) > 1 else 0
        if model := models.get(int(result.steps[index])):
            preview.of(replace(selection, checkpoint=model))  # measured unless it is stored
        blocks.draw([built(page_blocks.step_blocks, result, index)])


def choose_step() -> int:
    """Draw the slider and the player that moves it; the address follows when the player stops. Returns the index."""
    steps = result.steps.tolist()
    now = session.current()
    step = now.playing if now.playing in steps else session.page(EmergenceChoices).resolve(result).step
    index = steps.index(step)

    def play() -> None:
        at = widgets.received(PLAYER, "at")
        if at is None:
            return
        reached = steps[at["index"]]
        now.playing = reached if at["playing"] else None
        if not at["playing"]:
            session.choose(step=reached)

    def stop() -> None:
        now.playing = None

    with page.row():
        shown = "{:,}".format
        widgets.select_slider("Training step", steps, "step", step, format_func=shown, on_change=stop)
        component("player")(data={"at": index, "last": len(steps) - 1}, key=PLAYER, on_at_change=play, width="content")
    return index


@session.fragment
def draw_relations() -> None:
    """Chosen relations over the training; the slider does not redraw them."""
    page.heading(page_blocks.RELATIONS, nested=True)
    chosen = session.page(EmergenceChoices).resolve(result)
    options = {"max_selections": MAX_RELATIONS, "label_visibility": "collapsed"}
    names = widgets.multiselect("Relations", result.relations, "relations", chosen.relations or (), **options)
    blocks.draw(page_blocks.relation_blocks(result, names))


def reported() -> Emergence:
    """The training with what the page shows of it."""
    chosen = current.of_page(EmergenceChoices).resolve(result)
    head = selection.head.key() if selection.head in all_heads(*result.shape) else None
    return result.on(chosen.step, chosen.relations, head)


selection = session.selection()
with header.title_line():
    name = emergence_view.choose_training()
result, models = emergence_view.result_or_stop(name, selection)
current = session.current()  # its step and relations may change without the rest of the page
selection = session.rebase(Basis(*page_blocks.basis(result)))
stored.warn([result])
blocks.draw(built(page_blocks.opening_blocks, result))
draw_step()
st.caption(plain(page_blocks.basis_note(result)))
draw_relations()
blocks.draw(built(page_blocks.whole_blocks, result, selection.head))
page.downloads(result, reported)
endnotes.ending(result, Emergence.followed)
