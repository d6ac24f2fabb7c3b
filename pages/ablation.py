"""Ablation: what the model loses without a head, without groups of heads, and without attention to [SEP]."""

import streamlit as st

from bertviz_core.analyses.ablation.changes import measure
from bertviz_core.analyses.ablation.figure import (
    change_map,
    curve_figure,
    estimate_figure,
    group_name,
    group_rows,
    groups_figure,
    head_rows,
    paper_figure,
)
from bertviz_core.analyses.ablation.result import Ablation
from bertviz_core.analyses.registry import ANALYSES
from bertviz_core.numbers import number
from pages.shared import page, stored_result
from pages.shared.derived import derived
from pages.shared.frame import choices, sidebar
from pages.shared.views import ablation_view, findings_view, head_view

WIDTHS = {name: st.column_config.Column(width=width) for name, width in (("quantity", 180), ("value", 165))}

selection = sidebar.current()
page.header("ablation", selection)
controls, options = page.controls()
with options:
    mean = choices.toggle(
        "Replace by the mean",
        key="mean",
        help="A head that is switched off gives its mean output over the corpus, in place of zeros.",
    )
request = selection.request("ablation", {"mean": True} if mean else {})
result = stored_result.result_or_stop(request, Ablation)
base, head = selection.base, selection.head
with controls:
    column = head_view.choose(ANALYSES["ablation"], result)

change, worse = result["loss_change"], int(result.matters.sum())
findings_view.headline(ANALYSES["ablation"].column_finding(column, result, base))
entries = [
    ("Loss of the whole model", f"{result.loss:.2f} nats", f"{result.accuracy:.1%} of {result.masked:,} right"),
    ("Heads that matter", f"{worse} of {change.size}", "a corrected interval above 0"),
]
if "to_sep_loss_change" in result.present:
    at = result.largest("to_sep_loss_change")
    to_sep = result["to_sep_loss_change"][at]
    entries.append(("Largest, [SEP] only", f"{to_sep:+.3g} nats", f"head {at.label(base)}; a no-op: 0"))
correlation = result.correlation()
entries.append(("Gradient estimate", f"{correlation:.2f}", "Spearman's correlation"))

figure, squares = page.drawn(paper_figure, result, base), derived(change_map, result, column, base)
alt = "Change of the masked-word loss by layer, a dot for each head: without the head, and without [SEP] alone"
heading = "**Change of the loss** by layer, a dot for each head"
head_view.figure_and_map(figure, alt, squares, column.short, "ablation", selection, heading, column.label)
page.metrics(entries)

left, right = st.columns(2, gap="medium")
with left:
    st.markdown(f"**Head {selection.label}**: each change with its 95% interval, and its rank")
    rows = head_rows(result, head)
    st.dataframe(rows, hide_index=True, column_config=WIDTHS, alt=f"Every value of head {selection.label}")
    st.subheader("Does the gradient tell?")
    st.caption(f"Spearman's rank correlation over {change.size} heads: {correlation:.2f}.")
    alt = "Scatter plot: the gradient estimate of each head against the measured change of the loss"
    page.chart(page.drawn(estimate_figure, result, base), "ablation-estimate", alt, head=head)
with right:
    ablation_view.words(result, selection)

left, right = st.columns(2, gap="medium")
with left:
    st.subheader("How many heads are needed?")
    st.caption(ablation_view.needed(result))
    alt = "Curve: the masked-word loss while heads are switched off, the least important first"
    page.chart(page.drawn(curve_figure, result), "ablation-curve", alt, clickable=False)
with right:
    st.subheader("Groups of heads")
    largest = max(result.groups, key=lambda group: group["loss_change"])
    st.caption(
        f"All heads of a behavior or a layer at once, beside as many heads drawn from the same layers, five times. The "
        f"largest change: {group_name(largest['name'])}, {number(largest['loss_change'])} nats."
    )
    alt = "The change of the loss without each group of heads, with intervals, and without random heads"
    page.chart(page.drawn(groups_figure, result), "ablation-groups", alt, clickable=False)
st.dataframe(group_rows(result), hide_index=True, height="content", alt="A row for each group of heads")

st.subheader("All heads")
page.table(result, result.present, selection, "ablation-table")
page.downloads(result)
page.ending(
    result,
    r"\Delta_{lh} = \frac{1}{S}\sum_{s=1}^{S} \bigl(L_s^{\text{without } lh} - L_s\bigr) \qquad"
    r"E_{lh} = \frac{1}{S}\sum_{s=1}^{S} \frac{1}{N_s}\sum_{i=1}^{N_s}"
    r"\left|o_i^{lh} \cdot \frac{\partial L_s}{\partial o_i^{lh}}\right|",
    "Beyond the paper. L is the masked-word loss of a segment, with the same masked words as on the page [SEP] "
    "gradients. A head is switched off by replacing its output o by zeros (Michel et al., 2019), or by its mean; "
    "“without [SEP]” sets only its attention to [SEP] to 0, and leaves the other weights as they are. Changes are "
    "paired by segment; intervals are 95% by document. E is the gradient estimate of Michel et al. Behaviors are "
    "those of Figure 6, measured on the same segments. Without another limit the first 64 segments are read.",
    measure,
    section=12,
)
