"""Surface patterns: which heads look at neighbors, special tokens and punctuation (sections 3.1, 3.2; Figure 2)."""

import streamlit as st

from bertviz_core import paper
from bertviz_core.analyses.head_averages import HeadAverages
from bertviz_core.analyses.surface_patterns import ANALYSIS, QUANTITIES
from bertviz_core.analyses.surface_patterns.figure import paper_figure
from bertviz_core.analyses.surface_patterns.measure import measure
from bertviz_core.plotting.head_map import value_map
from pages.shared import page, stored_result
from pages.shared.derived import derived
from pages.shared.frame import choices, sidebar
from pages.shared.views import findings_view, head_view, norms_view

selection = sidebar.current()
page.header("surface_patterns", selection)
result = stored_result.result_or_stop(selection.request("surface_patterns"), HeadAverages)

with st.container(horizontal=True, vertical_alignment="bottom"):
    column = head_view.choose(ANALYSIS, result)
    threshold = choices.slider("Threshold", 0.1, 0.95, 0.5, 0.05, key="over", width=280)
values = result[column.quantity]
weights = selection.settings.weights
findings_view.headline(derived(ANALYSIS.column_finding, column, result, selection.base))
over = head_view.over(values, threshold, selection.base)
head_view.named(over, f"Over {threshold:.0%} of the {weights} on {column.short}")

previous, following = (head_view.over(result[name], 0.5, selection.base) for name in ("previous", "next"))
entries = [
    ("Previous token: heads > 0.5", f"{len(previous)}", f"paper: {paper.HEADS_OVER_HALF['previous']}"),
    ("Next token: heads > 0.5", f"{len(following)}", f"paper: {paper.HEADS_OVER_HALF['next']}"),
]
for name, title in (("to_sep", "To [SEP]"), ("sep_to_sep", "[SEP] to [SEP]")):
    if name in result.present:
        here, printed = result.layer_means(name), paper.LAYER_MEANS[name]
        layer = f"layer {int(here.argmax()) + selection.base}"
        entries.append((f"{title}, max: {layer}", f"{here.max():.2f}", f"paper: {max(printed):.2f}"))
beside = norms_view.change(result, selection)

figure = page.drawn(paper_figure, result, selection.base, beside)
alt = "Average attention to special tokens, punctuation and neighbors by layer, a dot for each head"
squares = value_map(values, f"to {column.short}", base=selection.base)
with head_view.figure_and_map(figure, alt, squares, f"{weights} to {column.short}", "surface", selection):
    head_view.numbers(ANALYSIS, result, selection, column)

page.metrics(entries)
head_view.examples(result, selection, column)
st.subheader("All heads")
page.table(result, [name for name in result.present if name in QUANTITIES], selection, "surface-table")
norms_view.lengths(result, selection)
page.downloads(result)
page.ending(
    result,
    r"\frac{1}{N}\sum_{i=1}^{N} A_{i,i-1} \qquad \frac{1}{N}\sum_{i=1}^{N}\sum_{j \in \text{class}} A_{ij}",
    "Sections 3.1 and 3.2. Values are averaged within each segment, then over segments. The authors' code swaps the "
    f"labels of next and previous; here they are correct. The paper's numbers: {paper.READ_OFF}. A token that occurs "
    "twice in 128 would get about 1/64 of the attention by chance.",
    measure,
    section=2,
)
