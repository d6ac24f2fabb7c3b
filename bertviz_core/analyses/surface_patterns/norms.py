"""What norms change in the surface patterns, and how long the vectors are (docs/methods.md, section 11)."""

from __future__ import annotations

import numpy as np

from bertviz_core.analyses.head_averages import HeadAverages
from bertviz_core.analyses.surface_patterns.columns import BY_QUANTITY, CLASSES
from bertviz_core.heads import highest
from bertviz_core.plotting.palette import TOKENS


def change(weights: HeadAverages, norms: HeadAverages, base: int = 1) -> str:
    """One sentence: what [SEP], or another class where there is none, receives of the weights and of the norms."""
    quantity = next(name for name in ("to_sep", "to_cls", "to_punct") if name in weights.present)
    layer = int(np.nanargmax(weights.layer_means(quantity)))
    (before, highest), (after, there) = (
        (result[quantity].mean(), result.layer_means(quantity)[layer]) for result in (weights, norms)
    )
    return (
        f"{BY_QUANTITY[quantity].short} receives {before:.0%} of the weights and {after:.0%} of the norms; in "
        f"layer {layer + base}, which attends to it most, {highest:.0%} and {there:.0%}"
    )


def lengths(norms: HeadAverages, base: int = 1) -> str:
    """What the lengths of the vectors have to do with attention."""
    correlation = norms["norm_correlation"]
    lowest = highest(-correlation)
    means = {name: norms[f"norm_{name}"].mean() for name in CLASSES if f"norm_{name}" in norms.present}
    ratios = [f"{TOKENS[name][0]} {mean / means['other']:.2f} times" for name, mean in means.items() if name != "other"]
    compared = f"Beside other tokens' vectors, those of {', '.join(ratios)} as long. " if "other" in means else ""
    return (
        f"{compared}Within a segment, the rank correlation of a token's vector length with the weight that it receives "
        f"is {np.nanmean(correlation):z.2f} on average over heads, and lowest in head {lowest.label(base)} "
        f"({correlation[lowest]:z.2f})"
    )
