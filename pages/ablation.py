"""Ablation: how the loss changes without a head, a group of heads, or attention to the sink."""

import streamlit as st

from bertviz_core.analyses.ablation.figure import curve_figure, estimate_figure, groups_figure
from bertviz_core.numbers import number
from bertviz_core.plotting import TOKENS
from pages.shared import page, widgets
from pages.shared.frame import links
from pages.shared.messages import joined, plain
from pages.shared.state import session
from pages.shared.state.choices import Ablation
from pages.shared.views.analysis_page import AnalysisPage


def quoted(guess: str, original: str) -> str:
    text = f"“{plain(guess)}”"
    return f"**{text}** ✓" if guess == original else f"{text} ✗"


chosen = session.page(Ablation)
controls = page.controls()
with controls:
    about = "An ablated head outputs its mean over the corpus instead of zeros."
    widgets.toggle("Replace by the mean", "mean", chosen.mean, help=about)
view = AnalysisPage(chosen, controls)
result = view.result
selection = view.selection
view.draw_figures()

entries = [
    ("Loss of the full model", f"{result.loss:.2f} nats", f"in {int(result.segments.max()):,} passages"),
]
if "to_sink_loss_change" in result.present:
    head = result.largest("to_sink_loss_change")
    change = number(result["to_sink_loss_change"][head], "+")
    title = f"Largest loss change without attention to {TOKENS[result.sink][0]}, nats"
    entries.append((title, change, f"head {head.label()}; no-op: 0"))
entries.append(("Gradient estimate", f"{result.correlation():.2f}", "Spearman's correlation"))
page.metrics(entries)

left, right = st.columns(2, gap="medium")
with left:
    st.header("Does the gradient predict it?", anchor=False)
    alt = "Scatter plot: the gradient estimate of each head against the measured change of the loss"
    drawing = page.drawn(estimate_figure, result)
    page.chart(drawing, "ablation-estimate", alt, selection.basis, head=selection.head)
    st.header("How many heads are needed?", anchor=False)
    view.draw_finding("together")
    alt = "Curve: the loss while heads are ablated, the least important first"
    page.chart(page.drawn(curve_figure, result), "ablation-curve", alt, selection.basis)
with right:
    words = list(result.words(selection.head))
    st.header(f"Words whose loss rises most without head {selection.label}", anchor=False)
    st.caption("Largest increase of the loss first." if words else "No word is predicted worse without this head.")
    for word in words:
        original = word["original"]
        before, after = (quoted(word[run], original) for run in ("before", "after"))
        st.markdown(
            f"**+{word['loss_after'] - word['loss_before']:.2f}** “{plain(original)}”: the model guesses "
            f"{before}, without the head {after}  \n:gray[{joined(word['left'])}] "
            f"**{plain(word['shown'])}** :gray[{joined(word['right'])}]"
        )
        links.to_segment(word["number"], selection.head)

st.header("Groups of heads", anchor=False)
st.caption("All heads of a behavior or a layer at once, beside as many heads drawn from the same layers, five times.")
alt = "The change of the loss without each group of heads, with intervals, and without random heads"
page.chart(page.drawn(groups_figure, result), "ablation-groups", alt, selection.basis)

view.draw_heads()
view.end()
