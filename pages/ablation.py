"""Ablation: how the loss changes without a head, a group of heads, or attention to the sink."""

import streamlit as st

from bertviz_core.analyses.ablation import curve_figure, estimate_figure, group_name, groups_figure
from bertviz_core.analyses.ablation.result import Ablation
from bertviz_core.analyses.registry import ANALYSES
from bertviz_core.analyses.request import Request
from bertviz_core.numbers import number
from bertviz_core.plotting import TOKENS
from pages.shared import page
from pages.shared.frame import Selection, choices, links
from pages.shared.messages import joined, plain
from pages.shared.page import Metric
from pages.shared.views import analysis_page

TOLERANCE = 0.05  # of the whole model's loss


def request(selection: Selection) -> Request:
    about = "An ablated head outputs its mean over the corpus instead of zeros."
    mean = choices.toggle("Replace by the mean", key="mean", help=about)
    return selection.request("ablation", {"mean": True} if mean else {})


def numbers(result: Ablation, selection: Selection) -> list[Metric]:
    change = result["loss_change"]
    worse = int(result.matters.sum())
    entries = [
        ("Loss of the full model", f"{result.loss:.2f} nats", f"in {int(result.segments.max()):,} segments"),
        ("Heads that matter", f"{worse} of {change.size}", "a corrected interval above 0"),
    ]
    if "to_sink_loss_change" in result.present:
        at = result.largest("to_sink_loss_change")
        to_sink = result["to_sink_loss_change"][at]
        label = at.label(selection.base)
        name = TOKENS[result.sink][0]
        entries.append((f"Largest, {name} only, nats", number(to_sink, "+"), f"head {label}; a no-op: 0"))
    return [*entries, ("Gradient estimate", f"{result.correlation():.2f}", "Spearman's correlation")]


def below(result: Ablation, selection: Selection) -> None:
    left, right = st.columns(2, gap="medium")
    with left:
        st.header("Does the gradient predict it?")
        alt = "Scatter plot: the gradient estimate of each head against the measured change of the loss"
        drawing = page.drawn(estimate_figure, result, selection.base)
        page.chart(drawing, "ablation-estimate", alt, head=selection.head)
        st.header("How many heads are needed?")
        within = result.removed[result.removed_loss <= (1 + TOLERANCE) * result.loss]
        st.caption(
            f"{int(within.max())} of {int(result.removed.max())} heads can be switched off together while the loss "
            f"stays within {TOLERANCE:.0%}."
        )
        alt = "Curve: the loss while heads are ablated, the least important first"
        page.chart(page.drawn(curve_figure, result), "ablation-curve", alt)
    with right:
        words(result, selection)
    groups(result)


def words(result: Ablation, selection: Selection) -> None:
    """The words whose loss rises most without the chosen head, with the guesses before and after, right ones bold."""
    worst = list(result.words(selection.head))
    st.header(f"Words that head {selection.label} helps to predict")
    st.caption("Largest increase of the loss first." if worst else "No word is predicted worse without this head.")
    for word in worst:
        guesses = {
            name: f"**“{plain(word[name])}”** ✓" if word[name] == word["original"] else f"“{plain(word[name])}” ✗"
            for name in ("before", "after")
        }
        st.markdown(
            f"**+{word['loss_after'] - word['loss_before']:.2f}** “{plain(word['original'])}”: the model guesses "
            f"{guesses['before']}, without the head {guesses['after']}  \n:gray[{joined(word['left'])}] "
            f"**{plain(word['shown'])}** :gray[{joined(word['right'])}]"
        )
        links.to_segment(word["number"])


def groups(result: Ablation) -> None:
    """The change of the loss without all heads of a behavior or a layer."""
    st.header("Groups of heads")
    largest = max(result.groups, key=lambda group: group["loss_change"])
    st.caption(
        f"All heads of a behavior or a layer at once, beside as many heads drawn from the same layers, five times. "
        f"The largest change: {group_name(largest)}, {number(largest['loss_change'])} nats."
    )
    alt = "The change of the loss without each group of heads, with intervals, and without random heads"
    page.chart(page.drawn(groups_figure, result), "ablation-groups", alt)


TEXT = (
    "Beyond the paper. L is the loss of a segment, with the same words masked as on the page Sink gradients. "
    "A head is switched off by replacing its output o by zeros (Michel et al., 2019), or by its mean; "
    "“no attention to the sink” sets only its attention to the special token that receives the most attention on these "
    "segments to 0, and leaves the other weights as they are. Changes are "
    "paired by segment; intervals are 95% by document. E is the gradient estimate of Michel et al. Behaviors are "
    "those of Figure 6, measured on the same segments. Unless a limit is set, the first 64 segments are read."
)
analysis_page.show(ANALYSES["ablation"], request=request, numbers=numbers, below=below, text=TEXT)
