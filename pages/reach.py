"""Reach: how far heads look, their sinks and outputs, and how strongly they act on each input (beyond the paper)."""

import streamlit as st

from bertviz_core.analyses.reach.analysis import ReachView
from bertviz_core.analyses.reach.figure import acts_figure, offsets_figure, pair_svg
from bertviz_core.analyses.reach.result import BY_QUANTITY, TENTHS
from bertviz_core.analyses.reach.statements import inactive_heads
from pages.shared import page, widgets
from pages.shared.frame import links
from pages.shared.messages import plain
from pages.shared.state import session
from pages.shared.state.choices import Reach
from pages.shared.views.analysis_page import AnalysisPage

chosen = session.page(Reach)
view = AnalysisPage(chosen)
result = view.result
selection = view.selection
head = selection.head
has_output = "output" in result
below = chosen.below
if has_output:
    with view.controls:
        below = widgets.decimal("Inactive below", "below", below, 0.05, width=170)
view.choose(ReachView(below=below))
view.draw_figures()

distance = result["distance"]
entries = [("Mean distance", f"{distance.mean():.1f} tokens", f"uniform attention: {result.uniform:.1f}")]
for name in result.sinks:
    label = BY_QUANTITY[name].short.replace("sink", "Sink")
    entries.append((label, f"{result[name].mean():.0%}", "mean of all heads"))
if has_output:
    output = result["output"]
    note = f"output below {below:.2f} of the layer's mean"
    entries.append(("Inactive heads", f"{(output < below).sum()} of {output.size}", note))
page.metrics(entries)
if has_output:
    st.caption(plain(inactive_heads(result, below)))

st.header(f"Where head {selection.label} looks")
page.restriction(result)
alt = f"Share of the attention of head {selection.label} by the distance of the key from the query"
page.chart(page.drawn(offsets_figure, result, head), "reach-offsets", alt, selection.basis)

st.header(f"How strongly head {selection.label} acts")
st.caption(
    "The largest weight between two different ordinary tokens of each input; [CLS], [SEP] and the first token are left "
    "out. Below, inputs of each tenth, drawn at random by the seed, with these two tokens."
)
alt = f"Number of inputs by the largest weight of head {selection.label}"
page.chart(page.drawn(acts_figure, result, head), "reach-acts", alt, selection.basis)
items = []
for tenth in reversed(range(TENTHS)):
    for act in result.acts(head, tenth):
        title = f"Passage {act.number + 1}, {act.where}: weight {act.value:.2f}"
        items.append(page.Drawing(title, pair_svg(act), links.to_pair(act.number, act.query, act.key, head)))
page.drawings(items, "reach-inputs", selection.basis)

view.draw_heads()
view.end()
