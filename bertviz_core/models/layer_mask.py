"""What the mask of a layer leaves its queries to see: in layers of local attention (a sliding window, chunks) less than
padding and a causal mask do."""

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass

from bertviz_core.inputs.encoding import Batch
from bertviz_core.inputs.tensors import Tensor

MASKS = 4  # masks that are known at a time: layers share few, but those on other devices have copies of their own


@dataclass(frozen=True)
class LayerMask:
    """The keys that the queries of a layer see, for one batch.

    Attributes:
        visible: (batch, query, key) bool, whether the query sees the key.
        is_local: (batch,) bool, whether a token of the input does not see another that it would see under full
            attention, of a causal model an earlier one.
    """

    visible: Tensor
    is_local: Tensor


def full_visibility(batch: Batch, causal: bool) -> Tensor:
    """(batch, query, key) bool: whether the query sees the key under full attention, of a causal model itself and
    earlier ones."""
    length = batch.mask.shape[1]
    visible = batch.mask[:, None].expand(-1, length, -1)
    return visible.tril() if causal else visible


def leaves_visible(added: Tensor) -> Tensor:
    """Where what a layer adds to its scores, of any shape, masks nothing, bool. What is masked gets the lowest number
    of its type; higher numbers may be biases of distances."""
    import torch

    return added > torch.finfo(added.dtype).min / 2


def layer_mask(batch: Batch, seen: Tensor, causal: bool) -> LayerMask | None:
    """What a layer leaves visible.

    Args:
        seen: (batch or 1, 1 or head, query, key) bool, what the layer does not mask.
        causal: Whether a token sees only itself and earlier ones.

    Returns:
        The mask; None where attention is full. Whether it is, is asked of the CPU alone: any other device would be
        waited for.
    """
    full = full_visibility(batch, causal)
    # Where heads have masks of their own, what one of them sees is seen.
    visible = seen.any(1).expand_as(full) & full
    is_local = ((visible != full) & batch.mask[..., None]).flatten(1).any(1)
    if seen.device.type == "cpu" and not is_local.any():
        return None
    return LayerMask(visible, is_local)


def mask_of_maps(batch: Batch, weights: Tensor, causal: bool) -> LayerMask | None:
    """What a layer leaves visible of which the maps (batch, head, query, key) alone are known: a mask gives a weight of
    0 in all heads. A softmax alone gives that only where every head's score is some 100 below its highest."""
    return layer_mask(batch, weights > 0, causal)


def layer_masks(batch: Batch, causal: bool) -> Callable[[Tensor | None], LayerMask | None]:
    """`layer_mask` of what is added to the scores of a layer, (batch or 1, 1 or head, query, key), None for nothing; it
    is computed once for all layers that share a mask."""
    known: deque[tuple[Tensor, LayerMask | None]] = deque(maxlen=MASKS)

    def of_layer(added: Tensor | None) -> LayerMask | None:
        if added is None:
            return None
        for mask, found in known:
            if mask is added:
                return found
        seen = leaves_visible(added[..., : batch.mask.shape[1]])
        known.append((added, layer_mask(batch, seen, causal)))
        return known[-1][1]

    return of_layer
