"""Sink gradients: does attention to the sink matter to the model's predictions (section 3.2; Figure 3)?"""

import streamlit as st

from bertviz_core import paper
from bertviz_core.analyses.sep_gradients.figure import no_op_figure
from bertviz_core.analyses.sep_gradients.result import sink
from bertviz_core.plotting import TOKENS
from pages.shared import page
from pages.shared.frame import header
from pages.shared.messages import plain
from pages.shared.views.analysis_page import AnalysisPage

view = AnalysisPage("sep_gradients")
result = view.result
view.draw_figures()

view.draw_cards()
peak = sink(result)
name = TOKENS[peak.token][0] if peak else ""
if peak:
    if name == "[SEP]":
        header.retitle(plain(f"{name} gradients"))  # the paper's
    st.header(f"Is attention to {plain(name)} a no-op?", anchor=False)
    st.caption(
        "The gradient says how much the loss would change if a weight changed slightly. Much attention with a gradient "
        f"near 0 is a no-op: the paper finds that of [SEP] in BERT-base from layer {paper.NO_OP_FROM_LAYER} on."
    )
    alt = f"Attention to {name} by layer, and under it the gradient to {name} and to other tokens"
    page.chart(page.drawn(no_op_figure, result), "no-op-figure", alt, view.selection.basis, head=view.selection.head)

view.draw_heads()
view.end()
