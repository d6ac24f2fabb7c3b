"""Entropy: how broadly each head attends (section 3.3; Figure 4)."""

import streamlit as st

from bertviz_core.analyses.entropy.analysis import EntropyView
from bertviz_core.analyses.entropy.statements import narrow_heads
from pages.shared import widgets
from pages.shared.messages import plain
from pages.shared.state import session
from pages.shared.views.analysis_page import AnalysisPage

view = AnalysisPage("entropy")
view.draw_figures()

view.draw_cards()
widgets.choice("share")
st.caption(plain(narrow_heads(view.result, session.view(EntropyView).share)))

view.draw_heads()
view.end()
