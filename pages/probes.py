"""Probes: how much syntax the maps of all heads together encode (section 5; Table 3)."""

import streamlit as st

from bertviz_core.analyses.probes.figure import distance_figure, paper_figure
from bertviz_core.analyses.probes.result import MAX_SENTENCES, Probes
from bertviz_core.analyses.registry import ANALYSES
from pages.shared import endnotes, page, stored
from pages.shared.frame import header
from pages.shared.views import probe_view

selection = header.current()
request = probe_view.choose(selection)
result = stored.result_or_stop(request, Probes)

page.restriction(result)
probe_view.headline(result, selection.base)
left, right = st.columns(2, gap="medium")
with left:
    st.markdown("**Table 3 as a chart**")
    alt = "For each probe its score with its interval, and the paper's score"
    page.chart(page.drawn(paper_figure, result), "probes-figure", alt)
with right:
    st.markdown("**Accuracy by distance to the governor**")
    alt = "Accuracy of every probe by distance to the governor"
    page.chart(page.drawn(distance_figure, result), "distance-figure", alt)
page.metrics(probe_view.numbers(result))
st.markdown("**Table 3** (%); 95% intervals over sentences")
probe_view.table(result)

probe_view.weights(result, selection)

st.markdown("**Accuracy by relation** (%); punctuation is not scored")
probe_view.relations(result)
probe_view.sentences(result)

page.downloads(result)
endnotes.ending(
    result,
    r"p(i \mid j) \propto \exp \sum_k \left( W_k (v_i \oplus v_j)\, A^k_{ij} + U_k (v_i \oplus v_j)\, A^k_{ji} \right)",
    "Section 5. Trees are as annotated. p(i | j) is the probability that word i governs word j; *attention only* uses "
    "scalar weights in place of the products with word vectors, and is convex. ROOT is an additional candidate with "
    "its own weights for attention to and from [CLS] and [SEP], where there are any; in the mode “as in the paper” it "
    "shares the words' weights and has two learned scales. UAS excludes punctuation; UUAS counts the edges of the "
    "structural probe's minimum spanning tree. Random: the layers' weights are reinitialized, the embeddings are kept. "
    "Selectivity is the score minus the score on control trees that depend on the word type alone. The guesses shown "
    f"are those in the first {MAX_SENTENCES} sentences of the test part. The paper's numbers: BERT-base on the Wall "
    "Street Journal with Stanford Dependencies.",
    ANALYSES["probes"],
    section=8,
    unit="sentences",
)
