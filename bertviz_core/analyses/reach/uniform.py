"""What uniform attention would give, also where a layer's mask leaves its queries less than full attention does, and
which rows see a sink (docs/methods.md, section 17)."""

from collections.abc import Callable, Sequence

import numpy as np
import torch
from torch import Tensor

from bertviz_core.analyses.reach.result import NEXT_TO_NOTHING
from bertviz_core.inputs.encoding import Batch, Encoded, structural
from bertviz_core.inputs.tokens import Tokens
from bertviz_core.models.layer_mask import LayerMask, full_visibility

Masks = Sequence[LayerMask | None]  # by layer; None where attention is full


def mean_distances(batch: Batch, masks: Masks, causal: bool) -> Tensor:
    """(layer, batch) the mean over rows i of the mean |i - j| of the tokens j that i sees, in tokens."""
    count = batch.mask.sum(1).float()
    full = (count - 1) / 4 if causal else (count - 1 / count) / 3
    return _by_layer(masks, lambda mask: _mean_distance(batch, mask).where(mask.is_local, full), full)


def distances_between(batch: Batch, masks: Masks, causal: bool) -> Tensor:
    """(layer, batch) the mean |i - j| of uniform attention between two different ordinary tokens, in tokens."""

    def of(visible: Tensor) -> Tensor:
        between = _uniform(batch, visible) * batch.pairs
        return mean_distance((between * _distances(batch)).sum((1, 2)), between.sum((1, 2)))

    full = of(full_visibility(batch, causal))
    return _by_layer(masks, lambda mask: of(mask.visible).where(mask.is_local, full), full)


def mean_distance(far: Tensor, weight: Tensor) -> Tensor:
    """(...) sums of distances, each times a weight, over those of the weights (...), of any shape; NaN where these are
    next to nothing."""
    return (far / weight).where(weight > NEXT_TO_NOTHING, torch.nan)


def sink_rows(batch: Batch, tokens: Tensor, masks: Masks, causal: bool) -> Tensor:
    """(layer, batch, sink) how many rows see one of the sink's tokens, which are (batch, sink, token) bool."""

    def of(visible: Tensor) -> Tensor:
        sees_sink = visible.float() @ tokens.float().transpose(1, 2) > 0  # (batch, query, sink)
        return (sees_sink & batch.mask[..., None]).sum(1)

    return _by_layer(masks, lambda mask: of(mask.visible), of(full_visibility(batch, causal)))


def token_uniform(batch: Batch, masks: Masks) -> Tensor | None:
    """(layer, batch, token, share) what uniform attention would have each token receive and give, in the order of
    SHARES; NaN where attention is full. None where it is in all layers."""
    if not any(masks):
        return None
    full = torch.full((*batch.mask.shape, 2), torch.nan, device=batch.mask.device)

    def of(mask: LayerMask) -> Tensor:
        weights = _uniform(batch, mask.visible)
        both = torch.stack([weights.sum(1), (weights * batch.pairs).sum(2)], -1)
        return both.where(mask.is_local[:, None, None], full)

    return _by_layer(masks, of, full)


def full_token_uniform(example: Encoded, tokens: Tokens, causal: bool) -> np.ndarray:
    """(token, share) as `token_uniform`, of one input under full attention, float64."""
    length = len(example)
    ordinary = ~structural(example, tokens)
    ordinary[0] = False
    visible = np.arange(1, length + 1) if causal else np.full(length, length)
    others = (np.cumsum(ordinary) if causal else ordinary.sum()) - 1
    received = np.cumsum(1 / visible[::-1])[::-1] if causal else np.ones(length)
    return np.stack([received, np.where(ordinary, others / visible, 0.0)], -1)


def _uniform(batch: Batch, visible: Tensor) -> Tensor:
    """(batch, query, key) uniform attention over what is visible, of the same shape; rows of padding are 0."""
    return visible * batch.mask[..., None] / visible.sum(-1, keepdim=True).clamp(min=1)


def _mean_distance(batch: Batch, mask: LayerMask) -> Tensor:
    return (_uniform(batch, mask.visible) * _distances(batch)).sum((1, 2)) / batch.mask.sum(1)


def _distances(batch: Batch) -> Tensor:
    """(query, key) |i - j|, in tokens."""
    positions = torch.arange(batch.mask.shape[1], device=batch.mask.device)
    return (positions[:, None] - positions).abs()


def _by_layer(masks: Masks, of: Callable[[LayerMask], Tensor], full: Tensor) -> Tensor:
    """What `of` makes of each layer's mask, once of those that layers share; `full` for a layer of full attention."""
    values = {id(mask): of(mask) for mask in {id(mask): mask for mask in masks}.values() if mask is not None}
    return torch.stack([full if mask is None else values[id(mask)] for mask in masks])
