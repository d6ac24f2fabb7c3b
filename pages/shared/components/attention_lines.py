"""The lines of one head, drawn in the browser by the core's own script."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import Any

import streamlit as st

from bertviz_core.heads import Head
from bertviz_core.viewer.lines_component import line_data, script, style
from bertviz_core.viewer.view import InputAttention


def attention_lines(
    attention: InputAttention,
    head: Head,
    *,
    key: str,
    text: str,
    title: str,
    name: str,
    min_weight: float,
    pins: Sequence[str],
    masked: Collection[int],
    can_mask: bool,
    on_pins: Callable[[], None],
    on_mask: Callable[[], None],
) -> None:
    """Mount the drawing; only this head's matrix travels.

    Args:
        attention: Attention of every head on one input.
        head: The head that is drawn.
        key: Key of the component.
        text: Tells one input from another; with another text the reader's pins give way to `pins`.
        title: Title of the drawing.
        name: File name of saved drawings, without the suffix.
        min_weight: Lines below it are not drawn.
        pins: "from3" or "to3", positions of first tokens, from 1.
        masked: Positions of masked tokens, from 0.
        can_mask: Whether the model has a [MASK].
        on_pins: Called with the new pins in session state.
        on_mask: Called with the first position to mask or to give back in session state.
    """
    drawn = line_data(attention, head, title=title, min_weight=min_weight, masked=masked)
    data = {**drawn, "pins": list(pins), "text": text, "name": name, "canMask": can_mask}
    _component()(data=data, key=key, on_pins_change=on_pins, on_mask_change=on_mask)


def _component() -> Callable[..., Any]:
    return st.components.v2.component("attention_lines", js=script(), css=style())
