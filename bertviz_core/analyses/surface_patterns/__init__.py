"""Surface patterns: which heads look at neighbors, special tokens and punctuation (sections 3.1 and 3.2; Figure 2).

Of every head the shares of attention, 0 to 1, for QUANTITIES. Where norms were read, these are shares of norms, and
NORM_QUANTITIES follow: the mean length |f(x_j)| of what the tokens of each class pass on, and Spearman's correlation,
over the tokens of a segment, of that length with the mean attention weight that the token receives (docs/methods.md,
section 11).
"""

from __future__ import annotations

from bertviz_core.analyses.analysis import Analysis
from bertviz_core.analyses.head_column import averaged_column
from bertviz_core.plotting import palette

QUANTITIES = ("current", "previous", "next", "to_cls", "to_sep", "to_punct", "sep_to_sep", "other_to_sep")
CLASSES = ("cls", "sep", "punct", "other")
NORM_QUANTITIES = (*(f"norm_{name}" for name in CLASSES), "norm_correlation")

ANALYSIS = Analysis(
    name="surface_patterns",
    package=__name__,
    title="Surface patterns",
    summary="Attention to offsets, special tokens and punctuation, for every head (section 3.1, 3.2; Figure 2).",
    section="Section 3.1–3.2, Figure 2",
    icon=":material/grid_on:",
    columns=(
        averaged_column(
            "previous", "attention to the previous token", name="the previous token", marker=palette.PREVIOUS
        ),
        averaged_column("next", "attention to the next token", name="the next token", marker=palette.NEXT),
        averaged_column("current", "attention to the token itself", name="the token itself"),
        averaged_column("to_cls", "attention to [CLS]", name="[CLS]", marker=palette.CLS),
        averaged_column("to_sep", "attention to [SEP]", name="[SEP]", marker=palette.SEP),
        averaged_column("to_punct", "attention to . or ,", name=". or ,", marker=palette.PUNCTUATION),
        averaged_column(
            "sep_to_sep", "attention from [SEP] to [SEP]", name="[SEP] to [SEP]", marker=palette.SEP, overview=False
        ),
        averaged_column(
            "other_to_sep",
            "attention from other tokens to [SEP]",
            name="other tokens to [SEP]",
            marker=palette.OTHER_TO_SEP,
            overview=False,
        ),
    ),
    control="quantity",
    quantities=QUANTITIES,
    shared=True,
    prefix="",
)
