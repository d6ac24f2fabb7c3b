"""Compare: two stored runs of one analysis, head by head (docs/methods.md, section 13)."""

import streamlit as st

from bertviz_core.comparison import compare, figure
from bertviz_core.comparison.change import Change
from pages.shared import endnotes, page
from pages.shared.frame import header
from pages.shared.memoize import memoize
from pages.shared.messages import plain
from pages.shared.views import compare_view

selection = header.current()
with st.container(horizontal=True, vertical_alignment="bottom", key="page-controls"):
    comparison = memoize(compare, *compare_view.choose(selection))
    key = compare_view.quantity(comparison)
st.session_state["origin"] = f"A: {comparison.names[0]}; B: {comparison.names[1]}"

if comparison.changes:
    st.markdown(f"**{plain(comparison.change_sentence(key, selection.base))}**")
    compare_view.maps(comparison, key, selection)
    page.metrics(compare_view.numbers(comparison.changes[key], selection))
    compare_view.notes(comparison)
    left, right = st.columns([2, 3], gap="medium")
    with left:
        st.header("A against B")
        drawing = page.drawn(figure.scatter, comparison, key, selection.base)
        alt = f"{comparison.label(key)}: a dot for each head, run A across and run B up"
        page.chart(drawing, "compare-scatter", alt, head=selection.head)
    with right:
        st.header("Heads that changed most")
        compare_view.table(comparison.changes[key], selection)
else:
    compare_view.notes(comparison)
    left, right = st.columns(2, gap="medium")
    with left:
        st.header("By relative depth")
        alt = f"{comparison.label(key)} by layer over the number of layers, a dot for each head of both models"
        page.chart(page.drawn(figure.by_depth, comparison, key, selection.base), "compare-depth", alt)
    with right:
        st.header("All heads, sorted")
        alt = f"Share of the heads of each model that have at most a value of {comparison.label(key)}"
        page.chart(page.drawn(figure.distributions, comparison, key), "compare-heads", alt)

st.header("Best heads")
compare_view.best(comparison)
page.downloads(comparison)
endnotes.about(
    r"t = \frac{x_B - x_A}{\sqrt{s_A^2 + s_B^2}} \qquad \nu = \frac{(s_A^2 + s_B^2)^2}"
    r"{s_A^4 / \nu_A + s_B^4 / \nu_B}",
    "Standard errors are by document. Averages are compared by Welch's test, proportions by the test whose interval "
    "is Newcombe's, with an effective number of mentions where those of a document are alike. p is two-sided, and "
    "adjusted for all heads of one quantity by Holm's method; heads under .05 are marked. The best head of a quantity "
    "is picked on the data that it is scored on, in both runs.",
    Change.of,
    section=13,
)
for label, run in zip("AB", (comparison.provenance, comparison.other), strict=True):
    title = f"Where the numbers of {label} come from"
    endnotes.folded(title, ":material/fingerprint:", f"provenance-{label}", st.json, run, expanded=1)
