"""Surface patterns: which heads attend to neighbors, special tokens and punctuation (sections 3.1, 3.2; Figure 2)."""

import streamlit as st

from bertviz_core.analyses.base.averages import HeadAverages
from bertviz_core.analyses.surface_patterns.analysis import SurfaceView
from bertviz_core.analyses.surface_patterns.figure import paper_figure
from bertviz_core.analyses.surface_patterns.result import NORM_LABELS, BothWeights
from bertviz_core.analyses.surface_patterns.statements import heads_over, lengths_sentence
from pages.shared import page, services, widgets
from pages.shared.memoize import memoized
from pages.shared.messages import plain
from pages.shared.state import session
from pages.shared.views.analysis_page import AnalysisPage

both_weights = memoized(BothWeights.of)
to_frame = memoized(HeadAverages.to_frame)

view = AnalysisPage("surface_patterns")
chosen = session.view(SurfaceView)
result = view.result
column = view.column
selection = view.selection
view.draw_choices("both")
is_norms = selection.settings.weights == "norms"
other_weights = selection.of_weights("attention" if is_norms else "norms")
other = services.find(other_weights.request(result.analysis))
drawn = both_weights(result, other) if chosen.both and isinstance(other, HeadAverages) else result
view.choose(drawn)
view.draw_figures(page.drawn(paper_figure, drawn))

view.draw_cards()
st.caption(plain(heads_over(result, column.quantity, chosen.over)))

if isinstance(other, HeadAverages):
    label = "Add attention weights" if is_norms else "Add norms"
    widgets.toggle(
        label, "both", chosen.both, help="Adds the same shares weighted by vector length, dashed.", width="content"
    )
elif is_norms:
    st.caption("To see what norms change, choose the measure “weights” above and analyze.")

view.draw_heads()
# Norms alone have it.
if "norm_correlation" in result.present:
    st.header("Lengths of the vectors", anchor=False)
    st.markdown(f"{plain(lengths_sentence(result))}.")
    st.caption(
        "Length: the mean over what the tokens of a class pass on through a head. Correlation: Spearman's, over "
        "the tokens of a passage, of that length with the mean attention weight that a token receives."
    )
    titles = {name: label for name, label in NORM_LABELS.items() if name in result.present}
    page.table(to_frame(result), [*titles], selection, "lengths-table", titles=titles)
view.end()
