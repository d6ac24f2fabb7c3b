"""Overview: every head of the model, by what it does; what is stored, and all of it in one job."""

import streamlit as st

from bertviz_core.analyses.behaviours import Thresholds
from bertviz_core.analyses.head_summary import counted, linguistic
from pages.shared import gallery, head_panel, holdings, links, page, sidebar, stored
from pages.shared.boxes import plain
from pages.shared.marker_map import marker_map
from pages.shared.remembered import remembered

selection = sidebar.current()
page.header("overview", selection)
links.to("tour", "New here? The paper in short steps, on this model", icon=":material/tour:")
results = stored.results("overview", selection)
if not {"surface_patterns", "entropy"} & results.keys():
    st.write("There is no stored result of this model yet.")
    holdings.panel("overview", selection)
    st.skeleton(height=420)
    st.stop()

summary = st.container()
left, right = st.columns(2, gap="medium")
with left:
    st.markdown("**What each head does**: a click chooses a head; the legend hides and shows")
    entropy = st.slider(
        "Broad: entropy over, nats",
        0.0,
        7.0,
        Thresholds().entropy,
        0.05,
        key="broad",
        bind="query-params",
        width=320,
        help="3.8 is the release's, for segments of 128 tokens; shorter inputs need less.",
    )
    thresholds, named = Thresholds(entropy=entropy), remembered(linguistic, results)
    labels = remembered(head_panel.labels_of, results, thresholds)
    drawing = page.drawn(head_panel.map_of, results, thresholds, selection.base)
    alt = "Map of all heads, layer by head, with a marker for what each head does"
    marker_map(drawing, selection.head, key="behaviour-map", alt=alt, origin=st.session_state["origin"])
with summary:
    groups = counted(labels)
    st.markdown(holdings.claim(groups, labels.size))
    if selection.checkpoint.note:
        st.caption(plain(selection.checkpoint.note))
    page.metrics(holdings.key_numbers(results, groups, named, selection.base))
with right:
    st.markdown(f"**Head {selection.label}**: {head_panel.behaviour(results, selection, thresholds)}")
    head_panel.card("overview", results, selection)

st.subheader("The clearest heads of this model")
gallery.behaviours(results, selection)
gallery.relations(results, selection)
st.subheader("What is stored")
holdings.panel("overview", selection)
