"""Entropy: how broadly each head attends (section 3.3; Figure 4)."""

import streamlit as st

from bertviz_core import paper
from bertviz_core.analyses.entropy.analysis import EntropyView
from bertviz_core.analyses.entropy.statements import narrow_heads
from bertviz_core.heads import highest
from pages.shared import page, widgets
from pages.shared.messages import plain
from pages.shared.state import session
from pages.shared.state.analysis_choices import EntropyChoices
from pages.shared.views.analysis_page import AnalysisPage

chosen = session.page(EntropyChoices)
view = AnalysisPage(chosen)
result = view.result
entropy = result["entropy"]
view.choose(EntropyView(share=chosen.share))
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
label = f"Highest entropy, {broadest.label()}: largest weight per token"
entries.append((label, f"{result['max_weight'][broadest]:.1%}", "paper: about 10%"))
page.metrics(entries)
about = "As a share of the entropy of uniform attention."
widgets.slider("List heads below", "share", chosen.share, 0.05, width=280, help=about)
st.caption(plain(narrow_heads(result, chosen.share)))

view.draw_heads()
view.end()
