"""A page that hands the drawing labels no tokenizer would: markup, control characters, 10,000 characters."""

import numpy as np
import streamlit as st

from bertviz_core.models.labels import Units
from bertviz_core.viewer.files import FOLDER, pack, sides
from bertviz_core.viewer.view import InputAttention
from pages.shared.components import component

LABELS = (
    "<img src=x onerror=\"document.title='hacked'\">",
    "\x00\x07\x1b[31m\u202e",
    "y" * 10_000,
    "",
    "</ul><script>",
)

st.title("Hostile")
units = Units(LABELS, np.zeros(5, bool), np.zeros(5, int), np.arange(5))
attention = InputAttention(units, units, np.full((1, 1, 5, 5), 0.2, np.float32))
draw = component("attention_lines", FOLDER)
drawn = {"weights": pack(attention.weights[0, 0]), "minWeight": 0.0, "title": "</text><script>", "name": "attention"}
draw(data={**sides(attention), **drawn, "text": "", "pins": [], "canMask": False}, key="lines")
