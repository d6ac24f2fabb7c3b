"""Heads that the reader switches off in the attention viewer, and the guesses for masked words without them."""

from __future__ import annotations

from math import log

import numpy as np
import streamlit as st

from bertviz_core.analyses.behaviors import Thresholds
from bertviz_core.models.model import AttentionModel
from bertviz_core.models.predictions import Prediction
from bertviz_core.models.single_input import OneInput
from bertviz_core.viewer.switches import switched_off, switches
from bertviz_core.viewer.view import shorten
from pages.shared import head_panel, services, stored
from pages.shared.boxes import plain
from pages.shared.derived import derived
from pages.shared.frame import choices
from pages.shared.frame.selection import Selection
from pages.shared.views.attention_panel import quoted

GUESSES = 3
TINY = 1e-38  # in place of a probability that has no logarithm


def choose(selection: Selection, model: AttentionModel) -> np.ndarray | None:
    """Draw the choice; (layer, head) bool, or None where no head is switched off, or none can be."""
    if model.masked_lm is None or not model.observable:
        return None
    labels = derived(head_panel.labels_of, stored.results("attention_viewer", selection), Thresholds())
    named = switches(model.layers, model.heads, labels)
    chosen = choices.multiselect(
        "Heads switched off",
        list(named),
        key="off",
        default=[],
        placeholder="Heads, layers or behaviors",
        help="Counted from 1. Their outputs are replaced by zeros; the guesses for masked words without them stand "
        "beside those of the whole model. Lines and pictures stay those of the whole model.",
    )
    return switched_off(chosen, named)


def guesses(model: AttentionModel, original: OneInput, masked: OneInput, off: np.ndarray) -> None:
    """What the model guesses for each masked word, with all heads and without those that are switched off."""
    whole, without = services.predictions(model, original, masked), services.predictions(model, original, masked, off)
    count = int(off.sum())
    if not whole:
        st.caption(f"{count} heads are switched off. Mask a word (select it, then M) to see the guesses without them.")
        return
    rows = [_row(before, after, count) for before, after in zip(whole, without, strict=True)]
    st.table(rows, hide_index=True, alt="The guesses for each masked word, with all heads and without some")


def _row(before: Prediction, after: Prediction, count: int) -> dict[str, str]:
    change = log(before.probability or TINY) - log(after.probability or TINY)
    return {
        "masked word": f"{before.position + 1}: **“{plain(shorten(before.original))}”**",
        "whole model": _best(before),
        f"without {count} head{'s' if count > 1 else ''}": _best(after),
        "its loss": f"{change:+.2f} nats",
    }


def _best(prediction: Prediction) -> str:
    shown = prediction.best[:GUESSES]
    return ", ".join(f"{quoted(label, label == prediction.original)} {share:.1%}" for label, share in shown)
