"""The attention of one input (Figures 1 and 5; docs/methods.md, section 10), and tables of predictions for it."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd
import safetensors.numpy

from bertviz_core import plotting
from bertviz_core.analyses.base.result import csv_bytes, head_frame
from bertviz_core.analyses.behaviors import OTHER
from bertviz_core.heads import Head, all_heads, ranks
from bertviz_core.inputs.encoding import maps_of_one
from bertviz_core.inputs.labels import Layout, Units
from bertviz_core.models.single_input import Prediction
from bertviz_core.plotting.head_map import HeadMap, picture_map

# name shown, used in permalinks and on the command line -> (side of the query, side of the key)
SIDES = {"all": None, "A to A": (0, 0), "A to B": (0, 1), "B to A": (1, 0), "B to B": (1, 1)}

# Of the small pictures, in pixels
THUMBNAIL = 24  # the longest side of a small picture
MIN_SIZE = 8  # the shortest side of a small picture
WIDTH = 330  # pixels of one row, all layers together


@dataclass(frozen=True)
class InputView:
    """What is shown of an input's attention.

    Attributes:
        words: Whether words are shown, in place of tokens.
        special: Whether special tokens are shown.
        sides: Which of the segments are shown, one of SIDES.
        first_piece: Whether a split word attends as its first piece does, as in the release.
        first: Whether the first token, or word, is shown, to which many heads of decoders attend whatever it is.
    """

    words: bool = False
    special: bool = True
    sides: str = "all"
    first_piece: bool = False
    first: bool = True


@dataclass(frozen=True)
class InputAttention:
    """Attention of every head on one input, between tokens or words.

    Attributes:
        queries: The units that attend.
        keys: The units attended to.
        weights: (layer, head, query, key) float32 attention.
    """

    queries: Units
    keys: Units
    weights: np.ndarray

    @cached_property
    def largest(self) -> np.ndarray:
        """(query, key) the largest weight of any head."""
        return np.asarray(self.weights.max((0, 1)))

    def keep(self, queries: np.ndarray, keys: np.ndarray) -> "InputAttention":
        """The attention from some units to some, both (unit,) bool; weights are not rescaled."""
        weights = self.weights[:, :, queries][..., keys]
        return InputAttention(self.queries.keep(queries), self.keys.keep(keys), weights)

    def to_frame(self, head: Head) -> pd.DataFrame:
        """A row for each weight of one head; the position of a unit is that of its first token, from 1."""
        weights = self.weights[head]
        pairs = np.indices(weights.shape)
        ends = self._ends(*pairs.reshape(2, -1))
        return pd.DataFrame(ends | {"weight": weights.reshape(-1)})

    def _ends(self, query: Any, key: Any) -> dict[str, Any]:
        """Columns that name one pair of units, or many."""
        return {
            "from_position": self.queries.start[query] + 1,
            "from": np.array(self.queries.labels, dtype=object)[query],
            "to_position": self.keys.start[key] + 1,
            "to": np.array(self.keys.labels, dtype=object)[key],
        }

    def opening_pair(self, query: int | None = None, key: int | None = None) -> tuple[int, int]:
        """The (query, key) with the largest weight of any head, by preference of distant units that are not special."""
        queries, keys = self.queries, self.keys
        starts = np.union1d(queries.start, keys.start)
        indices = [np.searchsorted(starts, units.start) for units in (queries, keys)]
        near = abs(np.subtract.outer(*indices)) <= 1
        special = queries.special[:, None] | keys.special
        weights = self.largest - near - 2.0 * special
        row, column = np.indices(weights.shape)
        if query is not None:
            weights[row != query] = -np.inf
        if key is not None:
            weights[column != key] = -np.inf
        return _largest(weights)

    def to_sinks(self, head: Head, *, causal: bool) -> tuple[float, bool, str]:
        """How much of a head's attention goes to the special tokens, in a causal model to the first token too.

        Args:
            causal: Whether a token sees only itself and earlier ones; the first one, which sees itself alone, is then
                no query.

        Returns:
            The mean share over queries, 0 to 1, whether the largest weight of most queries is to one of these tokens,
            and their name; empty where the input has none of them.
        """
        is_first = (self.keys.start == 0) & causal
        is_query = ~((self.queries.start == 0) & causal)
        sinks = self.keys.special | is_first
        if not sinks.any() or not is_query.any():
            return 0.0, False, ""
        rows = self.weights[head][is_query]
        share = float(rows[:, sinks].sum(1).mean())
        is_most = bool(sinks[rows.argmax(1)].mean() > 0.5)
        if self.keys.special[sinks].all():
            return share, is_most, "special tokens"
        return share, is_most, "the first token" + (" and special tokens" if self.keys.special.any() else "")

    def strongest_pair(self, head: Head) -> tuple[int, int]:
        """The (query, key) of a head's largest weight, by preference of words, and of queries with a choice of keys."""
        has_choice = (self.largest > 0).sum(1) > 1
        preferred = np.outer(~self.queries.special & has_choice, ~self.keys.special)
        return _largest(self.weights[head] - 2.0 * ~preferred)

    def pair_frame(self, query: int, key: int) -> pd.DataFrame:
        """A row for each head, sorted by its weight from one unit to another; `rank_of_target` is that of the key."""
        rows = self.weights[:, :, query]
        weight = rows[..., key]
        columns = {"weight": weight, "rank": ranks(weight), "rank_of_target": 1 + (rows > weight[..., None]).sum(-1)}
        return head_frame(columns).sort_values("rank", ignore_index=True, kind="stable")

    def pictures(self) -> HeadMap:
        """The map of small pictures of all heads."""
        return picture_map(thumbnails(self.weights))

    def to_csv(self, head: Head, origin: dict[str, Any]) -> bytes:
        """`to_frame` as CSV, with the origin in every row."""
        return csv_bytes(self.to_frame(head).assign(**origin))

    def pair_to_csv(self, query: int, key: int, origin: dict[str, Any]) -> bytes:
        """`pair_frame` as CSV, with the two units and the origin in every row."""
        about = self._ends(query, key) | origin
        return csv_bytes(self.pair_frame(query, key).assign(**about))

    def to_safetensors(self, origin: dict[str, Any]) -> bytes:
        """The weights of every head as `attention`; the labels and the origin are in the header."""
        header = {"queries": self.queries.labels, "keys": self.keys.labels, **origin}
        metadata = {name: json.dumps(value, ensure_ascii=False) for name, value in header.items()}
        return safetensors.numpy.save({"attention": np.ascontiguousarray(self.weights)}, metadata)


def _largest(values: np.ndarray) -> tuple[int, int]:
    index = int(values.argmax())
    return divmod(index, values.shape[1])


def apply_view(layout: Layout, maps: np.ndarray, view: InputView) -> InputAttention:
    """Select what `view` shows of an input's maps (layer, head, query, key) between tokens: words first, then what is
    neither special nor the first token, each row rescaled to sum to 1 (one without other weights stays 0), then
    segments."""
    shown = InputAttention(layout.tokens, layout.tokens, maps)
    if view.words:
        merged = maps_of_one(maps, layout.owner, first_piece=view.first_piece)
        shown = InputAttention(layout.words, layout.words, merged)
    if not (view.special and view.first):
        shown = shown.keep(_is_shown(shown.queries, view), _is_shown(shown.keys, view))
        total = shown.weights.sum(-1, keepdims=True)
        weights = np.divide(shown.weights, total, out=np.zeros_like(shown.weights), where=total > 0)
        shown = replace(shown, weights=weights)
    if sides := SIDES[view.sides]:
        shown = shown.keep(shown.queries.side == sides[0], shown.keys.side == sides[1])
    return shown


def _is_shown(units: Units, view: InputView) -> np.ndarray:
    """(unit,) bool: whether a view shows a unit, of whatever segment."""
    hidden = np.zeros(len(units), dtype=bool)
    if not view.special:
        hidden |= units.special
    if not view.first:
        hidden |= units.start == 0
    return ~hidden


def attention_shift(before: np.ndarray, after: np.ndarray) -> np.ndarray:
    """(layer, head) share, 0 to 1, of attention that differs between two maps (layer, head, query, key)."""
    return np.asarray(np.abs(after - before).sum(-1).mean(-1) / 2)


def thumbnails(weights: np.ndarray) -> np.ndarray:
    """(layer, head, down, across) uint8, 255 for weight 1: the maximum of each patch of every head's map."""
    maximum = max(MIN_SIZE, min(THUMBNAIL, WIDTH // len(weights)))
    for axis in (2, 3):
        size = weights.shape[axis]
        runs = min(size, maximum)  # The runs are of nearly equal length.
        starts = np.arange(runs) * size // max(runs, 1)
        weights = np.maximum.reduceat(weights, starts, axis=axis)
    return to_uint8(weights)


def to_uint8(weights: np.ndarray) -> np.ndarray:
    """Weights of any shape, 0 to 1, in steps of 1/255."""
    scaled = np.rint(255 * weights.clip(0, 1))
    return scaled.astype(np.uint8)


def predictions_frame(by_run: Mapping[str, Sequence[Prediction]]) -> pd.DataFrame:
    """A row for each run, masked word and guess. A run is named by the heads that are off, as "3-5 4-1", or ""."""
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


def named_groups(layers: int, heads: int, behaviors: Mapping[str, np.ndarray] | None = None) -> dict[str, np.ndarray]:
    """Heads that can be chosen together, (layer, head) bool by name, such as "behavior [SEP]", "layer 3" and "3-5"."""
    layer, head = np.indices((layers, heads))
    named = {}
    for behavior, members in (behaviors or {}).items():
        if behavior != OTHER and members.any():
            named[f"behavior {plotting.BEHAVIORS[behavior][-1]}"] = members
    named |= {f"layer {number + 1}": layer == number for number in range(layers)}
    named |= {each.key(): (layer == each.layer) & (head == each.head) for each in all_heads(layers, heads)}
    return named
