"""Overview: every head of the model, by what it does; what is stored, and all of it in one job."""

import streamlit as st

from bertviz_core.analyses.behaviors import Thresholds, linguistic
from bertviz_core.analyses.findings import SHOWN
from bertviz_core.analyses.registry import findings
from bertviz_core.overview.findings import behaviors_finding
from pages.shared import head_panel, page, stored
from pages.shared.boxes import plain
from pages.shared.derived import derived
from pages.shared.frame import address, choices, links, sidebar
from pages.shared.views import clearest_heads, findings_view, overview_view, paper_model, report_view

TOUR = "Take the guided tour"
selection = sidebar.current()
with page.header("overview", selection):
    links.to("tour", TOUR, None, ":material/tour:")
    sidebar.stepper(selection)
results = stored.results("overview", selection)
if not {"surface_patterns", "entropy"} & results.keys():
    st.write("No results are stored for this model yet.")
    overview_view.panel("overview", selection)
    report_view.offer("overview", selection)
    paper_model.offer(selection)
    st.skeleton(height=420)
    address.stop()

summary = st.container()
left, right = st.columns([2, 3], gap="medium")
with left:
    picture = st.container()
    entropy = choices.slider(
        "Entropy threshold for broad (nats)",
        0.0,
        7.0,
        Thresholds().entropy,
        0.05,
        key="broad",
        width=320,
        help="The authors use 3.8 for segments of 128 tokens; shorter inputs need a lower threshold.",
    )
    thresholds, named = Thresholds(entropy=entropy), derived(linguistic, results)
    labels = derived(head_panel.labels_of, results, thresholds)
    assert labels is not None  # one of the two analyses is stored
    drawing = derived(head_panel.map_of, results, thresholds, selection.base)
    alt = "Map of all heads, layer by head, with a marker for what each head does"
    with picture:
        page.head_map(drawing, "behavior-map", alt, selection)
    paper_model.offer(selection)
with summary:
    findings_view.headline(derived(behaviors_finding, results, thresholds))
with right:
    st.markdown("**Shown of this model**")
    for finding in derived(findings, results, selection.base):
        if finding.id in overview_view.CLEAREST and finding.state == SHOWN:
            findings_view.plainly(finding)
    st.markdown(f"**Head {selection.label}**: {head_panel.behavior(results, selection, thresholds)}")
    head_panel.card("overview", results, selection)

page.metrics(overview_view.key_numbers(results, labels, named, selection.base))
if selection.checkpoint.note:
    st.caption(plain(selection.checkpoint.note))
st.subheader("The strongest heads of this model")
clearest_heads.behaviors(results, selection)
clearest_heads.relations(results, selection)
st.subheader("Stored results")
overview_view.panel("overview", selection)
overview_view.downloads(results, thresholds, selection)
st.subheader("Report")
report_view.offer("overview", selection)
