"""Heads that a reader switches off, by names that an address can hold: "3-5", "layer 3", "behavior [SEP]"."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from bertviz_core.analyses.behaviors import BEHAVIORS, OTHER
from bertviz_core.heads import Head, all_heads
from bertviz_core.plotting import style


def switches(layers: int, heads: int, behaviors: np.ndarray | None = None) -> dict[str, np.ndarray]:
    """Names of heads, layers and behaviors that can be switched off, with their heads.

    Args:
        layers: Number of layers of the model.
        heads: Number of heads of each layer.
        behaviors: (layer, head) names, where they are known.

    Returns:
        Name -> (layer, head) bool: the behaviors that some head has, the layers, the heads.
    """
    named: dict[str, np.ndarray] = {}
    if behaviors is not None:
        present = {name: behaviors == name for name in BEHAVIORS if name != OTHER and (behaviors == name).any()}
        named = {f"behavior {style.BEHAVIORS[name][-1]}": heads for name, heads in present.items()}
    for layer in range(layers):
        named[f"layer {layer + 1}"] = np.broadcast_to(np.arange(layers)[:, None] == layer, (layers, heads))
    for head in all_heads(layers, heads):
        named[head.label()] = _single_head(head, layers, heads)
    return named


def switched_off(chosen: Iterable[str], named: dict[str, np.ndarray]) -> np.ndarray | None:
    """(layer, head) bool of all chosen names together; None for no head."""
    masks = [named[name] for name in chosen if name in named]
    return np.logical_or.reduce(masks) if masks else None


def _single_head(head: Head, layers: int, heads: int) -> np.ndarray:
    mask = np.zeros((layers, heads), dtype=bool)
    mask[head.layer, head.head] = True
    return mask
