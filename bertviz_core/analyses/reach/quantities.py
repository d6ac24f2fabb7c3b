"""What is measured of the maps of a batch (docs/methods.md, section 17)."""

from functools import lru_cache
from math import ceil
from typing import NamedTuple

import torch
from torch import Tensor

from bertviz_core.analyses.reach.result import FARTHEST, ITSELF, OFFSETS, SINK
from bertviz_core.analyses.reach.uniform import Masks, distances_between, mean_distance, mean_distances, sink_rows
from bertviz_core.inputs.encoding import Batch
from bertviz_core.models.attention import LayerAttention
from bertviz_core.models.layer_mask import LayerMask

GROUP = 16  # rows of a map whose diagonals are summed at once
CACHED = 2**17  # weights at a time on a processor: they stay in its cache while they are read over and over
AT_ONCE = 2**26  # on another device, whose memory holds a copy of so many


class Seen(NamedTuple):
    """What is kept of the maps of a batch.

    Attributes:
        diagonals: (layer, batch, head, difference) sums of the weights by key minus query, up to that of the last key
            and the first query.
        far: (layer, batch, head) the sum of the weights that are summed in `given`, each times |key - query|.
        received: (layer, batch, head, token) the sum over rows of what each token gets.
        given: (layer, batch, head, token) what each ordinary token gives other ordinary tokens; 0 for others.
        highest: (layer, batch, head, token) the largest weight that is summed in `given`.
        strongest: (layer, batch, head, token) the first row of weights that has the highest of these.
        lengths: (layer, batch, head, token) lengths of the head's outputs; NaN where they are not shown.
    """

    diagonals: Tensor
    far: Tensor
    received: Tensor
    given: Tensor
    highest: Tensor
    strongest: Tensor
    lengths: Tensor


class MapReader:
    """Reads the maps of a batch, layer by layer: all that needs whole maps, and no more.

    A few maps at a time are copied into room that the layers share, so small that it stays in a processor's cache: all
    that is read there again costs less than one reading of the maps themselves. Distances need the sums of diagonals,
    which are columns once each row is shifted by one against the row before, first in groups of rows, then of the
    groups: in one step the rows would need three times the room.

    Attributes:
        seen: What is kept of the layers that were read.
        copied: How many inputs and heads are copied together, a part: several inputs only with all of their heads.
        parts: For each part its inputs' masks (input, 1, query, 1) and pairs (input, 1, query, key).
        rows: (input, head, query, key) where they are copied to.
        shifted: (input, head, group, row, diagonal) the same, each row of a group shifted by one.
        sums: (input, head, group, diagonal) where the sums over the rows of `shifted` are written to.
        shifted_sums: (input, head, group, diagonal) the same, each group shifted by GROUP.
        whole: (input and head, place) all of the room in which `rows` and `shifted` are.
        distances: (place,) |key - query| where `whole` has a weight, else 0.
        targets: For each layer and part its views (input, head, ...) of those of `seen` that `read` fills part by part.
    """

    def __init__(self, batch: Batch, weights: Tensor, layers: int) -> None:
        """Make room.

        Args:
            weights: (batch, head, query, key) the maps of one of its layers.
        """
        inputs, heads, length, _ = weights.shape
        groups = ceil(length / GROUP)
        maps = max((CACHED if weights.device.type == "cpu" else AT_ONCE) // length**2, 1)
        self.copied = (_divisor(inputs, maps // heads), _divisor(heads, maps))
        rows, self.shifted = _shifted(weights, (*self.copied, groups, GROUP, length), 1)
        self.rows = rows.flatten(2, 3)[:, :, :length]
        self.sums, self.shifted_sums = _shifted(weights, (*self.copied, groups, self.shifted.shape[-1]), GROUP)
        self.whole = _whole(rows)
        distances, _ = _shifted(weights, (1, 1, groups, GROUP, length), 1)
        positions = torch.arange(length, device=weights.device)
        distances.flatten(2, 3)[:, :, :length] = (positions[:, None] - positions).abs()
        self.distances = _whole(distances)[0]
        # In float32, as the maps are: products with bool take twice the time.
        masks = (each.to(weights)[:, None].split(self.copied[0]) for each in (batch.mask[..., None], batch.pairs))
        self.parts = [part for part in zip(*masks, strict=True) for _ in range(heads // self.copied[1])]
        by_token = weights.new_full((5, layers, inputs, heads, length), torch.nan)
        self.masks: list[LayerMask | None] = []
        diagonals = weights.new_empty(layers, inputs, heads, self.shifted_sums.shape[-1])
        self.seen = Seen(diagonals, weights.new_empty(layers, inputs, heads), *by_token)
        self.targets = [*zip(*(self._parts(each.flatten(0, 1)) for each in self.seen[:5]), strict=True)]

    def read(self, attention: LayerAttention, layer: int) -> None:
        """Read the maps of a layer, which has this number in `seen`."""
        self.masks.append(attention.mask)
        weights = attention.weights.contiguous()
        parts = slice(layer * len(self.parts), (layer + 1) * len(self.parts))
        for maps, (mask, pairs), into in zip(self._parts(weights), self.parts, self.targets[parts], strict=True):
            diagonals, far, received, given, highest = into
            torch.mul(maps, mask, out=self.rows)
            torch.sum(self.shifted, 3, out=self.sums)
            torch.sum(self.shifted_sums, 2, out=diagonals)
            torch.sum(self.rows, 2, out=received)
            self.rows *= pairs
            torch.sum(self.rows, 3, out=given)
            torch.amax(self.rows, 3, out=highest)
            torch.mv(self.whole, self.distances, out=far.view(-1))
        row = self.seen.highest[layer].argmax(-1)[..., None, None].expand_as(weights[:, :, :1])
        torch.gather(weights, 2, row, out=self.seen.strongest[layer, :, :, None])
        lengths = self.seen.lengths[layer]
        if attention.scores is not None:
            torch.linalg.vector_norm(attention.scores.output.to(lengths), dim=-1, out=lengths)

    def _parts(self, tensor: Tensor) -> tuple[Tensor, ...]:
        """Views (input, head, ...) of the parts of a tensor (batch, head, ...)."""
        return tensor.view(-1, *self.copied, *tensor.shape[2:]).unbind(0)


def look(batch: Batch, attention: LayerAttention) -> Seen:
    """What is seen of a single layer."""
    reader = MapReader(batch, attention.weights, 1)
    reader.read(attention, 0)
    return reader.seen


def _divisor(count: int, most: int) -> int:
    """The largest divisor of `count` up to `most`, or 1."""
    return max(each for each in range(1, max(most, 1) + 1) if count % each == 0)


def _shifted(like: Tensor, shape: tuple[int, ...], step: int) -> tuple[Tensor, Tensor]:
    """Room for rows, and a view of it in which each row is shifted by `step` columns against the row before.

    Args:
        like: A tensor of the type and on the device of the rows.
        shape: The shape of the rows (..., row, column).
        step: Columns.

    Returns:
        The room (..., row, column), which is to be filled; and the view (..., row, diagonal), in which column c of row
        r stands at the place c + (rows - 1 - r) * step, and zeros where a row has no column.
    """
    *_, count, width = shape
    margin = (count - 1) * step
    room = like.new_zeros(*shape[:-1], margin + width + margin)
    *strides, of_row, of_column = room.stride()
    view = room.as_strided((*shape[:-1], margin + width), (*strides, of_row + step, of_column))
    return room[..., margin : margin + width], view


def _whole(rows: Tensor) -> Tensor:
    """(input and head, place) all of the room of `_shifted` whose rows (input, head, ..., column) these are."""
    maps = rows.shape[0] * rows.shape[1]
    return rows.as_strided((maps, rows.stride(1)), (rows.stride(1), 1), 0)


def measure(batch: Batch, seen: Seen, causal: bool, masks: Masks) -> Tensor:
    """(layer, batch, head, quantity): with a_ij the weights divided by the sum over all rows, the sum of a_ij |i - j|,
    its standard deviation, and the sum of a_ij where |i - j| > 10; 1 where SEP, CLS or the first token gets more than
    0.3 of a row that sees it on average, else 0; the mean length of the head's output over that of its layer's heads;
    the mean |i - j| of the weights between two different ordinary tokens; the first sum and this mean of uniform
    attention; then the sums of a_ij by j - i. NaN where an input lacks a token, or a model an output, and for j > i in
    a causal model (docs/methods.md, section 17). `masks` are those of the layers."""
    length = seen.received.shape[-1]
    sums = seen.diagonals @ _features(length - seen.diagonals.shape[-1], length, seen.diagonals.device)
    total = sums[..., : len(OFFSETS)].sum(-1, keepdim=True)
    shares = sums[..., : len(OFFSETS)] / total
    distance, square = (sums[..., len(OFFSETS) :] / total).unbind(-1)
    spread = (square - distance.square()).clamp(min=0).sqrt()
    beyond = shares[..., 0] + shares[..., -1]
    if causal:
        shares[..., ITSELF + 1 :] = torch.nan
    uniform = mean_distances(batch, masks, causal)[..., None]
    output = (seen.lengths * batch.row_weights[:, None]).sum(-1)
    relative = output / output.mean(-1, keepdim=True)
    between = mean_distance(seen.far, seen.given.sum(-1))
    uniform_ordinary = distances_between(batch, masks, causal)[..., None]
    controls = (each.expand_as(distance) for each in (uniform, uniform_ordinary))
    sink = sinks(batch, seen.received, causal, masks)
    values = (distance, spread, beyond, *sink, relative, between, *controls)
    return torch.cat([torch.stack(values, -1), shares], -1)


@lru_cache(8)
def _features(lowest: int, length: int, device: torch.device) -> Tensor:
    """(difference, feature) of the differences d of key and query in `diagonals` of Seen, from the lowest one to that
    of the last key and the first query: whether d is each of OFFSETS, |d|, d^2."""
    difference = torch.arange(lowest, length, device=device)
    limit = FARTHEST + 1
    is_offset = difference.clamp(-limit, limit)[:, None] == torch.arange(-limit, limit + 1, device=device)
    return torch.cat([is_offset, difference.abs()[:, None], difference.square()[:, None]], -1).float()


def sinks(batch: Batch, received: Tensor, causal: bool, masks: Masks) -> tuple[Tensor, ...]:
    """(layer, batch, head) for each of SINKS: 1 where its tokens together get more than 0.3 of a row on average, else
    0; NaN where an input has none. The average is over the rows that see one of them; the others give them nothing."""
    first = torch.zeros_like(batch.mask)
    first[:, 0] = ~(batch.cls | batch.sep)[:, 0]
    tokens = torch.stack([batch.sep, batch.cls, first], 1)  # (batch, sink, token), in the order of SINKS
    rows = sink_rows(batch, tokens, masks, causal)[:, :, None]  # (layer, batch, 1, sink)
    means = received @ tokens.to(received).transpose(1, 2) / rows  # (layer, batch, head, sink)
    return (means > SINK).float().where(tokens.any(-1)[:, None], torch.nan).unbind(-1)


def strongest_pairs(batch: Batch, seen: Seen, causal: bool) -> tuple[Tensor, Tensor, Tensor]:
    """(layer, batch, head) the largest weights between two different ordinary tokens, NaN where an input has no two
    such tokens; their queries and their keys: where all weights are 0, the first and the last ordinary token."""
    positions = torch.arange(batch.ordinary.shape[1], device=seen.highest.device)
    first = positions.where(batch.ordinary, len(positions)).amin(-1, keepdim=True)  # (batch, 1)
    last = positions.where(batch.ordinary, -1).amax(-1, keepdim=True)
    zero_query, zero_key = (last, first) if causal else (first, last)
    largest, query = seen.highest.max(-1)
    of_query = batch.pairs.expand(len(query), -1, -1, -1).gather(2, query[..., None].expand_as(seen.strongest))
    key = (seen.strongest * of_query).argmax(-1)
    is_zero = largest == 0
    has_pair = batch.ordinary.sum(-1, keepdim=True) > 1
    return largest.where(has_pair, torch.nan), zero_query.where(is_zero, query), zero_key.where(is_zero, key)
