"""Figure 2: the release's three panels, with corrected labels."""

from collections.abc import Sequence

import plotly.graph_objects as go
from plotly.subplots import make_subplots

from bertviz_core.analyses.head_averages import HeadAverages
from bertviz_core.analyses.surface_patterns.columns import BY_QUANTITY
from bertviz_core.plotting.palette import NEUTRAL
from bertviz_core.plotting.style import by_layer, layer_axes, layer_line, stack_legends

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
    """Average attention by layer, a dot for each head, lines for layer means; panels without data are left out.

    Args:
        result: What is drawn.
        base: The number that heads are counted from.
        beside: Another result of the same quantities, whose layer means are added as dashed lines.
        panels: Those to draw.
    """
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
