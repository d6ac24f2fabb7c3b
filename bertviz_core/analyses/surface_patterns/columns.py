"""The quantities of surface patterns, and their columns.

Of every head the shares of attention, 0 to 1, for QUANTITIES. Where norms were read, these are shares of norms, and
NORM_QUANTITIES follow: the mean length |f(x_j)| of what the tokens of each class pass on, and Spearman's correlation,
over the tokens of a segment, of that length with the mean attention weight that the token receives (docs/methods.md,
section 11).
"""

from functools import partial

from bertviz_core.analyses.head_averages import averaged_column
from bertviz_core.plotting import palette
from bertviz_core.plotting.palette import TOKENS

QUANTITIES = (
    *("current", "previous", "next", "to_cls", "to_sep", "to_punct", "sep_to_sep", "other_to_sep", "to_first"),
)
CLASSES = ("cls", "sep", "punct", "other")
NORM_LABELS = {
    **{f"norm_{name}": f"length of vectors from {TOKENS[name][0]}" for name in CLASSES},
    "norm_correlation": "correlation of length and attention weight",
}
NORM_QUANTITIES = tuple(NORM_LABELS)

_share = partial(averaged_column, maximum=1.0)
COLUMNS = (
    _share("previous", "attention to the previous token", name="the previous token", marker=palette.PREVIOUS),
    _share("next", "attention to the next token", name="the next token", marker=palette.NEXT),
    _share("current", "attention to the token itself", name="the token itself"),
    _share("to_cls", "attention to [CLS]", name="[CLS]", marker=palette.CLS),
    _share("to_sep", "attention to [SEP]", name="[SEP]", marker=palette.SEP),
    _share("to_punct", "attention to full stops and commas", name="full stops and commas", marker=palette.PUNCTUATION),
    _share("sep_to_sep", "attention from [SEP] to [SEP]", name="[SEP] to [SEP]", marker=palette.SEP, overview=False),
    _share(
        "other_to_sep",
        "attention from other tokens to [SEP]",
        name="other tokens to [SEP]",
        marker=palette.OTHER_TO_SEP,
        overview=False,
    ),
    _share("to_first", "attention from later tokens to the first token", name="the first token", marker=palette.FIRST),
)
BY_QUANTITY = {column.quantity: column for column in COLUMNS}
