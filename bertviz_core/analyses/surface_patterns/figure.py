"""The quantities of surface patterns, shares of attention or of norms; their columns, and Figure 2."""

import plotly.graph_objects as go

from bertviz_core import plotting
from bertviz_core.analyses.base.averages import HeadAverages, HeadColumn, averaged_column
from bertviz_core.plotting import CLS, FIRST, NEUTRAL, NEXT, OTHER_TO_SEP, PREVIOUS, PUNCTUATION, SEP, TOKENS, Marker

QUANTITIES = ("current", "previous", "next", "to_cls", "to_sep", "to_punct", "sep_to_sep", "other_to_sep", "to_first")
CLASSES = ("cls", "sep", "punct", "other")
NORM_LABELS = {
    **{f"norm_{name}": f"length of vectors from {TOKENS[name][0]}" for name in CLASSES},
    "norm_correlation": "correlation of length and attention weight",
}
NORM_QUANTITIES = tuple(NORM_LABELS)


def _share(quantity: str, where: str, name: str, marker: Marker, overview: bool = True) -> HeadColumn:
    return averaged_column(quantity, f"attention {where}", name=name, marker=marker, overview=overview, maximum=1.0)


COLUMNS = (  # in the order of the page's choice
    _share("previous", "to the previous token", "the previous token", PREVIOUS),
    _share("next", "to the next token", "the next token", NEXT),
    _share("current", "to the token itself", "the token itself", NEUTRAL),
    _share("to_cls", "to [CLS]", "[CLS]", CLS),
    _share("to_sep", "to [SEP]", "[SEP]", SEP),
    _share("to_punct", "to full stops and commas", "full stops and commas", PUNCTUATION),
    _share("sep_to_sep", "from [SEP] to [SEP]", "[SEP] to [SEP]", SEP, overview=False),
    _share("other_to_sep", "from other tokens to [SEP]", "other tokens to [SEP]", OTHER_TO_SEP, overview=False),
    _share("to_first", "from later tokens to the first token", "the first token", FIRST),
)
BY_QUANTITY = {column.quantity: column for column in COLUMNS}

PANELS = {  # title -> quantities
    "Attention to special tokens and punctuation": ("to_cls", "to_sep", "to_punct", "to_first"),
    "Attention to [SEP], by where it comes from": ("sep_to_sep", "other_to_sep"),
    "Attention to neighbors": ("current", "previous", "next"),
}


def paper_figure(
    result: HeadAverages, base: int = 1, beside: HeadAverages | None = None, panels: int = len(PANELS)
) -> go.Figure:
    """The first panels of Figure 2, without those that have no data; the layer means of `beside` are dashed lines."""
    drawn = [key for key in result.present if key != "to_first" or "to_cls" not in result]
    shown = {title: [key for key in PANELS[title] if key in drawn] for title in list(PANELS)[:panels]}
    shown = {title: keys for title, keys in shown.items() if keys}
    series = [[BY_QUANTITY[key].series(result) for key in keys] for keys in shown.values()]
    figure = plotting.layer_figure(series, tuple(shown), base=base, height=290 * len(shown), gap=0.13)
    if beside is not None:
        for row, keys in enumerate(shown.values(), start=1):
            for column in (BY_QUANTITY[key] for key in keys if key in beside):
                plotting.add_means(figure, column.series(beside), row, base, dash="dash")
        line = {"color": NEUTRAL[0], "width": 2, "dash": "dash"}
        name = f"means of {_weights(beside)}"
        figure.add_scatter(x=[None], y=[None], mode="lines", line=line, name=name, legend="legend", row=1, col=1)
    return figure.update_yaxes(title=f"average {_weights(result)}", range=[-0.02, 1.02])


def _weights(result: HeadAverages) -> str:
    return "norms" if result.provenance.get("settings", {}).get("weights") == "norms" else "attention"
