"""Probes: how much syntax the maps of all heads hold together (section 5; Table 3)."""

import streamlit as st

from bertviz_core.analyses.probes.figure import curves_figure, distance_figure, paper_figure
from bertviz_core.analyses.probes.result import EXAMPLES, Probes
from pages.shared import boxes, page
from pages.shared.frame import sidebar
from pages.shared.views import probe_view

selection = sidebar.current()
page.header("probes", selection)
request = probe_view.choose(selection)
result = page.result_or_stop(request, selection)

probe_view.headline(result)
page.metrics(probe_view.numbers(result))

st.markdown("**Table 3**, percent; intervals: 95%, over sentences")
probe_view.table(result)
left, right = st.columns(2, gap="medium")
with left:
    st.markdown("**Table 3 as a picture**")
    alt = "For each probe its score with its interval, and the paper's score"
    page.chart(page.drawn(paper_figure, result), "probes-figure", alt, clickable=False)
with right:
    st.markdown("**By distance of the governor**")
    alt = "Accuracy of every probe by how far to the right the governor stands"
    page.chart(page.drawn(distance_figure, result), "distance-figure", alt, clickable=False)

probe_view.weights(result, selection)
probe_view.pairs(result, selection)

st.markdown("**By relation**, percent found; punctuation is not scored")
probe_view.relations(result)
st.markdown("**Learning curves**: the training part; dashed, the part that says when to stop")
alt = "Loss of every probe while it trained"
page.chart(page.drawn(curves_figure, result), "curves-figure", alt, clickable=False)
probe_view.sentences(result)

page.downloads(result)
page.about(
    r"p(i \mid j) \propto \exp \sum_k \left( W_k (v_i \oplus v_j)\, A^k_{ij} + U_k (v_i \oplus v_j)\, A^k_{ji} \right)",
    "Section 5. p(i | j) is the probability that word i governs word j; *attention only* has plain weights in place of "
    "the products with word vectors, and is convex. ROOT is one more candidate, with weights of its own on attention "
    "from and to [CLS] and [SEP]; as in the paper it has the words' weights, and two learned scales. UAS leaves "
    "punctuation out; UUAS counts the edges of the structural probe's minimum spanning tree. Random: the layers' "
    "weights are drawn afresh, the embeddings stay. Selectivity: the score less that on trees drawn once for each "
    f"word type. Guesses are kept for the first {EXAMPLES} sentences. The paper's numbers: BERT-base on the Wall "
    "Street Journal with Stanford Dependencies.",
    Probes.of_pair,
)
boxes.left_out(result.provenance, "sentences")
page.provenance(result)
