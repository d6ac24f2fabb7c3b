"""Views of the attention of one input (Figures 1 and 5; methods, section 10), and tables of predictions for it."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
import safetensors.numpy

from bertviz_core import plotting
from bertviz_core.analyses.behaviors import BEHAVIORS, OTHER
from bertviz_core.analyses.results import head_frame, to_csv
from bertviz_core.errors import SettingsError
from bertviz_core.heads import Head, all_heads, ranks
from bertviz_core.models.encoding import maps_of_one
from bertviz_core.models.labels import Layout, Units
from bertviz_core.models.single_input import Prediction
from bertviz_core.plotting.head_map import HeadMap, picture_map

# name shown, used in permalinks and on the command line -> (side of the query, side of the key)
SIDES = {"all": None, "A to A": (0, 0), "A to B": (0, 1), "B to A": (1, 0), "B to B": (1, 1)}

THUMBNAIL = 24  # most squares along one side of a head's small picture
MIN_SIZE = 8  # the fewest that it is cut to
WIDTH = 330  # squares that all layers' pictures have side by side


@dataclass(frozen=True)
class InputView:
    """Options of an input's view; `first_piece` reads a split word's row from its first piece, as the release does."""

    words: bool = False
    special: bool = True
    sides: str = "all"  # one of SIDES
    first_piece: bool = False


@dataclass(frozen=True)
class InputAttention:
    """Attention of every head on one input: weights (layer, head, query, key) float32 from `queries` to `keys`."""

    queries: Units
    keys: Units
    weights: np.ndarray

    def keep(self, queries: np.ndarray, keys: np.ndarray) -> "InputAttention":
        """The attention from some of the units to some, (unit,) bool; the weights stay as they are."""
        weights = self.weights[:, :, queries][..., keys]
        return InputAttention(self.queries.keep(queries), self.keys.keep(keys), weights)

    def to_frame(self, head: Head) -> pd.DataFrame:
        """A row for each line of one head; positions are those of the units' first tokens, from 1."""
        i, j = np.indices(self.weights[head].shape).reshape(2, -1)
        columns = {
            "from_position": self.queries.start[i] + 1,
            "from": np.array(self.queries.labels, dtype=object)[i],
            "to_position": self.keys.start[j] + 1,
            "to": np.array(self.keys.labels, dtype=object)[j],
            "weight": self.weights[head].reshape(-1),
        }
        return pd.DataFrame(columns)

    def opening_pair(self, query: int | None = None, key: int | None = None) -> tuple[int, int]:
        """The (query, key) with the largest weight of any head; if an end is given, of those with that end. Neighbors
        and special units, to which many heads attend, are chosen only if nothing else is left."""
        starts = np.union1d(self.queries.start, self.keys.start)
        places = [np.searchsorted(starts, units.start) for units in (self.queries, self.keys)]
        near = abs(np.subtract.outer(*places)) <= 1
        special = self.queries.special[:, None] | self.keys.special
        weights = self.weights.max((0, 1)) - near - 2.0 * special
        rows, columns = (slice(end, None if end is None else end + 1) for end in (query, key))
        shown = weights[rows, columns]
        row, column = np.unravel_index(int(shown.argmax()), shown.shape)
        return int(row) + (query or 0), int(column) + (key or 0)

    def strongest_pair(self, head: Head) -> tuple[int, int]:
        """The (query, key) of a head's largest weight, by preference of words, and of queries with several keys."""
        has_choice = (self.weights.max((0, 1)) > 0).sum(1) > 1
        words = np.outer(~self.queries.special & has_choice, ~self.keys.special)
        row, column = np.unravel_index(int((self.weights[head] - 2.0 * ~words).argmax()), words.shape)
        return int(row), int(column)

    def pair(self, source: int, target: int) -> tuple[int, int]:
        """The (query, key) of the units that begin at two positions, from 1; raises SettingsError for others."""
        indices = []
        for units, position in ((self.queries, source), (self.keys, target)):
            starts = units.start.tolist()
            if position - 1 not in starts:
                known = ", ".join(f"{start + 1} ({label})" for start, label in zip(starts, units.labels, strict=True))
                raise SettingsError(f"No token or word begins at position {position}.", hint=f"Choose one of {known}.")
            indices.append(starts.index(position - 1))
        return indices[0], indices[1]

    def pair_frame(self, query: int, key: int) -> pd.DataFrame:
        """A row for each head, from 1, sorted by the weight between two units, by their indices: its rank among all
        heads, and `rank_of_target`, 1 where the head attends from the unit to no other with a larger weight."""
        rows = self.weights[:, :, query]
        weight = rows[..., key]
        columns = {"weight": weight, "rank": ranks(weight), "rank_of_target": 1 + (rows > weight[..., None]).sum(-1)}
        return head_frame(columns).sort_values("rank", ignore_index=True)

    def pictures(self, base: int) -> HeadMap:
        """The map of small pictures of all heads."""
        return picture_map(thumbnails(self.weights), base)

    def to_csv(self, head: Head, origin: dict[str, Any]) -> bytes:
        """`to_frame` of one head, with the origin in every row."""
        return to_csv(self.to_frame(head).assign(**origin))

    def pair_to_csv(self, query: int, key: int, origin: dict[str, Any]) -> bytes:
        """`pair_frame`, with the two units and the origin in every row."""
        ends: dict[str, Any] = {"from_position": self.queries.start[query] + 1, "from": self.queries.labels[query]}
        ends |= {"to_position": self.keys.start[key] + 1, "to": self.keys.labels[key]}
        return to_csv(self.pair_frame(query, key).assign(**ends, **origin))

    def to_safetensors(self, origin: dict[str, Any]) -> bytes:
        """`attention` (layer, head, query, key) of every head, the labels in the header."""
        header = {"queries": self.queries.labels, "keys": self.keys.labels, **origin}
        metadata = {name: json.dumps(value, ensure_ascii=False) for name, value in header.items()}
        return safetensors.numpy.save({"attention": np.ascontiguousarray(self.weights)}, metadata)


def apply_view(layout: Layout, maps: np.ndarray, view: InputView) -> InputAttention:
    """What `view` shows of an input's maps (layer, head, query, key) between tokens: words first, then special tokens
    hidden, the rows that are left summing to 1 again (one that had no other weight stays 0), then the segments."""
    shown = InputAttention(layout.tokens, layout.tokens, maps)
    if view.words:
        merged = maps_of_one(maps, layout.owner, first_piece=view.first_piece)
        shown = InputAttention(layout.words, layout.words, merged)
    if not view.special:
        shown = shown.keep(~shown.queries.special, ~shown.keys.special)
        total = shown.weights.sum(-1, keepdims=True)
        weights = np.divide(shown.weights, total, out=np.zeros_like(shown.weights), where=total > 0)
        shown = replace(shown, weights=weights)
    if sides := SIDES[view.sides]:
        shown = shown.keep(shown.queries.side == sides[0], shown.keys.side == sides[1])
    return shown


def moved(before: np.ndarray, after: np.ndarray) -> np.ndarray:
    """(layer, head) share of attention that went elsewhere between two maps (layer, head, query, key), 0 to 1."""
    return np.asarray(np.abs(after - before).sum(-1).mean(-1) / 2)


def thumbnails(weights: np.ndarray) -> np.ndarray:
    """(layer, head, down, across) uint8, 255 for weight 1: the maximum of each patch; smaller for many layers."""
    maximum = max(MIN_SIZE, min(THUMBNAIL, WIDTH // len(weights)))
    for axis in (2, 3):
        size = weights.shape[axis]
        count = min(size, maximum)  # of runs of nearly equal length
        weights = np.maximum.reduceat(weights, np.arange(count) * size // max(count, 1), axis=axis)
    return np.asarray(np.rint(255 * np.clip(weights, 0, 1)), dtype=np.uint8)


def shorten(label: str, maximum: int = 24) -> str:
    """The beginning of a long label, for places that cannot cut it by themselves."""
    return label if len(label) <= maximum else label[: maximum - 1] + "…"


def predictions_frame(by_run: Mapping[str, Sequence[Prediction]]) -> pd.DataFrame:
    """A row for each run, masked word and guess; runs by the heads that are off, as "3-5 4-1", "" for all heads."""
    return pd.DataFrame(
        {
            "heads_off": off,
            "position": prediction.position + 1,
            "masked_word": prediction.original,
            "loss": prediction.loss,
            "rank_of_masked_word": prediction.rank,
            "rank": rank,
            "guess": label,
            "probability": share,
        }
        for off, predictions in by_run.items()
        for prediction in predictions
        for rank, (label, share) in enumerate(prediction.best, start=1)
    )


def switches(layers: int, heads: int, behaviors: np.ndarray | None = None) -> dict[str, np.ndarray]:
    """Name, as an address can hold it -> (layer, head) bool of what can be switched off: "behavior [SEP]" where some
    head has it, "layer 3", "3-5". `behaviors` are (layer, head) names, where they are known."""
    layer, head = np.indices((layers, heads))
    named = {} if behaviors is None else {name: behaviors == name for name in BEHAVIORS if name != OTHER}
    by_behavior = {f"behavior {plotting.BEHAVIORS[name][-1]}": mask for name, mask in named.items() if mask.any()}
    by_layer = {f"layer {number + 1}": layer == number for number in range(layers)}
    single = {each.label(): (layer == each.layer) & (head == each.head) for each in all_heads(layers, heads)}
    return by_behavior | by_layer | single
