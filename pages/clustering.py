"""Clustering: which heads attend alike, by Jensen-Shannon divergence (section 6; Figure 6)."""

from dataclasses import asdict

import streamlit as st

from bertviz_core.analyses.base.registry import ANALYSES
from bertviz_core.analyses.clustering.analysis import ClusteringView
from bertviz_core.analyses.clustering.figure import by_behavior, by_layer, matrix
from bertviz_core.analyses.clustering.nearest import nearest_table, nearest_title
from bertviz_core.analyses.clustering.result import Clustering
from bertviz_core.plotting import BEHAVIORS
from pages.shared import endnotes, page, stored, widgets
from pages.shared.costly import findings_of, linguistic
from pages.shared.memoize import memoized
from pages.shared.state import session

embed = memoized(Clustering.embedded)
label_heads = memoized(Clustering.labeled)
to_frame = memoized(Clustering.to_frame)


def draw_thresholds() -> None:
    """Draw the sliders of the thresholds."""
    st.caption("A head has a behavior if its average exceeds the threshold; if several apply, the last one counts.")
    for name, value in asdict(thresholds).items():
        if name in computed.present:
            text = "entropy, nats" if name == "entropy" else f"attention: {BEHAVIORS[name][-1]}"
            widgets.slider(text, f"over_{name}", value, 0.05)


selection = session.selection()
chosen = session.view(ClusteringView)
head = selection.head
computed = stored.result_or_stop(selection.request("clustering"), Clustering)
with page.controls():
    widgets.choice("root", help="Embed √JS, which is a metric; the paper embeds JS.")
    thresholds = chosen.thresholds(computed.present)
    panel = widgets.popover("Behavior thresholds", ":material/tune:", "thresholds")
    if panel.open:
        with panel:
            draw_thresholds()
    named = linguistic(stored.results(selection))
with st.spinner("Computing the embedding"):
    embedded = embed(computed, computed.mds_seed, chosen.root)
result = label_heads(embedded, thresholds, named)
page.finding(findings_of(ANALYSES["clustering"], result)[0], bold=True)

left, right = st.columns(2, gap="medium")
with left:
    st.markdown("**By behavior**")
    alt = "Scatter plot of heads: similar heads lie close together, markers show behaviors"
    page.chart(page.drawn(by_behavior, result), "clustering-behavior", alt, selection.basis, head=head)
with right:
    st.markdown("**By layer**")
    alt = "The same scatter plot colored by layer, darker for later layers"
    page.chart(page.drawn(by_layer, result), "clustering-layer", alt, selection.basis, head=head)
page.metrics(ANALYSES["clustering"].cards(result))
if named:
    st.caption("Crosses mark heads of this model that are best at a relation or at coreference in a stored analysis.")

st.header(nearest_title(head), anchor=False)
alt = f"Head {selection.label} and the heads with the smallest divergence from it"
st.dataframe(page.aligned(nearest_table(result, head)), hide_index=True, alt=alt)

st.header("All pairs, ordered by a dendrogram", anchor=False)
st.caption("Each square under the tree is a head, colored by its behavior; click it to choose the head.")
alt = "Matrix of divergences of all pairs of heads, ordered by average-linkage clustering"
page.chart(page.drawn(matrix, result), "clustering-matrix", alt, selection.basis, head=head)

st.header("All heads", anchor=False)
columns = ["behavior", "nearest", "x", "y", *result.present]
frame = to_frame(result)
page.table(frame, columns, selection, "clustering-table")
page.downloads(chosen.choose(result))
endnotes.ending(result, ANALYSES["clustering"])
