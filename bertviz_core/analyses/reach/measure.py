"""How the reach of heads is measured (docs/methods.md, section 17)."""

from functools import lru_cache

import torch
from torch import Tensor

from bertviz_core.analyses.base.request import Request
from bertviz_core.analyses.reach.result import FARTHEST, ITSELF, OFFSETS, QUANTITIES, SINK
from bertviz_core.analyses.reach.sums import ReachSums
from bertviz_core.inputs.encoding import Batch
from bertviz_core.models.attention import LayerAttention
from bertviz_core.models.model import AttentionModel

BLOCK = 128  # query tokens at a time: the features of all pairs of a long input would take gigabytes


def measure(batch: Batch, attention: LayerAttention) -> Tensor:
    """(batch, head, quantity): with a_ij the weights divided by the sum over all rows, the sum of a_ij |i - j|, its
    standard deviation, and the sum of a_ij where |i - j| > 10; 1 where SEP, CLS or the first token gets more than 0.3
    of a row on average, else 0; the mean length of the head's output over that of its layer's heads; the first sum of
    uniform attention; then the sums of a_ij by j - i. NaN where an input lacks a token, or a model an output, and for
    j > i in a causal model (docs/methods.md, section 17)."""
    sums = distance_sums(attention.weights, batch.row_weights)  # (batch, head, feature)
    offsets = sums[..., : len(OFFSETS)]
    total = offsets.sum(-1, keepdim=True)
    shares = offsets / total
    distance, square = (sums[..., len(OFFSETS) :] / total).unbind(-1)
    spread = (square - distance.square()).clamp(min=0).sqrt()
    beyond = shares[..., 0] + shares[..., -1]
    if attention.causal:
        shares[..., ITSELF + 1 :] = torch.nan
    count = batch.mask.sum(1, keepdim=True).float()
    uniform = (count - 1) / 4 if attention.causal else (count - 1 / count) / 3
    values = (distance, spread, beyond, *sinks(batch, attention), relative_output(batch, attention))
    return torch.cat([torch.stack([*values, uniform.expand_as(distance)], -1), shares], -1)


def distance_sums(weights: Tensor, rows: Tensor) -> Tensor:
    """(batch, head, feature): means over the rows i of the sums over j of A_ij times each of `_features`.

    Args:
        weights: (batch, head, query, key) weights.
        rows: (batch, query) the weight of each row in the mean.
    """
    length = weights.shape[-1]
    sums = torch.zeros((), device=weights.device)
    for first in range(0, length, BLOCK):
        block = weights[:, :, first : first + BLOCK]
        features = _features(first, block.shape[2], length, weights.device)
        # One matrix product for each query: (batch and head, key) times (key, feature).
        by_query = block.flatten(0, 1).transpose(0, 1) @ features
        by_query = by_query.unflatten(1, weights.shape[:2])
        sums = sums + torch.einsum("qbhf,bq->bhf", by_query, rows[:, first : first + BLOCK])
    return sums


@lru_cache(2)
def _features(first: int, queries: int, length: int, device: torch.device) -> Tensor:
    """(query, key, feature) of the queries from the first on: whether j - i is each of OFFSETS, |i - j|, (i - j)^2."""
    query = torch.arange(first, first + queries, device=device)[:, None]
    offset = torch.arange(length, device=device) - query
    limit = FARTHEST + 1
    kinds = torch.arange(-limit, limit + 1, device=device)
    is_offset = offset.clamp(-limit, limit)[..., None] == kinds
    distances = torch.stack([offset.abs(), offset.square()], -1)
    return torch.cat([is_offset.float(), distances.float()], -1)


def sinks(batch: Batch, attention: LayerAttention) -> tuple[Tensor, ...]:
    """(batch, head) for each of SINKS: 1 where its tokens together get more than 0.3 of a row on average, else 0; NaN
    where an input has none. Of a causal model the rows are those from the first of these tokens on."""
    first = torch.zeros_like(batch.mask)
    first[:, 0] = ~(batch.cls | batch.sep)[:, 0]
    tokens = torch.stack([batch.sep, batch.cls, first], 1)  # (batch, sink, token), in the order of SINKS
    rows = batch.row_weights[:, None]  # (batch, sink or 1, query)
    if attention.causal:
        has_seen = (tokens.cumsum(-1) > 0) & batch.mask[:, None]
        rows = has_seen / has_seen.sum(-1, keepdim=True).clamp(min=1)
    received = ((rows[:, None] @ attention.weights) * tokens[:, None]).sum(-1)  # (batch, head, sink)
    is_sink = (received > SINK).float()
    return is_sink.where(tokens.any(-1)[:, None], torch.nan).unbind(-1)


def relative_output(batch: Batch, attention: LayerAttention) -> Tensor:
    """(batch, head): the mean length of a head's output over that of its layer's heads; NaN where it is not shown."""
    if attention.scores is None:
        return attention.weights.new_full(attention.weights.shape[:2], torch.nan)
    lengths = attention.scores.output.float().norm(dim=-1)  # (batch, head, query)
    means = (lengths * batch.row_weights[:, None]).sum(-1)
    return means / means.mean(-1, keepdim=True)


def strongest_pairs(batch: Batch, attention: LayerAttention) -> tuple[Tensor, Tensor, Tensor]:
    """The largest weight between two different ordinary tokens: neither CLS, SEP nor the first.

    Returns:
        (batch, head) the weights, NaN where an input has no two such tokens; their queries and their keys.
    """
    ordinary = batch.mask & ~(batch.cls | batch.sep)
    ordinary[:, 0] = False
    pairs = ordinary[:, :, None] & ordinary[:, None]  # (batch, query, key)
    earlier = pairs.tril(-1)
    pairs = earlier if attention.causal else earlier | pairs.triu(1)
    hidden = -2 * (~pairs[:, None]).float()  # added, as filling in a mask takes twice as long
    weights = attention.weights + hidden
    largest, query = weights.amax(-1).max(-1)
    row = query[..., None, None].expand(*query.shape, 1, weights.shape[-1])
    key = weights.gather(2, row)[:, :, 0].argmax(-1)
    return largest.where(largest >= 0, torch.nan), query, key


def accumulator(model: AttentionModel, request: Request) -> ReachSums:
    """The accumulator for one pass."""
    names = (*QUANTITIES, *OFFSETS)
    size = (model.layers, model.heads, model.device)
    return ReachSums(names, measure, *size, strongest_pairs, request.settings.seed)
