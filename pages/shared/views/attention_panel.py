"""The parts of the attention viewer: the claim, the lines, the plain table, what masks and switched heads change, and
the downloads."""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from bertviz_core.analyses.behaviors import Thresholds
from bertviz_core.analyses.results import to_csv
from bertviz_core.heads import all_heads
from bertviz_core.models.model import AttentionModel
from bertviz_core.models.single_input import OneInput, Prediction
from bertviz_core.plotting.head_map import HeadMap, picture_map
from bertviz_core.plotting.style import OVERLAY
from bertviz_core.viewer.files import FOLDER, input_html, input_origin, overlay, pack, sides
from bertviz_core.viewer.query_key import QueryKey
from bertviz_core.viewer.view import (
    InputAttention,
    InputView,
    ablated_heads,
    predictions_frame,
    shorten,
    switches,
    thumbnails,
)
from pages.shared import files, head_panel, page, preview, stored
from pages.shared.components import component
from pages.shared.frame import address, choices
from pages.shared.frame.selection import Selection
from pages.shared.memoize import memoize
from pages.shared.messages import plain
from pages.shared.views import input_choice, token_pair
from pages.shared.views.side_by_side import ViewerPane

Overlaid = dict[str, str]  # what `overlay` packs of a head


def claim(attention: InputAttention, selection: Selection, view: InputView, min_weight: float) -> None:
    """What this head does with this input, in one sentence; also says if no weight reaches `min_weight`."""
    weights = attention.weights[selection.head]
    if not weights.size:
        st.markdown("**No attention to show.**")
        return
    what, rest = selection.settings.weights, ""
    if view.sides != "all":
        here, there = view.sides.split(" to ")
        rest = f"; it sends {weights.sum(1).mean():.0%} of segment {here}'s {what} to segment {there}"
    elif attention.keys.special.any():
        rest = f"; {weights[:, attention.keys.special].sum(1).mean():.1%} of its {what} goes to special tokens"
    query, key = attention.strongest_pair(selection.head)
    ends = [plain(shorten(label)) for label in (attention.queries.labels[query], attention.keys.labels[key])]
    most = f"attends most strongly from “{ends[0]}” to “{ends[1]}” ({weights[query, key]:.2f})"
    none = "" if weights.max() >= min_weight else f" No weight reaches {min_weight:.2f}, so no lines are drawn."
    st.markdown(f"**Head {selection.label} {most}{rest}.**{none}")


def lines(side: ViewerPane, key: str, can_mask: bool, min_weight: float, overlaid: Sequence[Overlaid] = ()) -> None:
    """The drawing of one side, whose head's matrix travels, or those of the heads `overlaid`. Pins and masks go to the
    address: one on one side is on the other too, where it has the same tokens."""

    def pinned() -> None:
        pins = st.session_state[key]["pins"]
        if pins is not None and side.same_tokens:
            address.put("pin", ",".join(pins))
            address.put("dependents", "")
            token_pair.follow_pins()

    data = sides(side.attention, side.masked) | {
        "weights": pack(side.attention.weights[side.head]),
        "overlay": overlaid,
        "minWeight": min_weight,
        "title": side.title,
        "name": side.name,
        "text": side.original.digest(),  # with another text the reader's pins give way to those of the address
        "pins": input_choice.pins(address.get("pin")) if side.same_tokens else [],
        "canMask": can_mask and side.same_tokens,
    }
    draw = component("attention_lines", FOLDER)
    draw(data=data, key=key, on_pins_change=pinned, on_mask_change=lambda: _mask(side.original, side.attention, key))


def pictures(attention: InputAttention, selection: Selection) -> None:
    """Small pictures of all heads, each of which chooses its head."""
    alt = "A small picture of every head's attention, layer by head"
    drawing, lines = memoize(_small_pictures, attention, selection.base), memoize(preview.of_input, attention)
    page.head_map(drawing, "attention-heads", alt, selection, lines=lines, own=False)


def _small_pictures(attention: InputAttention, base: int) -> HeadMap:
    return picture_map(thumbnails(attention.weights), base)


def table(attention: InputAttention, selection: Selection) -> None:
    """The three largest weights of each token, as a plain table for screen readers."""
    weights = attention.weights[selection.head]
    rows = []
    for query, label in enumerate(attention.queries.labels):
        row = {"position": attention.queries.start[query] + 1, "from": plain(shorten(label))}
        for rank, key in enumerate(np.argsort(-weights[query], kind="stable")[:3], start=1):
            row[f"to, {rank}"] = f"{plain(shorten(attention.keys.labels[key]))} {weights[query, key]:.3f}"
        rows.append(row)
    st.table(rows, hide_index=True, alt=f"The three tokens to which each token attends most in head {selection.label}")


def choose_masked(container: DeltaGenerator) -> bool:
    """Draw the choice to see the input as it was, and the way back to it."""
    with container.container(horizontal=True, vertical_alignment="center"):
        before = choices.toggle("Before masking", key="before")
        st.button("Unmask all", on_click=input_choice.forget_masks, icon=":material/undo:")
    return before


def choose_overlaid(attention: InputAttention, selection: Selection, model: AttentionModel) -> list[Overlaid]:
    """Draw the choice of the heads that are drawn over the chosen one, each in its color; [] for none."""
    chosen = _choose_heads(
        "Heads overlaid in color",
        "overlay",
        selection,
        model,
        f"Counted from 1. They are drawn over the chosen head; at most {len(OVERLAY)} heads in all.",
    )
    if chosen is None:
        return []
    heads = [head for head in all_heads(*chosen.shape) if chosen[head] and head != selection.head]
    if len(heads) >= len(OVERLAY):
        st.caption(f"The first {len(OVERLAY) - 1} of {len(heads)} heads are drawn over head {selection.label}.")
    return overlay(attention, [selection.head, *heads], selection.base) if heads else []


def choose_switched_off(selection: Selection, model: AttentionModel) -> np.ndarray | None:
    """Draw the choice; (layer, head) bool, or None where no head is switched off, or none can be."""
    if model.language_model is None or not model.observable:
        return None
    return _choose_heads(
        "Heads switched off",
        "off",
        selection,
        model,
        "Counted from 1. Their outputs are replaced by zeros; the guesses for masked words without them stand "
        "beside those of the whole model. Lines and pictures stay those of the whole model.",
    )


def _choose_heads(label: str, key: str, selection: Selection, model: AttentionModel, about: str) -> np.ndarray | None:
    """(layer, head) bool of the heads, layers and behaviors chosen together; None for none."""
    labels = memoize(head_panel.labels_of, stored.results(selection), Thresholds())
    named = memoize(switches, model.layers, model.heads, labels)
    look: dict[str, Any] = {"placeholder": "Heads, layers or behaviors", "help": about}
    return ablated_heads(choices.multiselect(label, list(named), key=key, default=[], **look), named)


def names_of(off: np.ndarray) -> str:
    """The heads that are switched off, as "3-5 4-1"."""
    return " ".join(head.label() for head in all_heads(*off.shape) if off[head])


def downloads(
    side: ViewerPane,
    selection: Selection,
    pair: tuple[int, int],
    shape: str,
    guesses: Mapping[str, Sequence[Prediction]],
    product: tuple[QueryKey, int] | None = None,
) -> None:
    """Offer the shown head as CSV, every head as HTML and safetensors, all heads from the one to the other of a `pair`
    (query, key) as CSV, and the guesses for masked words; lines, one `shape` of the drawing, have buttons of their own.

    Args:
        guesses: Heads switched off, empty for the whole model -> the predictions.
        product: What makes the weights of the token at a position, where that is shown.
    """
    attention, head, digest = side.attention, side.head, side.shown.digest()
    about = input_origin(selection.checkpoint, selection.settings, digest)
    name = f"{side.name}-{digest[:8]}"
    masked = {"CSV: guesses": (f"{name}.guesses.csv", lambda: to_csv(predictions_frame(guesses).assign(**about)))}
    products = {}
    if product is not None:
        (query_key, position), tokens = product, side.shown.layout.tokens
        build = partial(query_key.to_csv, tokens, position, {"head": head.label(), **about})
        products = {"CSV: query × key": (f"{name}.query-key.csv", build)}
    files.offer(
        {
            "CSV": (f"{name}.csv", lambda: attention.to_csv(head, {"head": head.label(), **about})),
            "CSV: heads": (f"{name}.heads.csv", lambda: attention.pair_to_csv(*pair, about)),
            "HTML": (f"{name}.html", lambda: input_html(attention, head, about)),
            "safetensors": (f"{name}.safetensors", lambda: attention.to_safetensors(about)),
        }
        | (masked if any(guesses.values()) else {})
        | products
    )
    pictures = " SVG and PNG: the buttons below the lines." if shape == "lines" else ""
    asked = "; guesses: what the model expects of masked words" * any(guesses.values())
    st.caption(
        f"CSV: this head, as shown; heads: all heads from one token to the other{asked}. "
        "HTML: the lines of every head, to hover over. safetensors: every head." + pictures
    )


def _mask(original: OneInput, attention: InputAttention, key: str) -> None:
    """Mask the unit that begins at a position, every piece of it, or give it back."""
    start = st.session_state[key]["mask"]
    if start is None:
        return
    owner = original.layout.owner
    words = attention.queries.start is original.layout.words.start
    unit = set(np.flatnonzero(owner == owner[start]).tolist()) if words else {start}
    now = set(input_choice.masked(address.get("mask")))
    address.put("mask", input_choice.to_mask(now - unit if unit <= now else now | unit))
