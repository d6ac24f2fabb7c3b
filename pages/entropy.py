"""Entropy: how broadly each head looks (section 3.3; Figure 4)."""

import streamlit as st

from bertviz_core import paper
from bertviz_core.analyses.entropy import ANALYSIS
from bertviz_core.analyses.entropy.figure import paper_figure
from bertviz_core.analyses.entropy.measure import measure
from bertviz_core.analyses.entropy.result import Entropy
from bertviz_core.plotting.head_map import value_map
from pages.shared import page, stored_result
from pages.shared.derived import derived
from pages.shared.frame import choices, sidebar
from pages.shared.views import findings_view, head_view

selection = sidebar.current()
page.header("entropy", selection)
result = stored_result.result_or_stop(selection.request("entropy"), Entropy)

with st.container(horizontal=True, vertical_alignment="bottom"):
    column = head_view.choose(ANALYSIS, result)
    below = choices.slider("Maximum share of uniform entropy", 0.1, 1.0, 0.5, 0.05, key="share", width=280)
focused = head_view.over(-result["entropy"], -below * result.uniform, selection.base)
means = result.layer_means("entropy")
findings_view.headline(derived(ANALYSIS.column_finding, column, result, selection.base))
head_view.named(focused, f"At most {below:.0%} of the entropy of uniform attention")

paper_means, paper_cls = paper.LAYER_MEANS["entropy"], paper.LAYER_MEANS["from_cls"]
entries = [
    ("Mean entropy, first layer", f"{means[0]:.2f} nats", f"paper: {paper_means[0]:.1f}"),
    ("Mean entropy, last layer", f"{means[-1]:.2f} nats", f"paper: {paper_means[-1]:.1f}"),
]
if "from_cls" in result.present:
    last = result.layer_means("from_cls")[-1]
    entries.append(("From [CLS], last layer", f"{last:.2f} nats", f"paper: {paper.FROM_CLS_LAST_LAYER:.2f}"))
broadest = result["max_weight"].flat[result["entropy"].argmax()]
entries.append(("Broadest head: largest weight", f"{broadest:.1%}", "paper: about 10%"))

figure = page.drawn(paper_figure, result, selection.base)
alt = "Entropy of attention by layer in nats, a dot for each head, for all tokens and for [CLS] alone"
share = column.quantity == "max_weight"
unit, top, title = ("share", 1.0, "") if share else ("nats", result.uniform, "entropy, ")
squares = value_map(result[column.quantity], unit, base=selection.base, limits=(0.0, top), unit=unit)
with head_view.figure_and_map(figure, alt, squares, f"{title}{column.short}", "entropy", selection):
    head_view.numbers(ANALYSIS, result, selection, column)

page.metrics(entries)
head_view.examples(result, selection, column)
st.subheader("All heads")
page.table(result, [name for name in result.present if name != "uniform"], selection, "entropy-table")
page.downloads(result)
page.ending(
    result,
    r"H = -\frac{1}{N}\sum_{i=1}^{N}\sum_{j=1}^{N} A_{ij}\log A_{ij}",
    "Section 3.3, in nats, with 0 log 0 = 0. Entropies are averaged within each segment, then over segments. The "
    "dashed line marks uniform attention, the mean of log N. In the mode “as in the paper” attention is first "
    f"smoothed to 0.9999 A + 0.0001/N, as in the authors' code. The paper's numbers: {paper.READ_OFF}.",
    measure,
    section=4,
)
