"""Induction heads: which heads attend to the token that followed an earlier occurrence?"""

from dataclasses import replace

import streamlit as st

from bertviz_core.analyses.induction import CONTROL, KINDS, Induction
from bertviz_core.analyses.registry import ANALYSES
from bertviz_core.heads import highest
from bertviz_core.models.labels import layout_of
from bertviz_core.models.reading import RandomSequences
from bertviz_core.viewer import InputView, apply_view
from bertviz_core.viewer.figure import heatmap
from pages.shared import page, services
from pages.shared.frame import Selection, choices
from pages.shared.page import Metric
from pages.shared.views import analysis_page

SHOWN = 34  # tokens of the sequence whose attention is drawn


def numbers(result: Induction, selection: Selection) -> list[Metric]:
    entries = []
    for name, (_, short, _) in KINDS.items():
        head = highest(result[name])
        label = f"{short.capitalize()}: head {head.label(selection.base)}"
        control = result[CONTROL.format(name)][head]
        entries.append((label, f"{result[name][head]:.1%}", f"control: {control:.1%}"))
    return entries


def sequence(result: Induction, selection: Selection) -> None:
    """The chosen head on one short sequence and its repetition; the model runs only on request."""
    if not choices.toggle(f"Draw head {selection.label} on one repeated sequence", key="sequence"):
        return
    settings = replace(selection.settings, max_length=min(SHOWN, selection.settings.max_length))
    model = services.model(selection.checkpoint, settings.dtype)
    example = next(iter(RandomSequences(selection.corpora["random"], model.tokens, settings)))
    maps = services.attention(model, example, settings.weights)
    shown = apply_view(layout_of(example, model.tokens), maps, InputView())
    st.caption("The second half repeats the first. An induction head draws a line one step right of the first half's.")
    alt = f"Attention of head {selection.label} on a repeated sequence of random tokens, from each row to each column"
    page.chart(heatmap(shown, selection.head), "induction-sequence", alt)


TEXT = (
    "Beyond the paper, after Olsson et al. (2022), *In-context Learning and Induction Heads*. n distinct tokens are "
    "drawn from the model's vocabulary and repeated once, in the tokenizer's own frame; i counts tokens without that "
    "frame. From each token of the repetition, a prefix-matching head attends to what followed its first occurrence. "
    "The controls are the same positions in inputs whose second half is n other tokens. “More settings” has the seed, "
    "the number of inputs (every other one a control; 100 where there is no limit) and their length."
)
analysis_page.show(ANALYSES["induction"], numbers=numbers, below=sequence, text=TEXT, section=15)
