"""The lines of one head, drawn in the browser; attention_lines.js and .css stand beside this file."""

from __future__ import annotations

import base64
from collections.abc import Callable, Collection, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import streamlit as st

from bertviz_core.heads import Head
from bertviz_core.models.labels import Units
from bertviz_core.viewer.view import InputAttention, shorten

HERE = Path(__file__).parent
MAX_CHARACTERS = 200  # of a label that travels


def attention_lines(
    seen: InputAttention,
    head: Head,
    *,
    key: str,
    text: str,
    title: str,
    min_weight: float,
    pins: Sequence[str],
    masked: Collection[int],
    can_mask: bool,
    on_pins: Callable[[], None],
    on_mask: Callable[[], None],
) -> None:
    """Mount the drawing; only this head's matrix travels.

    text: tells one input from another; with another text the reader's pins give way to `pins`.
    pins: "from3" or "to3", positions of first tokens, from 1.   masked: positions of masked tokens, from 0.
    on_pins, on_mask: called with the new pins, or the first position to mask or to give back, in session state.
    """
    data = {
        "from": _units(seen.queries, masked),
        "to": _units(seen.keys, masked),
        "weights": pack(seen.of(head)),
        "minWeight": min_weight,
        "pins": list(pins),
        "text": text,
        "canMask": can_mask,
        "title": title,
        "name": f"attention-{head.label()}",
    }
    _component()(data=data, key=key, on_pins_change=on_pins, on_mask_change=on_mask)


def pack(weights: np.ndarray) -> str:
    """base64 of (query, key) weights as little-endian uint16, 65535 for 1: the error is below 1e-5."""
    return base64.b64encode(np.rint(np.clip(weights, 0, 1) * 65535).astype("<u2").tobytes()).decode()


def _units(units: Units, masked: Collection[int]) -> list[dict[str, Any]]:
    columns = zip(units.labels, units.special.tolist(), units.start.tolist(), strict=True)
    return [
        {"label": shorten(label, MAX_CHARACTERS), "special": special, "start": start, "masked": start in masked}
        for label, special, start in columns
    ]


def _component() -> Callable[..., Any]:
    script, style = ((HERE / f"attention_lines.{ending}").read_text(encoding="utf-8") for ending in ("js", "css"))
    return st.components.v2.component("attention_lines", js=script, css=style)
