"""The key numbers of the page of reach."""

import numpy as np

from bertviz_core.analyses.base.parts import Card
from bertviz_core.analyses.reach.result import BY_QUANTITY, Reach


def cards(result: Reach, below: float) -> list[Card]:
    """The mean distance, the mean sink rates, and how many heads have an output below a share of their layer's mean."""
    distance, uniform = (f"{result[name].mean():.1f}" for name in ("distance", "uniform"))
    entries = [("Mean distance", f"{distance} tokens", f"uniform attention: {uniform}")]
    if "distance_ordinary" in result:
        between, uniform = (f"{np.nanmean(result[name]):.1f}" for name in ("distance_ordinary", "uniform_ordinary"))
        entries.append(("Between ordinary tokens", f"{between} tokens", f"uniform attention: {uniform}"))
    for name in result.sinks:
        label = BY_QUANTITY[name].short.replace("sink", "Sink")
        entries.append((label, f"{result[name].mean():.0%}", "mean of all heads"))
    if "output" in result:
        output = result["output"]
        note = f"output below {below:.2f} of the layer's mean"
        entries.append(("Inactive heads", f"{(output < below).sum()} of {output.size}", note))
    return entries
