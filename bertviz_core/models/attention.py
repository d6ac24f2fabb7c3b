"""Attention observed inside the layers, on the device: models hand a registered attention function their keyword
arguments, among them an `observer`. Families that ignore it (DeBERTa-v2, MPNet, XLNet) return their maps instead."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from itertools import count
from typing import TYPE_CHECKING, Any

from bertviz_core.inputs.encoding import Batch
from bertviz_core.inputs.tensors import Tensor, at_least_float32
from bertviz_core.models.layer_mask import LayerMask, full_visibility, layer_masks, mask_of_maps
from bertviz_core.models.model import AttentionModel, norm_logits, running
from bertviz_core.models.surroundings import in_standard_arithmetic

if TYPE_CHECKING:
    from bertviz_core.models.residual import Written

REGISTERED = "bertviz_observed"
# Arguments of attention functions that change no map: their effect is in the mask, the query or the key already, or
# they are for other kernels, or for the model's output.
IN_MASK = ("cache_position", "is_causal", "position_embeddings", "position_ids", "sliding_window")
OF_KERNELS = ("cu_seq_lens_k", "cu_seq_lens_q", "deterministic", "max_length_k", "max_length_q")
OF_OUTPUT = ("output_attentions", "output_hidden_states", "output_router_logits", "return_dict", "use_cache")
HARMLESS = {*IN_MASK, *OF_KERNELS, *OF_OUTPUT}


@dataclass(frozen=True)
class AttentionInternals:
    """What the weights of one layer are computed from, for one batch.

    Attributes:
        query: (batch, head, token, width) queries as they are multiplied: with rotary positions, and normalized.
        key: (batch, head, token, width) keys, likewise.
        value: (batch, head, token, width) values.
        scale: The factor of query times key.
        logits: (batch, head, query, key) scores, capped, with biases and masks.
        sink: (head,) score of a learned sink; None without.
        weights: (batch, head, query, key) the softmax of the logits, and of the sink.
        output: (batch, head, query, width) outputs of the heads: weights times values, or what `combine` makes of them.
        mask: (batch, 1 or head, query, key) the mask that was added to the scores; None without.
    """

    query: Tensor
    key: Tensor
    value: Tensor
    scale: float
    logits: Tensor
    sink: Tensor | None
    weights: Tensor
    output: Tensor
    mask: Tensor | None = None

    def on(self, device: str) -> "AttentionInternals":
        """The same on a device: of a model that is on several, layers are observed on that of its embeddings."""
        tensors = {name: value.to(device) for name, value in vars(self).items() if hasattr(value, "device")}
        return replace(self, **tensors)


@dataclass(frozen=True)
class LayerAttention:
    """One layer's maps for one batch. Padding keys hold exactly 0; readers must mask padding QUERY rows.

    Attributes:
        layer: The layer, from 0.
        weights: (batch, head, query, key) float32 attention weights, or norms.
        logits: (batch, head, query, key) whose softmax `weights` are; None with a learned sink, or where the model
            returns its maps.
        causal: Whether a token attends only to itself and to earlier ones.
        vector_norms: (batch, head, key) the length |f(x_j)| of what each token passes on; None unless `weights` are
            norms.
        attention: (batch, head, query, key) the attention weights where `weights` are norms; else None.
        scores: What the weights are computed from; None unless it is observed.
        mask: What the layer's queries see; None under full attention.
    """

    layer: int
    weights: Tensor
    logits: Tensor | None
    causal: bool
    vector_norms: Tensor | None = None
    attention: Tensor | None = None
    scores: AttentionInternals | None = None
    mask: LayerMask | None = None

    def visible(self, batch: Batch) -> Tensor:
        """(batch, query, key) bool: whether the query sees the key; uniform attention is uniform over these."""
        return self.mask.visible if self.mask else full_visibility(batch, self.causal)


def observed_attention(
    module: Any,
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attention_mask: Tensor | None,
    scaling: float | None = None,
    dropout: float = 0.0,
    position_bias: Tensor | None = None,
    softcap: float | None = None,
    s_aux: Tensor | None = None,
    observer: Callable[[AttentionInternals], None] | None = None,
    combine: Callable[[Tensor, Tensor], Tensor] | None = None,
    **others: Any,
) -> tuple[Tensor, Tensor]:
    """Compute attention as the model's eager function does, and show it to the observer.

    The arguments are those with which transformers calls an attention function, and `observer` and `combine`.

    Args:
        module: The layer.
        query: (batch, head, query, width) queries.
        key: (batch, key's head, key, width) keys; several heads may share one.
        value: (batch, key's head, key, width) values.
        attention_mask: (batch, 1 or head, query, key) added to the scores; None for none.
        scaling: The factor of the scores; None for 1 / sqrt(width).
        dropout: Of no use here: the model does not train.
        position_bias: Added to the scaled scores, as in T5.
        softcap: Scores are squeezed into (-softcap, softcap), as in Gemma 2.
        s_aux: (head,) score of a learned sink, which takes its share of each row, as in gpt-oss.
        observer: Gets the internals of the layer.
        combine: Replaces the product of weights and values, (batch, head, query, width).
        others: Arguments that change no map.

    Returns:
        (batch, query, head, width) the heads' outputs, and (batch, head, query, key) the maps.

    Raises:
        TypeError: An argument may change the maps and is not known.
    """
    _check_arguments(others)
    scale = query.size(-1) ** -0.5 if scaling is None else scaling
    key, value = (_for_each_head(tensor, query.size(1)) for tensor in (key, value))
    logits = _logits(query, key, scale, softcap, position_bias, attention_mask)
    internals = _internals(
        query, key, value, scale=scale, logits=logits, sink=s_aux, mask=attention_mask, combine=combine
    )
    if observer is not None:
        observer(internals)
    return internals.output.transpose(1, 2).contiguous(), internals.weights


def _for_each_head(tensor: Tensor, heads: int) -> Tensor:
    """Keys or values, of which several heads may share one, as one for each head."""
    shared = heads // tensor.size(1)
    return tensor.repeat_interleave(shared, 1) if shared > 1 else tensor


def _check_arguments(others: Mapping[str, Any]) -> None:
    """Raise TypeError for arguments that may change the maps and are not known."""
    unknown = [name for name, value in others.items() if value is not None and name not in HARMLESS]
    if unknown:
        raise TypeError(f"attention with {', '.join(sorted(unknown))} is not known")


def _internals(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    *,
    scale: float,
    logits: Tensor,
    sink: Tensor | None,
    mask: Tensor | None,
    combine: Callable[[Tensor, Tensor], Tensor] | None,
) -> AttentionInternals:
    """The weights and outputs that scores give, with what they are computed from; tensors as in AttentionInternals."""
    weights = at_least_float32(logits).softmax(-1) if sink is None else _softmax_with_sink(logits, sink)
    rounded = weights.to(value.dtype)
    return AttentionInternals(
        query=query,
        key=key,
        value=value,
        scale=float(scale),
        logits=at_least_float32(logits),
        sink=sink,
        weights=weights,
        output=combine(rounded, value) if combine else rounded @ value,
        mask=mask,
    )


def _logits(query: Tensor, key: Tensor, scale: float, softcap: float | None, *added: Tensor | None) -> Tensor:
    """(batch, head, query, key) scaled scores, capped, with what is added to them: a position bias, and the mask."""
    # Copied row by row first: the product itself would copy the transpose, element by element.
    logits = (query @ key.contiguous().transpose(-1, -2)).mul_(scale)
    if softcap is not None:
        logits = (logits / softcap).tanh() * softcap
    for each in added:
        if each is not None:
            logits.add_(each)
    return logits


def _softmax_with_sink(logits: Tensor, sink: Tensor) -> Tensor:
    """The softmax over the keys and a learned sink, (head,), without the sink's share: rows sum to less than 1."""
    import torch

    column = sink.to(logits).view(1, -1, 1, 1).expand(*logits.shape[:3], 1)
    joined = torch.cat([logits, column], -1)
    return at_least_float32(joined - joined.amax(-1, keepdim=True)).softmax(-1)[..., :-1]


def register() -> str:
    """Register the function and, so that padding is masked, a mask function; returns their name in transformers."""
    from transformers import AttentionInterface, AttentionMaskInterface

    AttentionInterface.register(REGISTERED, observed_attention)
    AttentionMaskInterface.register(REGISTERED, _mask)
    return REGISTERED


def _mask(**options: Any) -> Any:
    """The mask of transformers' eager attention. Whether a batch has no padding, so that it needs none, is asked of the
    CPU alone: any other device would be waited for."""
    from transformers.masking_utils import eager_mask

    if str(options.get("device", "cpu")) != "cpu":
        options["allow_is_bidirectional_skip"] = False
    return eager_mask(**options)


class _LastLayerObserved(Exception):
    """Ends a pass whose rest is not needed."""


@in_standard_arithmetic
def forward(
    model: AttentionModel,
    batch: Batch,
    *observers: Callable[[LayerAttention], None],
    at_end: Sequence[Callable[["Written"], None]] = (),
) -> None:
    """Run the encoder over a batch up to the last layer's maps; each observer gets every layer, the first one first.

    Args:
        at_end: What gets the residual stream of a model that has one: then the encoder is run to its end.
    """
    import torch

    layers = count()
    masks = layer_masks(batch, model.causal)

    def observer(scores: AttentionInternals) -> None:
        layer = next(layers)
        scores = scores.on(model.device)
        attention = replace(_layer_attention(model, layer, scores), mask=masks(scores.mask))
        for observe in observers:
            observe(attention)
        if layer == model.layers - 1 and not at_end:
            raise _LastLayerObserved

    recording = _recorded(model, at_end)
    with torch.inference_mode(), suppress(_LastLayerObserved), running(model, batch.ids), recording:
        if model.observable:
            model.encoder(**model.inputs(batch), observer=observer)
        else:
            for weights in model.encoder(**model.inputs(batch), output_attentions=True).attentions:
                maps = at_least_float32(weights)
                mask = mask_of_maps(batch, maps, model.causal)
                attention = LayerAttention(next(layers), maps, None, model.causal, mask=mask)
                for observe in observers:
                    observe(attention)
    if (captured := next(layers)) != model.layers:
        raise RuntimeError(f"{captured} layers were captured in a model of {model.layers}.")


@contextmanager
def _recorded(model: AttentionModel, at_end: Sequence[Callable[["Written"], None]]) -> Iterator[None]:
    """Show observers what the passes of a `with` block write into the residual stream."""
    if not at_end:
        yield
        return
    assert model.residual is not None, "the model was loaded with its residual stream"
    with model.residual.recorded() as written:
        yield
    for observe in at_end:
        observe(written)


def _layer_attention(model: AttentionModel, layer: int, scores: AttentionInternals) -> LayerAttention:
    """Attention weights of one layer, or norms where the model is observed through them."""
    if model.factors is None:
        logits = scores.logits if scores.sink is None else None
        return LayerAttention(layer, scores.weights, logits, model.causal, scores=scores)
    factor = model.factors[layer]
    norms = (scores.value.to(factor.dtype) @ factor).norm(dim=-1)
    shifted = norm_logits(scores.logits, norms)
    return LayerAttention(
        layer=layer,
        weights=shifted.softmax(-1),
        logits=shifted,
        causal=model.causal,
        vector_norms=norms,
        attention=scores.weights,
        scores=scores,
    )
