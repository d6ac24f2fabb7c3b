"""The quantities of surface patterns, and their columns.

Of every head the shares of attention, 0 to 1, for QUANTITIES. Where norms were read, these are shares of norms, and
NORM_QUANTITIES follow: the mean length |f(x_j)| of what the tokens of each class pass on, and Spearman's correlation,
over the tokens of a segment, of that length with the mean attention weight that the token receives (docs/methods.md,
section 11).
"""

from collections.abc import Sequence
from functools import partial

import plotly.graph_objects as go
from plotly.subplots import make_subplots

from bertviz_core.analyses.head_averages import HeadAverages, averaged_column
from bertviz_core.plotting import palette
from bertviz_core.plotting.palette import NEUTRAL, TOKENS
from bertviz_core.plotting.style import by_layer, layer_axes, layer_line, stack_legends

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


GAP = 0.13  # between panels, as a share of the figure
Panel = tuple[str, tuple[str, ...]]  # title, quantities
PANELS: tuple[Panel, ...] = (
    ("Attention to special tokens and punctuation", ("to_cls", "to_sep", "to_punct", "to_first")),
    ("Attention to [SEP], by where it comes from", ("sep_to_sep", "other_to_sep")),
    ("Attention to neighbors", ("current", "previous", "next")),
)


def paper_figure(
    result: HeadAverages, base: int = 1, beside: HeadAverages | None = None, panels: Sequence[Panel] = PANELS
) -> go.Figure:
    """Average attention by layer, a dot for each head, lines for layer means; panels without data are left out. The
    layer means of another result, `beside`, are added as dashed lines."""
    drawn = [key for key in result.present if key != "to_first" or "to_cls" not in result.present]
    panels = [(title, shown) for title, keys in panels if (shown := tuple(key for key in keys if key in drawn))]
    titles = [title for title, _ in panels]
    figure = make_subplots(len(panels), 1, shared_xaxes=True, vertical_spacing=GAP, subplot_titles=titles)
    for row, (_, keys) in enumerate(panels, start=1):
        by_layer(figure, [BY_QUANTITY[key].series(result) for key in keys], row, base=base)
        if beside is not None:
            for key in (key for key in keys if key in beside.present):
                layer_line(figure, BY_QUANTITY[key].series(beside), row, base, dash="dash")
    if beside is not None:
        line = {"color": NEUTRAL[0], "width": 2, "dash": "dash"}
        name = f"means of {_maps(beside)}"
        figure.add_scatter(x=[None], y=[None], mode="lines", line=line, name=name, legend="legend", row=1, col=1)
    stack_legends(figure, len(panels), GAP)
    figure.update_yaxes(title=f"average {_maps(result)}", range=[-0.02, 1.02])
    layer_axes(figure, result["current"].shape[0], len(panels), base)
    return figure.update_layout(height=290 * len(panels))


def _maps(result: HeadAverages) -> str:
    """What the maps contain."""
    return "norms" if result.provenance.get("settings", {}).get("weights") == "norms" else "attention"
