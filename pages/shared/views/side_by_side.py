"""The second side of the attention viewer: another head, another model, or norms, on the same sentence."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from bertviz_core import exports
from bertviz_core.errors import BertvizError, DownloadNeeded
from bertviz_core.heads import Head
from bertviz_core.models.checkpoint import DEMO, Checkpoint
from bertviz_core.models.labels import Layout
from bertviz_core.models.model import AttentionModel
from bertviz_core.models.single_input import OneInput, mask
from bertviz_core.settings import Weights
from bertviz_core.viewer.view import InputAttention, InputView, apply_view
from pages.shared import messages, services
from pages.shared.frame import choices, header
from pages.shared.frame.selection import Selection, head_options, neighbor
from pages.shared.views import input_choice

ONE, HEADS, MODELS, WEIGHTS = KINDS = ("one head", "two heads", "two models", "weights and norms")


@dataclass(frozen=True)
class ViewerPane:
    """One of two drawings that stand side by side.

    Attributes:
        attention: What is drawn.
        head: The head that is drawn.
        title: What it is, in a few words.
        name: File name of saved drawings, without the suffix.
        original: The input as this side's model reads it.
        shown: The same with masks, unless it is shown as it was before masking.
        masked: Positions of masked tokens, from 0.
        same_tokens: Whether it has the tokens of the first side, so that pins and masks serve both.
    """

    attention: InputAttention
    head: Head
    title: str
    name: str
    original: OneInput
    shown: OneInput
    masked: Sequence[int]
    same_tokens: bool = True


def kind() -> str:
    """Draw the choice of what stands side by side."""
    return choices.selectbox("Side by side", KINDS, key="beside", default=ONE, width=180)


def first_title(kind: str, selection: Selection) -> str:
    """What is drawn on the first side, in the words of the second."""
    differing = {MODELS: f", {selection.checkpoint.label}", WEIGHTS: f", {selection.settings.weights}"}
    return f"Head {selection.label}{differing.get(kind, '')}"


def side(
    selection: Selection,
    model: AttentionModel,
    view: InputView,
    head: Head,
    title: str,
    original: OneInput,
    masked: Sequence[int] = (),
    *,
    before: bool = False,
) -> ViewerPane:
    """One head on one input, the tokens at `masked` positions masked or, where `before`, marked alone."""
    shown = mask(original, masked, model.tokens) if masked and not before else original
    weights = selection.settings.weights
    attention = _viewed_attention(model, shown, weights, view)
    name = exports.slug("attention", *["norms"] * (weights == "norms"), selection.checkpoint.label, head.label())
    return ViewerPane(attention, head, title, name, original, shown, masked)


def _viewed_attention(model: AttentionModel, shown: OneInput, weights: Weights, view: InputView) -> InputAttention:
    """What a view shows of one input; the last few are cached, and with them what `memoize` derives from them."""
    layout, which = shown.layout, (model.checkpoint.fingerprint(), str(model.encoder.dtype), weights, shown.digest())
    units = (layout.owner.tobytes(), layout.tokens.side.tobytes(), *layout.words.labels)
    return _viewed((*which, *units, repr(view)), layout, services.attention(model, shown.example, weights), view)


@st.cache_resource(max_entries=3, show_spinner=False)
def _viewed(key: tuple[Any, ...], _layout: Layout, _maps: np.ndarray, _view: InputView) -> InputAttention:
    return apply_view(_layout, _maps, _view)


def choose(
    panel: DeltaGenerator,
    kind: str,
    selection: Selection,
    model: AttentionModel,
    view: InputView,
    original: OneInput,
    masked: Sequence[int],
    *,
    before: bool,
) -> ViewerPane | None:
    """Draw the choices of one kind into a panel; None for one head alone, or where the other side cannot be shown."""
    head, title = selection.head, f"Head {selection.label}"
    try:
        with panel:
            if kind == HEADS:
                head = _head(selection.checkpoint, selection.head)
                title = f"Head {head.label(selection.base)}"
            elif kind == MODELS:
                return _other_model(selection, view, original, masked, before)
            elif kind == WEIGHTS:
                other: Weights = "attention" if selection.settings.weights == "norms" else "norms"
                selection = replace(selection, settings=replace(selection.settings, weights=other))
                title += f", {other}"
            else:
                return None
            return side(selection, model, view, head, title, original, masked, before=before)
    except DownloadNeeded:
        raise
    except BertvizError as problem:
        messages.error(problem)
        return None


def _other_model(
    selection: Selection, view: InputView, original: OneInput, masked: Sequence[int], before: bool
) -> ViewerPane:
    known = [*st.session_state.get("models", [DEMO])]
    checkpoint, _ = header.pick_model("Other model", known, key="model2", default=known[0], width=280)
    selection.settings.check(checkpoint.max_length)
    head = _head(checkpoint, selection.head)
    model = services.model(checkpoint, selection.settings.dtype)
    there = replace(selection, checkpoint=checkpoint)
    other = input_choice.read(there, model)
    same = other.layout.tokens.labels == original.layout.tokens.labels
    positions = [position for position in masked if other.can_mask(position, model.tokens)] if same else []
    if not same:
        st.caption("This model reads other tokens: pins and masks of one side do not apply to the other.")
    title = f"Head {head.label(selection.base)}, {checkpoint.label}"
    return replace(side(there, model, view, head, title, other, positions, before=before), same_tokens=same)


def _head(checkpoint: Checkpoint, first: Head) -> Head:
    """The second head: the one after the first, until another is chosen."""
    options = head_options(checkpoint)
    after = neighbor(first.label(), options)
    chosen = choices.selectbox("Second head", options, key="head2", default=after, follows=True, width=120)
    return Head.parse(chosen)
