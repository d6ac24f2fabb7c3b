"""Induction heads: which heads attend to the token that followed an earlier occurrence?"""

from pages.shared.views import analysis_page

TEXT = (
    "Beyond the paper, after Olsson et al. (2022), *In-context Learning and Induction Heads*. n distinct tokens are "
    "drawn from the model's vocabulary and repeated once, in the tokenizer's own frame; i counts tokens without that "
    "frame. From each token of the repetition, a prefix-matching head attends to what followed its first occurrence. "
    "The controls are the same positions in inputs whose second half is n other tokens. “More settings” has the seed, "
    "the number of inputs (every other one a control; 100 where there is no limit) and their length."
)
analysis_page.show("induction", TEXT)
