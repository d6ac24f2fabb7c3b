"""Ablation: how the loss changes without a head, a group of heads, or attention to the sink."""

import streamlit as st

from bertviz_core.analyses.ablation.figure import curve_figure, estimate_figure, groups_figure
from bertviz_core.analyses.ablation.words import words_note, words_title
from pages.shared import page
from pages.shared.frame import links
from pages.shared.messages import joined, plain
from pages.shared.views.analysis_page import AnalysisPage


def quoted(guess: str, original: str) -> str:
    """A guess as Markdown, with a mark that says whether it is right."""
    text = f"“{plain(guess)}”"
    return f"**{text}** ✓" if guess == original else f"{text} ✗"


view = AnalysisPage("ablation")
result = view.result
selection = view.selection
view.draw_figures()

view.draw_cards()

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
    st.header(words_title(selection.head), anchor=False)
    st.caption(words_note(len(words)))
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
