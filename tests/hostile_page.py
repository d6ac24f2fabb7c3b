"""A page that hands the drawing labels no tokenizer would: markup, control characters, 10,000 characters."""

import numpy as np
import streamlit as st

from bertviz_core.heads import Head
from bertviz_core.models.labels import Units
from bertviz_core.viewer.view import InputAttention
from pages.shared.components.attention_lines import attention_lines

LABELS = (
    "<img src=x onerror=\"document.title='hacked'\">",
    "\x00\x07\x1b[31m\u202e",
    "y" * 10_000,
    "",
    "</ul><script>",
)

st.title("Hostile")
units = Units(LABELS, np.zeros(5, bool), np.zeros(5, int), np.arange(5))
attention_lines(
    InputAttention(units, units, np.full((1, 1, 5, 5), 0.2, np.float32)),
    Head(0, 0),
    key="lines",
    text="",
    title="</text><script>",
    name="attention",
    min_weight=0.0,
    pins=[],
    masked=[],
    can_mask=False,
    on_pins=lambda: None,
    on_mask=lambda: None,
)
