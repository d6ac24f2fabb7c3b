"""Clustering: which heads attend alike, by Jensen-Shannon divergence (section 6; Figure 6)."""

import streamlit as st

from bertviz_core.analyses.behaviors import UNTRAINED, linguistic, with_behavior
from bertviz_core.analyses.clustering.divergence import divergences
from bertviz_core.analyses.clustering.figure import by_behavior, by_layer, frame, matrix
from bertviz_core.analyses.clustering.result import Clustering
from bertviz_core.analyses.registry import ANALYSES
from pages.shared import endnotes, page, stored
from pages.shared.frame import choices, header
from pages.shared.memoize import memoize
from pages.shared.views import cluster_view, findings_view

selection = header.current()
request = selection.request("clustering")
computed = stored.result_or_stop(request, Clustering)
head, base = selection.head, selection.base


with st.container(horizontal=True, vertical_alignment="center"):
    root = choices.toggle(
        "Square-root distance",
        key="root",
        help="Embed √JS, a metric, instead of JS as in the paper.",
    )
    limits = cluster_view.thresholds(computed)
    named = cluster_view.papers_heads(selection) or memoize(linguistic, stored.results(selection))
result = memoize(Clustering.labeled, cluster_view.pictured(computed, root), limits, named)

layers, pair = result.layer_divergence, memoize(Clustering.closest_pair, result)
ratio = layers.ratio
comparable = ratio >= 0  # not NaN
findings_view.headline(memoize(ANALYSES["clustering"].findings, result, base)[0])
similar = "–", "this model has one head"
if pair:
    similar = f"{pair[0].label(base)}, {pair[1].label(base)}", f"{pair[2]:.3g} {result.unit}"
labeled, rest = with_behavior(result.behaviors), [f"{(result.behaviors == name).sum()} {name}" for name in UNTRAINED]
left, right = st.columns(2, gap="medium")
with left:
    st.markdown("**By behavior**")
    alt = "Scatter plot of heads: similar heads lie close together, markers show behaviors"
    page.chart(page.drawn(by_behavior, result, base), "clustering-behavior", alt, head=head)
with right:
    st.markdown("**By layer**")
    alt = "The same scatter plot colored by layer, darker for later layers"
    page.chart(page.drawn(by_layer, result, base), "clustering-layer", alt, head=head)
page.metrics(
    [
        ("Within / between layers", f"{ratio:.2f}" if comparable else "–", "paper: often fairly close"),
        ("Most similar heads", *similar),
        ("Stress of the embedding", f"{result.stress:.2f}", "0 = distances exact"),
        ("Heads with a behavior", f"{labeled} of {result.behaviors.size}", f"and {', '.join(rest)}"),
    ]
)
if named:
    st.caption("Crosses mark heads of this model that are best at a relation or at coreference in a stored analysis.")

cluster_view.neighbors(result, selection)

st.header("All pairs, ordered by a dendrogram")
st.caption("Each square under the tree is a head, colored by its behavior; click it to choose the head.")
alt = "Matrix of divergences of all pairs of heads, ordered by average-linkage clustering"
page.chart(page.drawn(matrix, result, base), "clustering-matrix", alt, shapes=frame(result, head))

st.header("All heads")
columns = ["behavior", "nearest", "x", "y", *result.present]
heads = memoize(Clustering.to_frame, result, base)
page.table(heads, columns, selection, "clustering-table")
page.downloads(result)
endnotes.ending(
    result,
    r"\mathrm{JS}(P, Q) = H\!\left(\tfrac{P + Q}{2}\right) - \tfrac{1}{2}\bigl(H(P) + H(Q)\bigr)",
    "Section 6. The divergence of two heads is the exact mean over all tokens of JS between their attention "
    "distributions, in nats (at most log 2 = 0.693). In the mode “as in the paper” it is the sum, with attention "
    "smoothed to 0.999 A + 0.001/N as in the authors' code. The embedding is two-dimensional metric MDS, the best of "
    "several seeded starts; its stress is Kruskal's stress-1. The dendrogram uses average linkage.",
    divergences,
    section=9,
)
