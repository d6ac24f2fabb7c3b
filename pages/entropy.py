"""Entropy: how broadly each head attends (section 3.3; Figure 4)."""

import streamlit as st

from bertviz_core.analyses.entropy.analysis import EntropyView
from bertviz_core.analyses.entropy.statements import narrow_heads
from pages.shared import widgets
from pages.shared.messages import plain
from pages.shared.state import session
from pages.shared.state.analysis_choices import EntropyChoices
from pages.shared.views.analysis_page import AnalysisPage

chosen = session.page(EntropyChoices)
view = AnalysisPage(chosen)
result = view.result
view.choose(EntropyView(share=chosen.share))
view.draw_figures()

view.draw_cards()
about = "As a share of the entropy of uniform attention."
widgets.slider("List heads below", "share", chosen.share, 0.05, width=280, help=about)
st.caption(plain(narrow_heads(result, chosen.share)))

view.draw_heads()
view.end()
