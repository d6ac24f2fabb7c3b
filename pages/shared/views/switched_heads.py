"""Heads that the reader switches off in the attention viewer, and the guesses for masked words without them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import streamlit as st

from bertviz_core.analyses.behaviors import Thresholds
from bertviz_core.heads import all_heads
from bertviz_core.models.model import AttentionModel
from bertviz_core.models.predictions import Prediction
from bertviz_core.numbers import plural
from bertviz_core.viewer.guesses import loss, switched_off, switches
from bertviz_core.viewer.view import shorten
from pages.shared import head_panel, stored
from pages.shared.boxes import plain
from pages.shared.derived import derived
from pages.shared.frame import choices
from pages.shared.frame.selection import Selection
from pages.shared.views.attention_panel import quoted

GUESSES = 3


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


def names(off: np.ndarray) -> str:
    """The heads that are switched off, as "3-5 4-1"."""
    return " ".join(head.label() for head in all_heads(*off.shape) if off[head.layer, head.head])


def guesses(whole: Sequence[Prediction], without: Sequence[Prediction], off: np.ndarray) -> None:
    """What the model guesses for each masked word, with all heads and without those that are switched off."""
    count = int(off.sum())
    if not whole:
        off_now = f"{plural(count, 'heads')} {'is' if count == 1 else 'are'} switched off"
        st.caption(
            f"{off_now}. Mask a word (select it, then M) to see the guesses without {'it' if count == 1 else 'them'}."
        )
        return
    rows = [_row(before, after, count) for before, after in zip(whole, without, strict=True)]
    st.table(rows, hide_index=True, alt="The guesses for each masked word, with all heads and without some")


def _row(before: Prediction, after: Prediction, count: int) -> dict[str, str]:
    return {
        "masked word": f"{before.position + 1}: **“{plain(shorten(before.original))}”**",
        "whole model": _best(before),
        f"without {count} head{'s' if count > 1 else ''}": _best(after),
        "change of its loss": f"{loss(after) - loss(before):+.2f} nats",
    }


def _best(prediction: Prediction) -> str:
    shown = prediction.best[:GUESSES]
    return ", ".join(f"{quoted(label, label == prediction.original)} {share:.1%}" for label, share in shown)
