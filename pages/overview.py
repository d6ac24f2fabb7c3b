"""Overview: every head of the model by its behavior, the stored results, and one job for everything that is missing."""

import streamlit as st

from bertviz_core.analyses.behaviors import Thresholds, linguistic
from bertviz_core.analyses.findings import SHOWN
from bertviz_core.analyses.registry import findings
from bertviz_core.overview.summary import behaviors_finding, encoded_cards
from bertviz_core.viewer.preview import SENTENCE
from pages.shared import endnotes, head_panel, page, preview, stored
from pages.shared.frame import address, choices, header, links
from pages.shared.memoize import memoize
from pages.shared.messages import plain
from pages.shared.views import overview_view

IN_VIEWER = {"input": "own text", "text": SENTENCE}
selection = header.current()
with header.title_line():
    links.to("tour", "Take the guided tour", None, ":material/tour:")
results = stored.results(selection)
if not {"surface_patterns", "entropy"} & results.keys():
    st.write("No results are stored for this model yet.")
    overview_view.panel(selection)
    overview_view.report(selection)
    stored.offer_papers_model(selection)
    raise address.PageEnd

summary, picture = st.container(), st.container()
with st.container(horizontal=True, vertical_alignment="bottom"):
    about = "The authors use 3.8 for segments of 128 tokens; shorter inputs need a lower threshold."
    look = {"key": "broad", "width": 320, "help": about}
    entropy = choices.slider("Entropy threshold for broad (nats)", 0.0, 7.0, Thresholds().entropy, 0.05, **look)
thresholds, named = Thresholds(entropy=entropy), memoize(linguistic, results)
labels = memoize(head_panel.labels_of, results, thresholds)
assert labels is not None  # one of the two analyses is stored
with summary:
    page.finding(memoize(behaviors_finding, results, thresholds), bold=True)
with picture:
    drawing = memoize(head_panel.map_of, results, thresholds, selection.base)
    cards = memoize(encoded_cards, results, thresholds, selection.base)
    alt = "Map of all heads, layer by head, with a marker for what each head does"
    page.head_map(drawing, "behavior-map", alt, selection, cards=cards, link=links.viewer_address(IN_VIEWER))
    preview.wait_for(selection)

page.metrics(overview_view.key_numbers(results, labels, named, selection.base))
if selection.checkpoint.note:
    st.caption(plain(selection.checkpoint.note))
with st.expander("Findings that hold for this model", icon=":material/fact_check:", expanded=True):
    for finding in memoize(findings, results, selection.base):
        if finding.id in overview_view.CLEAREST and finding.state == SHOWN:
            page.finding(finding)
given = results, selection
endnotes.folded(
    f"Every number of head {selection.label}", ":material/table:", "numbers", head_panel.card, "overview", *given
)
endnotes.folded("The strongest heads", ":material/trophy:", "strongest", overview_view.gallery, *given)
endnotes.folded(
    "Stored results and downloads", ":material/database:", "stored", overview_view.stored_results, thresholds, *given
)
endnotes.folded("Report", ":material/summarize:", "report", overview_view.report, selection)
stored.offer_papers_model(selection)
