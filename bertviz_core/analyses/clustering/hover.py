"""What figures of clustering say of a head, and of their unit."""

from __future__ import annotations

import numpy as np

from bertviz_core.analyses.clustering.result import Clustering
from bertviz_core.heads import Head, all_heads
from bertviz_core.plotting.style import BEHAVIORS

AS_IS = {"selected": {"marker": {"opacity": 1}}, "unselected": {"marker": {"opacity": 1}}}


def hover_data(result: Clustering, base: int) -> np.ndarray:
    """(head, 2): the label counted from 1, for clicks, and what hovering says."""
    rows = []
    for head, behavior in zip(all_heads(*result.shape), result.behaviors.reshape(-1), strict=True):
        text = _text(result, head, str(behavior))
        near = ", ".join(f"{other.label(base)} at {value:.3g}" for other, value in result.nearest(head, 2))
        rows.append([head.label(), f"{head.label(base)}: {text}<br>nearest: {near or 'none'}"])
    return np.array(rows)


def _text(result: Clustering, head: Head, behavior: str) -> str:
    name = BEHAVIORS[behavior][-1]
    if behavior == "linguistic":
        return f"{name}: {result.named[head.label()]}"
    if behavior in ("broad", "other"):
        return f"{name}, entropy {result['entropy'][head]:.2f} nats"
    return f"{result[behavior][head]:.2f} to {name}"


def unit_of(result: Clustering) -> str:
    """Unit of the divergences."""
    return "nats, summed over tokens" if result.summed else "nats per token"
