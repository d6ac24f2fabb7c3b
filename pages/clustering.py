"""Clustering: which heads attend alike, by Jensen-Shannon divergence (section 6; Figure 6)."""

from dataclasses import asdict

import streamlit as st

from bertviz_core.analyses.behaviors import Thresholds, behavior_metric, linguistic
from bertviz_core.analyses.clustering import by_behavior, by_layer, matrix
from bertviz_core.analyses.clustering.result import Clustering
from bertviz_core.analyses.registry import ANALYSES, label
from bertviz_core.plotting import BEHAVIORS
from pages.shared import endnotes, page, stored
from pages.shared.frame import choices, header
from pages.shared.memoize import memoize

selection = header.current()
head = selection.head
base = selection.base
computed = stored.result_or_stop(selection.request("clustering"), Clustering)
with page.row("center"):
    about = "Embed √JS, which is a metric; the paper embeds JS."
    root = choices.toggle("Square-root distance", key="root", help=about)
    chosen = {}
    with st.popover("Behavior thresholds", icon=":material/tune:", key="thresholds", on_change="rerun"):
        st.caption("A head has a behavior if its average exceeds the threshold; if several apply, the last one counts.")
        for name, default in asdict(Thresholds()).items():
            if name in computed.present:
                is_entropy = name == "entropy"
                text = "entropy, nats" if is_entropy else f"attention: {BEHAVIORS[name][-1]}"
                high = 7.0 if is_entropy else 1.0
                chosen[name] = choices.slider(text, 0.0, high, default, 0.05, key=f"over-{name}")
    named = memoize(linguistic, stored.results(selection))
with st.spinner("Computing the embedding"):
    embedded = memoize(Clustering.embedded, computed, computed.mds_seed, root)
result = memoize(Clustering.labeled, embedded, Thresholds(**chosen), named)
page.finding(memoize(ANALYSES["clustering"].findings, result, base)[0], bold=True)

left, right = st.columns(2, gap="medium")
with left:
    st.markdown("**By behavior**")
    alt = "Scatter plot of heads: similar heads lie close together, markers show behaviors"
    page.chart(page.drawn(by_behavior, result, base), "clustering-behavior", alt, head=head)
with right:
    st.markdown("**By layer**")
    alt = "The same scatter plot colored by layer, darker for later layers"
    page.chart(page.drawn(by_layer, result, base), "clustering-layer", alt, head=head)
stress = ("Stress of the embedding", f"{result.stress:.2f}", "0 = distances exact")
page.metrics([stress, behavior_metric(result.behaviors)])
if named:
    st.caption("Crosses mark heads of this model that are best at a relation or at coreference in a stored analysis.")

st.header(f"Head {selection.label} and the most similar heads")
rows = []
for other, divergence in [(head, 0.0), *result.nearest(head)]:
    row = {
        "head": other.label(base),
        f"divergence, {result.unit}": f"{divergence:.4g}",
        "behavior": BEHAVIORS[result.behaviors[other]][-1],
    }
    for name in result.present:
        row[label(name)] = f"{result[name][other]:.3f}"
    rows.append(row)
alt = f"Head {selection.label} and the heads with the smallest divergence from it"
st.dataframe(rows, hide_index=True, alt=alt)

st.header("All pairs, ordered by a dendrogram")
st.caption("Each square under the tree is a head, colored by its behavior; click it to choose the head.")
alt = "Matrix of divergences of all pairs of heads, ordered by average-linkage clustering"
page.chart(page.drawn(matrix, result, base), "clustering-matrix", alt, head=head)

st.header("All heads")
columns = ["behavior", "nearest", "x", "y", *result.present]
frame = memoize(Clustering.to_frame, result, base)
page.table(frame, columns, selection, "clustering-table")
page.downloads(result)
endnotes.ending(result, ANALYSES["clustering"])
