"""Emergence: the slider over the training and what moves with it; relations, the chosen head and the table, which no
step changes."""

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import streamlit as st

from bertviz_core.analyses.behaviors import UNTRAINED, with_behavior
from bertviz_core.analyses.registry import label
from bertviz_core.corpora.treebank import UAS
from bertviz_core.emergence import Emergence
from bertviz_core.emergence.figure import columns, course_figure, head_figure, relations_figure
from bertviz_core.heads import all_heads
from bertviz_core.models.checkpoint import Checkpoint
from bertviz_core.overview import behavior_counts
from bertviz_core.overview.summary import behavior_map
from bertviz_core.plotting import BEHAVIORS
from bertviz_core.plotting.head_map import HeadMap
from pages.shared import page, preview
from pages.shared.components import component
from pages.shared.frame import Selection, address, choices
from pages.shared.memoize import memoize
from pages.shared.page import Metric

PLAYER, PLAYING = "emergence-player", "emergence plays"  # of the session
STEP = "at_step"  # of the address and of the session; `step` is the tour's
MAX_RELATIONS = 6


@address.fragment
def explore(result: Emergence, labels: np.ndarray, models: Mapping[int, Checkpoint], selection: Selection) -> None:
    """The slider, and what moves with it: a move, or a frame of the player, runs this part of the page alone. `labels`
    (step, layer, head) are names of behaviors, `models` those of steps that are on this machine."""
    if st.session_state["head"] != selection.head.label():  # a click on the map: the picker is to follow
        st.rerun()
    index = choose_step(result) if len(result.steps) > 1 else 0
    left, middle, right = st.columns([4, 6, 3], gap="small")
    with left:
        st.markdown("**Head map**: what each head does")
        model, alt = models.get(int(result.steps[index])), "Map of all heads, layer by head: what each head does"
        lines = preview.of(replace(selection, checkpoint=model)) if model else b""
        drawing = memoize(map_at, result, labels, index, selection.base)
        page.head_map(drawing, "emergence-map", alt, selection, lines=lines, height=370)
    with middle:
        alt = f"The {result.loss_name}, and the number of heads with each behavior, over the training"
        page.chart(page.drawn(course_figure, result, labels, index), "course-figure", alt)
    with right.container(key="tiles", gap="xsmall"):
        for title, here, beside in _numbers(result, labels[index], index):
            st.metric(title, here, beside, delta_color="off", delta_arrow="off", border=True)


def choose_step(result: Emergence) -> int:
    """Draw the slider and the player that moves it; the address follows when the player stops."""
    steps = result.steps.tolist()

    def play() -> None:
        at = st.session_state[PLAYER]["at"]
        if at is not None:
            st.session_state[STEP], st.session_state[PLAYING] = steps[at["index"]], at["playing"]

    with st.container(horizontal=True, vertical_alignment="bottom"):
        step = choices.select_slider("Training step", steps, key=STEP, default=steps[-1], format_func="{:,}".format)
        index = steps.index(step)
        data = {"at": index, "last": len(steps) - 1}
        component("player")(data=data, key=PLAYER, on_at_change=play, width="content")
    if st.session_state.get(PLAYING) and not address.current().is_running:  # the history is for the reader's own steps
        address.current().drawn.pop(STEP)
    return index


def map_at(result: Emergence, labels: np.ndarray, index: int, base: int) -> HeadMap:
    """The map of all heads by what they do at one step. The legend has what heads do at any step."""
    return behavior_map(labels[index], columns(result, index), result.linguistic(index), base, behavior_counts(labels))


def _numbers(result: Emergence, labels: np.ndarray, index: int) -> list[Metric]:
    """Of one step, for the tiles beside the map; labels: (layer, head)."""
    entries = [("Training step", f"{result.steps[index]:,}", f"of {result.steps[-1]:,}")]
    if not np.isnan(result.loss[index]):
        accuracy = f"{result.masked_accuracy[index]:.1%} accuracy"
        entries.append((result.loss_name.capitalize(), f"{result.loss[index]:.2f} nats", accuracy))
    rest = ", ".join(f"{int((labels == name).sum())} {name}" for name in UNTRAINED)
    entries.append(("Heads with a behavior", f"{with_behavior(labels)} of {labels.size}", f"and {rest}"))
    return [*entries, ("UAS of the best head", result.uas(index), f"best fixed offset: {result.uas()}")]


@address.fragment
def relations(result: Emergence, selection: Selection) -> None:
    """Chosen relations over the training; the slider does not redraw them."""
    st.markdown(
        "**Relations**: the best head and the best fixed offset. The best head of a step is selected on the words on "
        "which it is scored; the dotted line follows the head that is best at the end."
    )
    default = [*result.clearest_relations(MAX_RELATIONS - 1), UAS]
    look = {"max_selections": MAX_RELATIONS, "label_visibility": "collapsed"}
    chosen = choices.multiselect("Relations", result.relations, key="relations_of", default=default, **look)
    if chosen:
        figure = page.drawn(relations_figure, result, tuple(chosen), selection.base)
        alt = "For each relation the accuracy of the best head and of the best fixed offset over the training"
        page.chart(figure, "emergence-relations-figure", alt)


def one_head(result: Emergence, selection: Selection) -> None:
    """The chosen head over the training, or why there is none."""
    layers, heads = result.shape
    if selection.head not in all_heads(layers, heads):  # the chosen one is another model's
        st.caption(
            f"Head {selection.label} is not one of this training's {layers} × {heads} heads. To browse them, choose "
            "one of its checkpoints as the model under the title."
        )
        return
    st.markdown(f"**Head {selection.label}** over the training")
    alt = f"Average attention and entropy of head {selection.label} over the training"
    page.chart(page.drawn(head_figure, result, selection.head), "emergence-head", alt)


def table(result: Emergence) -> None:
    """The emergence as a table, a row for each step, to which a click moves the slider."""
    frame, loss = memoize(Emergence.to_frame, result), result.loss_name
    titles = {"loss": f"{loss}, nats", "masked_right": loss.replace("-word loss", " words right")}
    titles |= {name: f"mean {label(name)}" for name in result.quantities}
    titles |= {f"{name}_heads": f"{behavior[-1]}, heads" for name, behavior in BEHAVIORS.items()}
    for name in result.relations:
        titles |= {f"{name}_heldout": f"{name}, held out", f"{name}_offset": f"{name}, fixed offset"}
    config = {
        column: st.column_config.NumberColumn(
            titles.get(column, column), format="%.3f" if values.dtype.kind == "f" else "localized"
        )
        for column, values in frame.items()
    }

    def choose(row: int) -> None:
        st.session_state[STEP] = int(result.steps[row])

    page.clickable_table(frame, "emergence-table", choose, "A row for each step of the training", column_config=config)
