"""Surface patterns: which heads look at neighbors, special tokens and punctuation (sections 3.1, 3.2; Figure 2)."""

from bertviz_core import paper
from bertviz_core.analyses.head_averages import HeadAverages
from bertviz_core.analyses.head_column import HeadColumn
from bertviz_core.analyses.surface_patterns import ANALYSIS
from bertviz_core.analyses.surface_patterns.figure import paper_figure
from bertviz_core.plotting.drawing import Drawing
from pages.shared import page
from pages.shared.frame import choices
from pages.shared.frame.selection import Selection
from pages.shared.views import analysis_page, head_view, norms_view


def over(result: HeadAverages, column: HeadColumn, selection: Selection) -> tuple[list[str], str]:
    threshold = choices.slider("Threshold", 0.1, 0.95, 0.5, 0.05, key="over", width=280)
    heads = head_view.over(result[column.quantity], threshold, selection.base)
    return heads, f"Over {threshold:.0%} of the {selection.settings.weights} on {column.short}"


def numbers(result: HeadAverages, selection: Selection) -> list[tuple[str, str, str]]:
    entries = [
        (f"{name.capitalize()} token: heads > 0.5", f"{(result[name] > 0.5).sum()}", f"paper: {count}")
        for name, count in paper.HEADS_OVER_HALF.items()
    ]
    for name, title in (("to_sep", "To [SEP]"), ("sep_to_sep", "[SEP] to [SEP]")):
        if name in result.present:
            here, printed = result.layer_means(name), paper.LAYER_MEANS[name]
            layer = f"layer {int(here.argmax()) + selection.base}"
            entries.append((f"{title}, max: {layer}", f"{here.max():.2f}", f"paper: {max(printed):.2f}"))
    return entries


def figure(result: HeadAverages, selection: Selection) -> Drawing:
    return page.drawn(paper_figure, result, selection.base, norms_view.change(result, selection))


TEXT = (
    "Sections 3.1 and 3.2. Values are averaged within each segment, then over segments. The authors' code swaps the "
    f"labels of next and previous; here they are correct. The paper's numbers: {paper.READ_OFF}. A token that occurs "
    "twice in 128 would get about 1/64 of the attention by chance."
)
analysis_page.show(ANALYSIS, analysis_page.Parts(over, numbers, figure, after=norms_view.lengths, text=TEXT, section=2))
