"""Coreference heads: which head's attention points from a mention to its antecedent (section 4.3; Table 2)."""

import streamlit as st

from bertviz_core.analyses.coreference_heads.groups import TYPE_NAMES, TYPE_ROWS
from bertviz_core.analyses.coreference_heads.guesses import CANDIDATES
from bertviz_core.analyses.coreference_heads.result import CoreferenceHeads, CoreferenceView
from bertviz_core.heads import arrow
from pages.shared import page, stored, widgets
from pages.shared.state import session
from pages.shared.views import analysis_page

request = session.selection().request("coreference_heads")
result = stored.result_or_stop(request, CoreferenceHeads)
view, counts = analysis_page.view_and_result(CoreferenceView, request, result)
controls, options = page.with_options(page.controls())
with controls:
    widgets.segmented("Mentions", TYPE_ROWS, "kind", view.kind, label_visibility="collapsed")
    directions = counts.directions
    at = view.direction
    widgets.segmented("Direction", directions, "direction", at, format_func=arrow, label_visibility="collapsed")
if options.open:
    about = "`mentions`: the head words of preceding mentions. `words`: any other word (stricter)."
    with options:
        widgets.segmented("Candidates", CANDIDATES, "candidates", view.candidates, help=about)
page.restriction(counts)
if not counts.n[TYPE_ROWS.index(view.kind)]:
    st.info(f"This corpus has no {TYPE_NAMES[view.kind]} with an antecedent.", icon=":material/info:")
    raise session.PageEnd
analysis_page.draw(request, view, counts)
