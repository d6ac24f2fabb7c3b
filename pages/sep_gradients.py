"""[SEP] gradients: does attention to [SEP] matter to the model's predictions (section 3.2; Figure 3)?"""

import streamlit as st

from bertviz_core import paper
from bertviz_core.analyses.sep_gradients import ANALYSIS
from bertviz_core.analyses.sep_gradients.figure import head_rows, no_op_figure, paper_figure, shares_figure
from bertviz_core.analyses.sep_gradients.findings import sink
from bertviz_core.analyses.sep_gradients.measure import measure
from bertviz_core.analyses.sep_gradients.result import SepGradients
from bertviz_core.plotting.head_map import value_map
from bertviz_core.plotting.palette import TOKENS
from pages.shared import page, stored_result
from pages.shared.frame import sidebar
from pages.shared.views import findings_view, head_view

selection = sidebar.current()
page.header("sep_gradients", selection)
result = stored_result.result_or_stop(selection.request("sep_gradients"), SepGradients)
column = head_view.choose(ANALYSIS, result)

segments = int(result.segments.max())
entries = [
    ("Masked-word loss", f"{result.loss:.2f} nats", f"{segments:,} segments"),
    ("Masked-word accuracy", f"{result.accuracy:.1%}", f"of {result.masked:,}"),
]
[no_op] = ANALYSIS.findings(result, selection.base)
if no_op.quantity:
    findings_view.headline(no_op)
    token, peak, attention, ratio = sink(result)
    name, highest = TOKENS[token][0], max(paper.LAYER_MEANS["to_sep"])
    entries += [
        (f"Attention to {name}, layer {peak + selection.base}", f"{attention:.1%}", f"paper: {highest:.0%}, [SEP]"),
        (f"Gradient, {name} / other", f"{ratio:.2f}", "paper: near 0"),
    ]

figure = page.drawn(paper_figure, result, selection.base)
alt = "Mean gradient magnitude by layer on a log axis, a dot for each head, for four classes of target tokens"
values = result[column.quantity]
limit, unit = (1.0, "share") if column.quantity.startswith("attention") else (float(values.max()), "nats")
squares = value_map(values, unit, base=selection.base, limits=(0.0, limit), unit=unit)
head_view.figure_and_map(figure, alt, squares, column.short, "gradient", selection)
page.metrics(entries)
if {"to_sep", "to_other", "attention_to_sep"} <= set(result.present):
    st.subheader("Is attention to [SEP] a no-op?")
    st.caption(
        "It matters as much as the loss changes with it, weight for weight. Much attention with a gradient near 0 is a "
        f"no-op: the paper finds that in BERT-base from layer {paper.NO_OP_FROM_LAYER} on."
    )
    left, right = st.columns(2, gap="medium")
    with left:
        alt = "Attention to [SEP] by layer, and under it the gradient to [SEP] and to other tokens"
        page.chart(page.drawn(no_op_figure, result, selection.base), "no-op-figure", alt, head=selection.head)
    with right:
        alt = "Stacked bars by layer: the share of each class in attention, and in attention times gradient"
        page.chart(page.drawn(shares_figure, result, selection.base), "shares-figure", alt, clickable=False)

st.markdown(f"**Head {selection.label}**: each value with its 95% interval over {result.over}, and its rank")
st.dataframe(head_rows(result, selection.head), hide_index=True, alt=f"Every value of head {selection.label}, by class")
head_view.examples(result, selection, column)
st.subheader("All heads")
page.table(result, result.present, selection, "gradient-table")
page.downloads(result)
page.ending(
    result,
    r"G_{ij} = \left|\frac{\partial L}{\partial A_{ij}}\right| \qquad"
    r"\frac{1}{N\,|c|}\sum_{i=1}^{N}\sum_{j \in c} G_{ij} \qquad"
    r"\frac{1}{N}\sum_{i=1}^{N}\sum_{j \in c} A_{ij}\,G_{ij}",
    "Section 3.2. L is the masked-word loss of one segment alone: 15% of its non-special tokens are predicted (80% of "
    "them are replaced by the mask token, 10% by a random token, 10% are unchanged), sampled with the seed and the "
    "segment's number. A is the attention after the softmax. Classes c refer to the original tokens; [CLS] is a class "
    "of its own, and “other” is the rest. Values are averaged within each segment that has the class, then over those "
    "segments. Attention × gradient measures how much of the loss's first-order sensitivity flows through a class. "
    "The authors did not release code for this figure, and the paper prints no numbers.",
    measure,
    section=3,
)
