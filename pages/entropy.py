"""Entropy: how broadly each head attends (section 3.3; Figure 4)."""

import streamlit as st

from bertviz_core import paper
from bertviz_core.heads import highest
from pages.shared import page, widgets
from pages.shared.state import session
from pages.shared.state.choices import Entropy
from pages.shared.views.analysis_page import AnalysisPage, name_heads_over

chosen = session.page(Entropy)
view = AnalysisPage(chosen)
result = view.result
entropy = result["entropy"]
with view.controls:
    share = widgets.slider("Maximum share of uniform entropy", "share", chosen.share, 0.05, width=280)
view.draw_figures()

means = entropy.mean(1)
printed = paper.LAYER_MEANS["entropy"]
entries = [
    ("Mean entropy, first layer", f"{means[0]:.2f} nats", f"paper: {printed[0]:.1f}"),
    ("Mean entropy, last layer", f"{means[-1]:.2f} nats", f"paper: {printed[-1]:.1f}"),
]
if "from_cls" in result.present:
    last = result["from_cls"].mean(1)[-1]
    note = f"paper: {paper.FROM_CLS_LAST_LAYER:.2f}"
    entries.append(("From [CLS], last layer", f"{last:.2f} nats", note))
broadest = highest(entropy)
label = f"Highest entropy, {broadest.label(view.selection.base)}: largest weight per token"
entries.append((label, f"{result['max_weight'][broadest]:.1%}", "paper: about 10%"))
page.metrics(entries)
description = f"At most {share:.0%} of the entropy of uniform attention ({result.uniform:.2f} nats)"
st.caption(name_heads_over(-entropy, -share * result.uniform, view.selection.base, description))

view.draw_heads()
view.end()
