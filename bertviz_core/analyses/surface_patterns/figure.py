"""Figure 2: attention to neighbors, special tokens and punctuation, by layer."""

import plotly.graph_objects as go

from bertviz_core import plotting
from bertviz_core.analyses.base.averages import HeadAverages
from bertviz_core.analyses.surface_patterns.result import BY_QUANTITY, BothWeights, weights_of
from bertviz_core.plotting import NEUTRAL

PANELS = {  # from the title of each panel to its quantities
    "Attention to special tokens and punctuation": ("to_cls", "to_sep", "to_punct", "to_first"),
    "Attention to [SEP], by where it comes from": ("sep_to_sep", "other_to_sep"),
    "Attention to neighbors": ("current", "previous", "next"),
}


def paper_figure(result: HeadAverages, panels: int = len(PANELS)) -> go.Figure:
    """The first panels of Figure 2, without those that have no data; of both weights the layer means of the other ones
    are dashed lines."""
    drawn = [key for key in result.present if key != "to_first" or "to_cls" not in result]
    keys_of = {title: [key for key in PANELS[title] if key in drawn] for title in list(PANELS)[:panels]}
    keys_of = {title: keys for title, keys in keys_of.items() if keys}
    series = [[BY_QUANTITY[key].series(result) for key in keys] for keys in keys_of.values()]
    figure = plotting.layer_figure(series, tuple(keys_of), height=290 * len(keys_of), gap=0.13)
    if isinstance(result, BothWeights):
        beside = result.beside
        for row, keys in enumerate(keys_of.values(), start=1):
            for column in (BY_QUANTITY[key] for key in keys if key in beside):
                plotting.add_means(figure, column.series(beside), row, dash="dash")
        line = {"color": NEUTRAL[0], "width": 2, "dash": "dash"}
        name = f"means of {weights_of(beside)}"
        figure.add_scatter(x=[None], y=[None], mode="lines", line=line, name=name, legend="legend", row=1, col=1)
    return figure.update_yaxes(title=f"average {weights_of(result)}", range=[-0.02, 1.02])
