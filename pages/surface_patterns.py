"""Surface patterns: which heads attend to neighbors, special tokens and punctuation (sections 3.1, 3.2; Figure 2)."""

import streamlit as st

from bertviz_core import paper
from bertviz_core.analyses.head_averages import HeadAverages, HeadColumn
from bertviz_core.analyses.registry import ANALYSES
from bertviz_core.analyses.surface_patterns import lengths_sentence, norms_sentence, sinks
from bertviz_core.analyses.surface_patterns.figure import BY_QUANTITY, NORM_LABELS, paper_figure
from bertviz_core.plotting.drawing import FigureSpec
from bertviz_core.settings import Weights
from pages.shared import page, services
from pages.shared.frame import Selection, choices
from pages.shared.memoize import memoize
from pages.shared.messages import plain
from pages.shared.page import Metric
from pages.shared.views import analysis_page


def heads_over(result: HeadAverages, column: HeadColumn, selection: Selection) -> str:
    threshold = choices.slider("Threshold", 0.1, 0.95, 0.5, 0.05, key="over", width=280)
    what = f"Over {threshold:.0%} of the {selection.settings.weights} on {column.short}"
    return analysis_page.named_over(result[column.quantity], threshold, selection.base, what)


def numbers(result: HeadAverages, selection: Selection) -> list[Metric]:
    entries = [
        (f"{name.capitalize()} token: heads > 0.5", f"{(result[name] > 0.5).sum()}", f"paper: {count}")
        for name, count in paper.HEADS_OVER_HALF.items()
        if name in result.present
    ]
    for name in sinks(result)[:1]:
        means = result[name].mean(1)
        printed = max(paper.LAYER_MEANS["to_sep"])
        title = f"To {BY_QUANTITY[name].short}, max: layer {int(means.argmax()) + selection.base}"
        token = "" if name == "to_sep" else "[SEP], "
        entries.append((title, f"{means.max():.2f}", f"unmasked text; paper: {token}{printed:.2f}"))
    return entries


def in_other_weights(result: HeadAverages, selection: Selection) -> HeadAverages | None:
    """The stored result of norms for a result of attention weights, and vice versa."""
    other: Weights = "attention" if selection.settings.weights == "norms" else "norms"
    stored = services.find(selection.of_weights(other).request(result.analysis))
    return stored if isinstance(stored, HeadAverages) else None


def change(result: HeadAverages, selection: Selection) -> None:
    """What norms change if both results are stored, and the switch that adds both to the figure above."""
    norms = selection.settings.weights == "norms"
    other = in_other_weights(result, selection)
    if other is None:
        if norms:
            st.caption("To see what norms change, choose the weights `attention` above and analyze.")
        return
    weights, moved = (other, result) if norms else (result, other)
    with st.container(horizontal=True, vertical_alignment="center"):
        label = f"Add {'attention weights' if norms else 'norms'}"
        choices.toggle(label, key="both", help="Adds dashed lines to the figure.", width="content")
        st.markdown(f"{plain(norms_sentence(weights, moved, selection.base))}.")


def lengths(result: HeadAverages, selection: Selection) -> None:
    """The lengths of the vectors, for every head and class of tokens; nothing for a result of attention weights."""
    if "norm_correlation" not in result.present:
        return
    st.header("Lengths of the vectors")
    st.markdown(f"{plain(lengths_sentence(result, selection.base))}.")
    st.caption(
        "Length: the mean over what the tokens of a class pass on through a head. Correlation: Spearman's, over "
        "the tokens of a segment, of that length with the mean attention weight that a token receives."
    )
    titles = {name: label for name, label in NORM_LABELS.items() if name in result.present}
    page.table(memoize(HeadAverages.to_frame, result), [*titles], selection, "lengths-table", titles=titles)


def figure(result: HeadAverages, selection: Selection) -> FigureSpec:
    other = in_other_weights(result, selection) if choices.ahead("both", "false") == "true" else None
    return page.drawn(paper_figure, result, selection.base, other)


TEXT = (
    "Sections 3.1 and 3.2. Values are averaged within each segment, then over segments. The authors' code swaps the "
    f"labels of next and previous; here they are correct. The paper's numbers: {paper.READ_OFF}. A token that occurs "
    "twice in 128 would get about 1/64 of the attention by chance."
)
analysis_page.show(
    ANALYSES["surface_patterns"],
    beyond=heads_over,
    numbers=numbers,
    figure=figure,
    below=change,
    after=lengths,
    text=TEXT,
)
