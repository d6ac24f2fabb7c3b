"""Views of the attention of one input: between tokens or words, with or without special tokens, within or across
segments (Figures 1 and 5; methods, section 10)."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import safetensors.numpy

from bertviz_core.analyses.results import head_frame, to_csv
from bertviz_core.errors import SettingsError
from bertviz_core.heads import Head, ranks
from bertviz_core.models.encoding import maps_of_one
from bertviz_core.models.labels import Layout, Units

# name shown, used in permalinks and on the command line -> (side of the query, side of the key)
SIDES = {"all": None, "A to A": (0, 0), "A to B": (0, 1), "B to A": (1, 0), "B to B": (1, 1)}

THUMBNAIL, MIN_SIZE = 24, 8  # most squares along one side of a head's small picture, and the fewest that it is cut to
WIDTH = 330  # squares that all layers' pictures have side by side


@dataclass(frozen=True)
class InputView:
    """Options of an input's view. `sides` is one of SIDES; `first_piece` reads a split word's row from its first piece,
    as the release does, not from the mean over its pieces."""

    words: bool = False
    special: bool = True
    sides: str = "all"
    first_piece: bool = False


@dataclass(frozen=True)
class InputAttention:
    """Attention of every head on one input.

    Attributes:
        queries: Units that attend.
        keys: Units that are attended to.
        weights: (layer, head, query, key) float32.
    """

    queries: Units
    keys: Units
    weights: np.ndarray

    def without_special(self) -> InputAttention:
        """Special tokens hidden; the rows that are left sum to 1 again (one that had no other weight stays 0)."""
        queries, keys = ~self.queries.special, ~self.keys.special
        weights = self.weights[:, :, queries][..., keys]
        total = weights.sum(-1, keepdims=True)
        weights = np.divide(weights, total, out=np.zeros_like(weights), where=total > 0)
        return InputAttention(self.queries.keep(queries), self.keys.keep(keys), weights)

    def between(self, query_side: int, key_side: int) -> InputAttention:
        """The attention from one segment to one segment; the weights stay as they are."""
        queries, keys = self.queries.side == query_side, self.keys.side == key_side
        return InputAttention(self.queries.keep(queries), self.keys.keep(keys), self.weights[:, :, queries][..., keys])

    def to_frame(self, head: Head) -> pd.DataFrame:
        """A row for each line of one head; positions are those of the units' first tokens, from 1."""
        i, j = np.indices(self.weights[head].shape).reshape(2, -1)
        return pd.DataFrame(
            {
                "from_position": self.queries.start[i] + 1,
                "from": np.array(self.queries.labels, dtype=object)[i],
                "to_position": self.keys.start[j] + 1,
                "to": np.array(self.keys.labels, dtype=object)[j],
                "weight": self.weights[head].reshape(-1),
            }
        )

    def opening_pair(self, query: int | None = None, key: int | None = None) -> tuple[int, int]:
        """The (query, key) with the largest weight of any head; if an end is given, of those with that end. Neighbors
        and special units, to which many heads attend, are chosen only if nothing else is left."""
        starts = np.union1d(self.queries.start, self.keys.start)
        queries, keys = (np.searchsorted(starts, units.start) for units in (self.queries, self.keys))
        near = abs(queries[:, None] - keys) <= 1
        special = self.queries.special[:, None] | self.keys.special
        weights = self.weights.max((0, 1)) - near - 2.0 * special
        rows, columns = (slice(end, None if end is None else end + 1) for end in (query, key))
        shown = weights[rows, columns]
        row, column = np.unravel_index(int(shown.argmax()), shown.shape)
        return int(row) + (query or 0), int(column) + (key or 0)

    def strongest_pair(self, head: Head) -> tuple[int, int]:
        """The (query, key) of a head's largest weight; special units, and queries that a causal mask leaves a single
        key, only where there are no others."""
        has_choice = (self.weights.max((0, 1)) > 0).sum(1) > 1
        words = np.outer(~self.queries.special & has_choice, ~self.keys.special)
        row, column = np.unravel_index(int((self.weights[head] - 2.0 * ~words).argmax()), words.shape)
        return int(row), int(column)

    def pair(self, source: int, target: int) -> tuple[int, int]:
        """The (query, key) of the units that begin at two positions, from 1; raises SettingsError for others."""
        indices = []
        for units, position in ((self.queries, source), (self.keys, target)):
            if position - 1 not in units.start:
                starts = zip(units.start, units.labels, strict=True)
                known = ", ".join(f"{start + 1} ({label})" for start, label in starts)
                raise SettingsError(f"No token or word begins at position {position}.", hint=f"Choose one of {known}.")
            indices.append(units.start.tolist().index(position - 1))
        return indices[0], indices[1]

    def pair_frame(self, query: int, key: int) -> pd.DataFrame:
        """A row for each head, sorted by the weight from one unit to another, by their indices (methods, section
        10): label, layer and head from 1, `weight`, `rank` among all heads, and `rank_of_target`, 1 where the head
        attends from the unit to no other with a larger weight."""
        rows = self.weights[:, :, query]
        weight = rows[..., key]
        columns = {"weight": weight, "rank": ranks(weight), "rank_of_target": 1 + (rows > weight[..., None]).sum(-1)}
        return head_frame(columns).sort_values("rank", ignore_index=True)

    def to_csv(self, head: Head, origin: dict[str, Any]) -> bytes:
        """`to_frame` of one head; the last columns say in every row what it was computed from."""
        return to_csv(self.to_frame(head).assign(**origin))

    def pair_to_csv(self, query: int, key: int, origin: dict[str, Any]) -> bytes:
        """`pair_frame`, with the two units and the origin in every row."""
        ends = {
            f"{name}{suffix}": value
            for name, units, index in (("from", self.queries, query), ("to", self.keys, key))
            for suffix, value in (("_position", int(units.start[index]) + 1), ("", units.labels[index]))
        }
        return to_csv(self.pair_frame(query, key).assign(**ends, **origin))

    def to_safetensors(self, origin: dict[str, Any]) -> bytes:
        """`attention` (layer, head, query, key) of every head, the labels in the header."""
        header = {"queries": self.queries.labels, "keys": self.keys.labels, **origin}
        metadata = {name: json.dumps(value, ensure_ascii=False) for name, value in header.items()}
        return safetensors.numpy.save({"attention": np.ascontiguousarray(self.weights)}, metadata)


def apply_view(layout: Layout, maps: np.ndarray, view: InputView) -> InputAttention:
    """What `view` shows of an input's maps (layer, head, query, key) between tokens: words first, then special tokens
    hidden, then the segments chosen."""
    shown = InputAttention(layout.tokens, layout.tokens, maps)
    if view.words:
        shown = InputAttention(
            layout.words, layout.words, maps_of_one(maps, layout.owner, first_piece=view.first_piece)
        )
    if not view.special:
        shown = shown.without_special()
    sides = SIDES[view.sides]
    return shown.between(*sides) if sides else shown


def moved(before: np.ndarray, after: np.ndarray) -> np.ndarray:
    """(layer, head) share of attention that went elsewhere, 0 to 1: half the sum of |difference| over keys, mean over
    queries. Both maps are (layer, head, query, key)."""
    return np.asarray(np.abs(after - before).sum(-1).mean(-1) / 2)


def thumbnails(weights: np.ndarray) -> np.ndarray:
    """(layer, head, down, across) uint8, 255 for weight 1: the maximum of each patch of the maps (layer, head, query,
    key). Of many layers each has smaller pictures."""
    maximum = max(MIN_SIZE, min(THUMBNAIL, WIDTH // len(weights)))
    rows, columns = (_patches(size, maximum) for size in weights.shape[2:])
    largest = np.maximum.reduceat(np.maximum.reduceat(weights, rows, axis=2), columns, axis=3)
    return np.asarray(np.rint(255 * np.clip(largest, 0, 1)), dtype=np.uint8)


def _patches(size: int, maximum: int) -> np.ndarray:
    """Starts of at most `maximum` runs of nearly equal length."""
    count = min(size, maximum)
    return np.arange(count) * size // max(count, 1)


def shorten(label: str, maximum: int = 24) -> str:
    """The beginning of a long label, for places that cannot cut it by themselves."""
    return label if len(label) <= maximum else label[: maximum - 1] + "…"
