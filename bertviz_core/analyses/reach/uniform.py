"""What uniform attention would give where a layer's mask leaves its queries less than full attention does, and which
rows see a sink (docs/methods.md, section 17)."""

from collections.abc import Callable, Sequence

import torch
from torch import Tensor

from bertviz_core.inputs.encoding import Batch
from bertviz_core.models.layer_mask import LayerMask, full_visibility

Masks = Sequence[LayerMask | None]  # by layer; None where attention is full


def mean_distances(batch: Batch, masks: Masks, causal: bool) -> Tensor:
    """(layer, batch) the mean over rows i of the mean |i - j| of the tokens j that i sees, in tokens."""
    count = batch.mask.sum(1).float()
    full = (count - 1) / 4 if causal else (count - 1 / count) / 3
    return _by_layer(masks, lambda mask: _mean_distance(batch, mask).where(mask.is_local, full), full)


def distances_between(batch: Batch, masks: Masks, full: Tensor) -> Tensor:
    """(layer, batch) the mean |i - j| of uniform attention between two different ordinary tokens, in tokens; `full`,
    (batch,), under full attention."""

    def of(mask: LayerMask) -> Tensor:
        between = _uniform(batch, mask) * batch.pairs
        return ((between * _distances(batch)).sum((1, 2)) / between.sum((1, 2))).where(mask.is_local, full)

    return _by_layer(masks, of, full)


def sink_rows(batch: Batch, tokens: Tensor, masks: Masks, causal: bool) -> Tensor:
    """(layer, batch, sink) how many rows see one of the sink's tokens, which are (batch, sink, token) bool."""

    def of(visible: Tensor) -> Tensor:
        seen = visible.float() @ tokens.float().transpose(1, 2) > 0  # (batch, query, sink)
        return (seen & batch.mask[..., None]).sum(1)

    return _by_layer(masks, lambda mask: of(mask.visible), of(full_visibility(batch, causal)))


def token_uniform(batch: Batch, masks: Masks) -> Tensor | None:
    """(layer, batch, token, share) what uniform attention would have each token receive and give, in the order of
    SHARES; NaN where attention is full. None where it is in all layers."""
    if not any(masks):
        return None
    full = torch.full((*batch.mask.shape, 2), torch.nan, device=batch.mask.device)

    def of(mask: LayerMask) -> Tensor:
        weights = _uniform(batch, mask)
        both = torch.stack([weights.sum(1), (weights * batch.pairs).sum(2)], -1)
        return both.where(mask.is_local[:, None, None], full)

    return _by_layer(masks, of, full)


def _uniform(batch: Batch, mask: LayerMask) -> Tensor:
    """(batch, query, key) uniform attention; rows of padding are 0."""
    return mask.visible * batch.mask[..., None] / mask.visible.sum(-1, keepdim=True).clamp(min=1)


def _mean_distance(batch: Batch, mask: LayerMask) -> Tensor:
    return (_uniform(batch, mask) * _distances(batch)).sum((1, 2)) / batch.mask.sum(1)


def _distances(batch: Batch) -> Tensor:
    """(query, key) |i - j|, in tokens."""
    positions = torch.arange(batch.mask.shape[1], device=batch.mask.device)
    return (positions[:, None] - positions).abs()


def _by_layer(masks: Masks, of: Callable[[LayerMask], Tensor], full: Tensor) -> Tensor:
    """What `of` makes of each layer's mask, once of those that layers share; `full` for a layer of full attention."""
    values = {id(mask): of(mask) for mask in {id(mask): mask for mask in masks}.values() if mask is not None}
    return torch.stack([full if mask is None else values[id(mask)] for mask in masks])
