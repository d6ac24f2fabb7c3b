"""Compare: two stored runs of one analysis, head by head (docs/methods.md, section 13)."""

import streamlit as st

from bertviz_core.analyses.base.registry import ANALYSES
from bertviz_core.comparison import change, figure
from bertviz_core.emergence.result import REQUIRED
from pages.shared import endnotes, page, services, widgets
from pages.shared.messages import plain
from pages.shared.state import session
from pages.shared.state.choices import CompareChoices
from pages.shared.state.selection import Basis
from pages.shared.views import compare_view

BEST = {"n_a": "n, A", "head_a": "best in A", "a": "A", "n_b": "n, B", "head_b": "best in B", "b": "B"}
BEST |= {"difference": "B − A", "low": "from", "high": "to"}  # the 95% interval's ends

selection = session.selection()
chosen = session.page(CompareChoices)
runs = compare_view.known_runs(selection)
analysis, a, b = chosen.resolve(runs)
with page.controls():
    compare_view.draw_choice(runs, analysis, a, b)
    session.current().replace(analysis=analysis, a=a, b=b)  # even by default: the first runs change with the store
    comparison = compare_view.find_comparison(analysis, a, b)
    if comparison is None:
        # The runs had it a few seconds ago.
        services.runs.clear()
        st.info("This run is no longer in the store. Choose another one, or run its analysis again.")
        raise session.PageEnd
    key = compare_view.quantity(comparison, chosen)
    quantities = list(comparison.a)
    widgets.select("Quantity", quantities, "compared", key, format_func=comparison.label, width=230)
caption = f"A: {comparison.names[0]}; B: {comparison.names[1]}"
basis = Basis(caption, *comparison.names)
selection = session.rebase(basis)

if comparison.changes:
    sentence = comparison.change_sentence(key)
    st.markdown(f"**{plain(sentence)}**")
    compare_view.draw_maps(comparison, key, selection)
st.caption(plain(" ".join(comparison.notes)))
if comparison.compared not in REQUIRED:
    titles = ", ".join(ANALYSES[name].title for name in REQUIRED)
    st.caption(f"The training that ships stores only {titles} for its checkpoints, so none can be compared here.")
if comparison.changes:
    left, right = st.columns([2, 3], gap="medium")
    with left:
        st.header("A against B", anchor=False)
        drawing = page.drawn(figure.scatter, comparison, key)
        alt = f"{comparison.label(key)}: a dot for each head, run A across and run B up"
        page.chart(drawing, "compare-scatter", alt, basis, head=selection.head)
    with right:
        st.header("Heads that changed most", anchor=False)
        rows = comparison.changes[key].rows(figure.MAX_ROWS)
        st.dataframe(rows, hide_index=True, height="content", alt="Heads by the size of their difference")
else:
    st.header("By relative depth", anchor=False)
    alt = f"{comparison.label(key)} by layer over the number of layers, a dot for each head of both models"
    page.chart(page.drawn(figure.by_depth, comparison, key), "compare-depth", alt, basis)

st.header("Best heads", anchor=False)
best = figure.best_heads(comparison)
headers = {name: label for name, label in BEST.items() if name in best}
alt = "For each quantity the head with the highest value in A and B"
st.dataframe(page.aligned(best), hide_index=True, column_config=headers, alt=alt)
page.downloads(comparison.on(key))
endnotes.about(change.Change.of)
for label, run in zip("AB", (comparison.provenance, comparison.other), strict=True):
    title = f"Where the numbers of {label} come from"
    endnotes.folded(title, ":material/fingerprint:", f"provenance-{label}", st.json, run, expanded=1)
