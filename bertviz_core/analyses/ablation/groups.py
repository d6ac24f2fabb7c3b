"""Sets of heads that are switched off together, with as many heads of the same layers drawn at random beside them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bertviz_core.analyses.behaviors import BEHAVIORS, OTHER

DRAWS, POINTS = 5, 20


@dataclass(frozen=True, slots=True)
class Group:
    """Heads that are removed together.

    Attributes:
        name: For display.
        heads: (layer, head) bool.
        draws: The same, of random heads; none where a draw would be the group itself.
    """

    name: str
    heads: np.ndarray
    draws: tuple[np.ndarray, ...] = ()


def groups(labels: np.ndarray, seed: int) -> list[Group]:
    """The groups to switch off together: each behavior of `labels` (layer, head), and each layer."""
    named = [(name, labels == name) for name in BEHAVIORS if name != OTHER and (labels == name).any()]
    layers = [(f"layer {i + 1}", np.arange(len(labels))[:, None] == i) for i in range(len(labels))]
    every = [(name, np.broadcast_to(heads, labels.shape)) for name, heads in (*named, *layers)]
    return [Group(name, heads, _draws(heads, [seed % 2**64, i])) for i, (name, heads) in enumerate(every)]


def _draws(heads: np.ndarray, seed: list[int]) -> tuple[np.ndarray, ...]:
    """Random sets with as many heads of each layer as a group has, drawn without replacement."""
    counts = heads.sum(1)
    if set(counts.tolist()) <= {0, heads.shape[1]}:
        return ()
    draw = np.random.default_rng(seed)
    orders = draw.random((DRAWS, *heads.shape)).argsort(-1)  # (draw, layer, head)
    return tuple(orders < counts[None, :, None])


def removals(change: np.ndarray) -> list[np.ndarray]:
    """(layer, head) bool sets of the first heads by `change` (layer, head), the least important first: none, then about
    POINTS more, the last of all heads."""
    order = np.argsort(change, axis=None, kind="stable")
    rank = np.empty(change.size, dtype=int)
    rank[order] = np.arange(change.size)
    counts = np.unique(np.linspace(0, change.size, POINTS + 1).round().astype(int))
    return [(rank < count).reshape(change.shape) for count in counts]
