"""What is measured of the maps of a batch (docs/methods.md, section 17)."""

from functools import lru_cache
from typing import NamedTuple

import torch
from torch import Tensor

from bertviz_core.analyses.reach.result import FARTHEST, ITSELF, OFFSETS, SINK
from bertviz_core.inputs.encoding import Batch
from bertviz_core.models.attention import LayerAttention

BLOCK = 128  # query tokens at a time, at most
PAIRS = 2**16  # of query and key at a time: the features of all pairs of a long input would take gigabytes
GROUP = 16  # query tokens whose weights are summed one after the other in float32, which rounds long sums


class Seen(NamedTuple):
    """What is kept of one layer's maps of one batch; or of all layers, with an axis of layers before the others.

    Attributes:
        distances: (batch, head, feature) sums of weights times each of `_features`.
        received: (batch, head, token) the sum over rows of what each token gets.
        given: (batch, head, token) what each ordinary token gives other ordinary tokens; 0 for others.
        largest: (batch, head) the largest weight between two different ordinary tokens; 0 without two such tokens.
        query, key: (batch, head) the positions of these two tokens, from 0.
        lengths: (batch, head, token) lengths of the head's outputs; NaN where they are not shown.
    """

    distances: Tensor
    received: Tensor
    given: Tensor
    largest: Tensor
    query: Tensor
    key: Tensor
    lengths: Tensor


def look(batch: Batch, attention: LayerAttention) -> Seen:
    """All that needs the maps, and no more, as it is done for every layer; of long inputs some rows at a time."""
    weights = attention.weights
    length = weights.shape[-1]
    given, highest = weights.new_empty(2, *weights.shape[:3])
    distances = received = torch.zeros((), device=weights.device)
    step = max(min(PAIRS // length, BLOCK) // GROUP, 1) * GROUP
    for first in range(0, length, step):
        part = slice(first, first + step)
        rows = weights[:, :, part]
        distances = distances + _distances(batch, rows, first)
        received = received + (batch.mask[:, None, None, part].to(rows) @ rows)[:, :, 0]
        between = rows * batch.pairs[:, None, part]
        torch.sum(between, -1, out=given[:, :, part])
        torch.amax(between, -1, out=highest[:, :, part])
    if attention.scores is None:
        lengths = torch.full_like(given, torch.nan)
    else:
        lengths = torch.linalg.vector_norm(attention.scores.output.float(), dim=-1)
    return Seen(distances, received, given, *_largest(batch, weights, highest), lengths)


def _largest(batch: Batch, weights: Tensor, highest: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """`largest`, `query` and `key` of Seen.

    Args:
        batch: The inputs.
        weights: (batch, head, query, key) weights.
        highest: (batch, head, query) the highest of each row between two different ordinary tokens.
    """
    largest, query = highest.max(-1)
    row = query[..., None].expand_as(highest)
    keys = weights.gather(2, row[:, :, None])[:, :, 0] * batch.pairs.gather(1, row)
    return largest, query, keys.argmax(-1)


def measure(batch: Batch, seen: Seen, causal: bool) -> Tensor:
    """(layer, batch, head, quantity): with a_ij the weights divided by the sum over all rows, the sum of a_ij |i - j|,
    its standard deviation, and the sum of a_ij where |i - j| > 10; 1 where SEP, CLS or the first token gets more than
    0.3 of a row on average, else 0; the mean length of the head's output over that of its layer's heads; the first sum
    of uniform attention; then the sums of a_ij by j - i. NaN where an input lacks a token, or a model an output, and
    for j > i in a causal model (docs/methods.md, section 17)."""
    offsets = seen.distances[..., : len(OFFSETS)]
    total = offsets.sum(-1, keepdim=True)
    shares = offsets / total
    distance, square = (seen.distances[..., len(OFFSETS) :] / total).unbind(-1)
    spread = (square - distance.square()).clamp(min=0).sqrt()
    beyond = shares[..., 0] + shares[..., -1]
    if causal:
        shares[..., ITSELF + 1 :] = torch.nan
    count = batch.mask.sum(1, keepdim=True).float()
    uniform = (count - 1) / 4 if causal else (count - 1 / count) / 3
    output = (seen.lengths * batch.row_weights[:, None]).sum(-1)
    relative = output / output.mean(-1, keepdim=True)
    values = (distance, spread, beyond, *sinks(batch, seen.received, causal), relative, uniform.expand_as(distance))
    return torch.cat([torch.stack(values, -1), shares], -1)


def _distances(batch: Batch, rows: Tensor, first: int) -> Tensor:
    """(batch, head, feature): sums of `_features` over rows of tokens, of which this is the first, and keys."""
    queries, length = rows.shape[2:]
    shortest = min(map(len, batch.examples)) - first
    whole = min(max(shortest, 0), queries) // GROUP * GROUP  # From here on rows may be padding in some input.
    sums = rows.new_zeros(rows.shape[:2].numel(), len(OFFSETS) + 2)
    if whole:
        # One matrix product for each group of rows: (batch and head, query and key) times (query and key, feature).
        groups = rows[:, :, :whole].unflatten(2, (-1, GROUP)).flatten(3).flatten(0, 1).transpose(0, 1)
        features = _features(first, whole, length, rows.device).unflatten(0, (len(groups), -1))
        sums = (groups @ features).sum(0)
    for start in range(whole, queries, GROUP):
        part = slice(start, start + GROUP)
        group = rows[:, :, part] * batch.mask[:, None, first:, None][:, :, part]
        features = _features(first + start, group.shape[2], length, rows.device)
        sums = sums + group.flatten(2).flatten(0, 1) @ features
    return sums.unflatten(0, rows.shape[:2])


@lru_cache(8)
def _features(first: int, queries: int, length: int, device: torch.device) -> Tensor:
    """(query and key, feature) of the queries from the first on: whether j - i is each of OFFSETS, |i - j|,
    (i - j)^2."""
    offset = torch.arange(-length, length + 1, device=device)
    limit = FARTHEST + 1
    kinds = torch.arange(-limit, limit + 1, device=device)
    is_offset = offset.clamp(-limit, limit)[:, None] == kinds
    by_offset = torch.cat([is_offset, offset.abs()[:, None], offset.square()[:, None]], -1).float()
    positions = torch.arange(length, device=device)
    query = torch.arange(first, first + queries, device=device)[:, None]
    return by_offset[positions - query + length].flatten(0, 1)


def sinks(batch: Batch, received: Tensor, causal: bool) -> tuple[Tensor, ...]:
    """(layer, batch, head) for each of SINKS: 1 where its tokens together get more than 0.3 of a row on average, else
    0; NaN where an input has none. Of a causal model the rows are those from the first of these tokens on; the rows
    before give them nothing."""
    first = torch.zeros_like(batch.mask)
    first[:, 0] = ~(batch.cls | batch.sep)[:, 0]
    tokens = torch.stack([batch.sep, batch.cls, first], 1)  # (batch, sink, token), in the order of SINKS
    rows = batch.mask[:, None]  # (batch, sink or 1, query)
    if causal:
        rows = (tokens.cumsum(-1) > 0) & rows
    means = received @ tokens.to(received).transpose(1, 2) / rows.sum(-1)[:, None]  # (layer, batch, head, sink)
    return (means > SINK).float().where(tokens.any(-1)[:, None], torch.nan).unbind(-1)


def strongest_pairs(batch: Batch, seen: Seen, causal: bool) -> tuple[Tensor, Tensor, Tensor]:
    """(layer, batch, head) the largest weights between two different ordinary tokens, NaN where an input has no two
    such tokens; their queries and their keys: where all weights are 0, the first and the last ordinary token."""
    positions = torch.arange(batch.ordinary.shape[1], device=seen.key.device)
    first = positions.where(batch.ordinary, len(positions)).amin(-1, keepdim=True)  # (batch, 1)
    last = positions.where(batch.ordinary, -1).amax(-1, keepdim=True)
    zero_query, zero_key = (last, first) if causal else (first, last)
    is_zero = seen.largest == 0
    query = zero_query.where(is_zero, seen.query)
    key = zero_key.where(is_zero, seen.key)
    has_pair = batch.ordinary.sum(-1, keepdim=True) > 1
    return seen.largest.where(has_pair, torch.nan), query, key
