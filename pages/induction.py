"""Induction heads: which heads attend to the token that followed an earlier occurrence?"""

from bertviz_core.analyses.induction import CONTROL, KINDS, Induction
from bertviz_core.analyses.registry import ANALYSES
from bertviz_core.heads import highest
from pages.shared.frame import Selection
from pages.shared.page import Metric
from pages.shared.views import analysis_page


def numbers(result: Induction, selection: Selection) -> list[Metric]:
    entries = []
    for name, (_, short, _) in KINDS.items():
        head = highest(result[name])
        label = f"{short.capitalize()}: head {head.label(selection.base)}"
        control = result[CONTROL.format(name)][head]
        entries.append((label, f"{result[name][head]:.1%}", f"control: {control:.1%}"))
    return entries


TEXT = (
    "Beyond the paper, after Olsson et al. (2022), *In-context Learning and Induction Heads*. n distinct tokens are "
    "drawn from the model's vocabulary and repeated once, in the tokenizer's own frame; i counts tokens without that "
    "frame. From each token of the repetition, a prefix-matching head attends to what followed its first occurrence. "
    "The controls are the same positions in inputs whose second half is n other tokens. “More settings” has the seed, "
    "the number of inputs (every other one a control; 100 where there is no limit) and their length."
)
analysis_page.show(ANALYSES["induction"], numbers=numbers, text=TEXT, section=15)
