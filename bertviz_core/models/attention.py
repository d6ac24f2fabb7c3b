"""Attention seen from inside the layer, while it is still on the device.

transformers lets a model use a registered attention function and hands it the model's keyword arguments, so an
`observer` given to the forward pass is called once a layer, in order, with that layer's maps and values. Families that
ignore registered functions (DeBERTa-v2, MPNet, XLNet) return their maps the ordinary way instead.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from bertviz_core.models.model import norm_logits, vector_norms

if TYPE_CHECKING:
    from torch import Tensor

    from bertviz_core.models.encoding import Batch
    from bertviz_core.models.model import AttentionModel

REGISTERED = "bertviz_observed"
Observer = Callable[["Tensor", "Tensor | None", "Tensor | None"], None]  # (weights, logits, values)
Combine = Callable[["Tensor", "Tensor"], "Tensor"]  # (weights, values) -> (batch, head, query, width of a head)


@dataclass(frozen=True, slots=True)
class LayerAttention:
    """One layer's maps for one batch.

    Attributes:
        weights: (batch, head, query, key) float32. Padding keys hold exactly 0; padding QUERY rows are full
            distributions and must be masked by the reader.
        logits: The masked, scaled scores whose softmax `weights` are, or None where the model does not show them.
        vector_norms: (batch, head, key), the length |f(x_j)| of what each token passes on; None for attention weights.
        attention: The attention weights where `weights` are norms, else None.
    """

    layer: int
    weights: Tensor
    logits: Tensor | None
    causal: bool
    vector_norms: Tensor | None = None
    attention: Tensor | None = None


def observed_attention(
    module: Any,
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attention_mask: Tensor | None,
    scaling: float | None = None,
    dropout: float = 0.0,
    observer: Observer | None = None,
    combine: Combine | None = None,
    **kwargs: Any,
) -> tuple[Tensor, Tensor]:
    """Softmax attention in float32 (float64 in a float64 model); shows (weights, logits, value) to the observer.
    `combine` stands in for the product of weights and values: what switches heads off (`models.ablation`)."""
    scale = query.size(-1) ** -0.5 if scaling is None else scaling
    # Copied row by row first: the product itself would copy the transpose, element by element.
    logits = at_least_float32(query @ key.contiguous().transpose(-1, -2)).mul_(scale)
    if attention_mask is not None:
        logits.add_(attention_mask)
    weights = logits.softmax(-1)
    if observer is not None:
        observer(weights, logits, value)
    mixed = weights.to(value.dtype)
    return (combine(mixed, value) if combine else mixed @ value).transpose(1, 2).contiguous(), weights


def register() -> str:
    """Make the function known to transformers, with a mask function: without one padding would be attended to."""
    from transformers import AttentionInterface, AttentionMaskInterface
    from transformers.masking_utils import eager_mask

    AttentionInterface.register(REGISTERED, observed_attention)
    AttentionMaskInterface.register(REGISTERED, eager_mask)
    return REGISTERED


def at_least_float32(values: Tensor) -> Tensor:
    """The values in float32, or unchanged where they are float64."""
    import torch

    return values.to(torch.promote_types(values.dtype, torch.float32))


class _AllSeen(Exception):
    """Ends a forward pass whose remaining output is not needed."""


def forward(model: AttentionModel, batch: Batch, observe: Callable[[LayerAttention], None]) -> None:
    """Run the encoder over a batch; `observe` sees every layer once, the first layer first.

    The pass stops after the last layer's maps: the rest of that layer, 6% of BERT-base's forward pass, is not needed.
    """
    captured = 0

    def observer(weights: Tensor, logits: Tensor | None, value: Tensor | None) -> None:
        nonlocal captured
        observe(_layer(model, captured, weights, logits, value))
        captured += 1
        if model.observable and captured == model.layers:
            raise _AllSeen

    import torch

    with torch.inference_mode(), suppress(_AllSeen):
        if model.observable:
            model.encoder(**batch.inputs(model), observer=observer)
        else:
            for weights in model.encoder(**batch.inputs(model), output_attentions=True).attentions:
                observer(at_least_float32(weights), None, None)
    if captured != model.layers:
        raise RuntimeError(f"{captured} layers were captured in a model of {model.layers}.")


def _layer(
    model: AttentionModel, layer: int, weights: Tensor, logits: Tensor | None, value: Tensor | None
) -> LayerAttention:
    """What is shown of one layer: attention weights, or norms where the model is observed through them."""
    if model.factors is None:
        return LayerAttention(layer, weights, logits, model.causal)
    assert logits is not None and value is not None, "families with norms call the registered attention function"
    norms = vector_norms(value, model.factors[layer])
    shifted = norm_logits(logits, norms)
    return LayerAttention(layer, shifted.softmax(-1), shifted, model.causal, norms, weights)
