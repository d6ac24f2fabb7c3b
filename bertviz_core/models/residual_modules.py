"""Finds what writes into a decoder's residual stream, and verifies that it adds up to the logits (docs/methods.md,
section 20)."""

from dataclasses import replace
from typing import Any

import torch
from torch import Tensor, nn

from bertviz_core.corpora import Skipped
from bertviz_core.errors import ModelError
from bertviz_core.inputs.encoding import Batch, collate, encode_words
from bertviz_core.inputs.tensors import at_least_float32
from bertviz_core.models.dispatched import read_weight, weight_of
from bertviz_core.models.model import AttentionModel, linear_matrix, running, word_scores
from bertviz_core.models.residual import FrozenNorm, ResidualStream, Written, hooked, of_this_thread

# Where families have what writes into the residual stream, in a layer and in the model. The sum of all parts is
# compared with the model's own logits, so that a wrong one is refused.
PROJECTIONS = (
    *("self_attn.o_proj", "self_attn.out_proj", "self_attn.dense", "attn.c_proj", "attn.out_proj", "attn.o_proj"),
    *("attn.attention.out_proj", "attention.dense", "self_attention.dense"),
)
NORMS_OF_ATTENTION = {  # the norm after the MLP, by which a family is known to have one after attention too
    "post_feedforward_layernorm": "post_attention_layernorm",
    "post_mlp_layernorm": "post_self_attn_layernorm",
}
MLPS = (*NORMS_OF_ATTENTION, "mlp.dense_4h_to_h", "fc2", "mlp", "feed_forward", "block_sparse_moe")
FINAL_NORMS = ("norm", "ln_f", "final_layer_norm", "final_layernorm", "decoder.final_layer_norm", "layer_norm")
TOLERANCE = 1e-4  # of the largest logit, in float32
ROUNDED = 0.05  # the same of weights of 16 bits
HINT = "docs/models.md lists the families of which they are known; ablation needs no such sum."


def with_residual(model: AttentionModel) -> AttentionModel:
    """The model with its residual stream.

    Raises:
        ModelError: It predicts no next words, or its logits are no sum of parts.
    """
    if model.residual is not None:
        return model
    with torch.inference_mode():
        try:
            return replace(model, residual=_verified(model, _modules(model)))
        except (AssertionError, AttributeError, LookupError, RuntimeError, TypeError, ValueError) as error:
            raise _no_sum(model, "its layers are built in a way of their own") from error


def _no_sum(model: AttentionModel, why: str) -> ModelError:
    what = f"The logits of {model.checkpoint.name!r} are no sum of what its heads and MLPs write ({why})."
    return ModelError(what, hint=HINT)


def _modules(model: AttentionModel) -> ResidualStream:
    """What writes into the residual stream, by its names; raises ModelError where something has another."""
    encoder, head = model.encoder, model.language_model and model.language_model.get_output_embeddings()
    stack = next((each for each in encoder.modules() if _is_stack(each, model.layers)), None)
    final = _first(encoder, FINAL_NORMS)
    if stack is None or final is None or type(head) is not nn.Linear:
        lacking = "layers" if stack is None else "last norm" if final is None else "unembedding"
        raise _no_sum(model, f"its {lacking} cannot be found by name")
    projections = [_named(layer, PROJECTIONS) for layer in stack]
    unembedding = read_weight(head, "weight").to(model.device)
    like = torch.zeros(unembedding.shape[1], dtype=unembedding.dtype, device=unembedding.device)
    after = {number: _norm_of_attention(layer) for number, layer in enumerate(stack)}
    bias = weight_of(head, model.device, "bias")
    if bias is None:
        bias = torch.zeros_like(unembedding[:, 0])
    return ResidualStream(
        first=stack[0],
        projections=tuple(projections),
        matrices=tuple(_matrix(each, model) for each in projections),
        offsets=tuple(_offset(each, like) for each in projections),
        norms={number: FrozenNorm.of(norm, like) for number, norm in after.items() if norm is not None},
        mlps=tuple(_named(layer, MLPS) for layer in stack),
        final=FrozenNorm.of(final, like),
        unembedding=unembedding,
        unembedding_bias=at_least_float32(bias),
        mean=at_least_float32(unembedding).mean(0),
        heads=model.heads,
    )


def _first(parent: Any, names: tuple[str, ...]) -> Any:
    """The first of these submodules that there is; None without any."""
    for name in names:
        found = parent
        for part in name.split("."):
            found = getattr(found, part, None)
        if isinstance(found, nn.Module):
            return found
    return None


def _named(layer: Any, names: tuple[str, ...]) -> Any:
    """The first of these submodules; raises ValueError without any."""
    if (found := _first(layer, names)) is None:
        raise ValueError(f"none of {', '.join(names)}")
    return found


def _is_stack(module: Any, layers: int) -> bool:
    """Whether a module is the list of a model's layers."""
    is_list = isinstance(module, nn.ModuleList) and len(module) == layers
    return is_list and all(_first(layer, PROJECTIONS) is not None for layer in module)


def _norm_of_attention(layer: Any) -> Any:
    return next((_first(layer, (norm,)) for after, norm in NORMS_OF_ATTENTION.items() if _first(layer, (after,))), None)


def _matrix(projection: nn.Module, model: AttentionModel) -> Tensor:
    """(width, head and width of a head) what a projection multiplies by."""
    matrix = linear_matrix(projection, model)
    if matrix is None:
        raise _no_sum(model, f"an output projection is no linear layer ({type(projection).__name__})")
    return matrix


def _offset(projection: nn.Module, like: Tensor) -> Tensor:
    """(width,) what a projection adds: what it gives for zeros."""
    weight: Any = projection.weight
    size = getattr(projection, "in_features", weight.shape[0])
    return at_least_float32(projection(like.new_zeros(1, size))[0]).to(like.device)


def _verified(model: AttentionModel, stream: ResidualStream) -> ResidualStream:
    """The stream with the scale and the cap of logits, whose parts add up to the logits of a short input.

    Raises:
        ModelError: They do not.
    """
    example = encode_words(["a", "b", "c", "a", "b"], model.tokens, 0, "", Skipped())
    batch = collate([example], model.tokens, model.device)
    raw, logits, written = _run(model, stream, batch)
    scale, cap = _after_unembedding(model, raw, logits)
    stream = replace(stream, scale=scale, cap=cap)
    places = torch.arange(len(raw), device=raw.device)
    best = raw.argmax(-1)
    parts = stream.parts(written, (torch.zeros_like(places), places), best)
    expected = stream.scale * (raw[places, best] - raw.mean(-1))
    gap = float((parts.total() - expected).abs().max() / expected.abs().max())
    if not gap <= _tolerance(model):
        raise _no_sum(model, f"their sum is off by up to {gap:.1%}")
    return stream


def _tolerance(model: AttentionModel) -> float:
    return TOLERANCE if model.encoder.dtype.itemsize > 2 else ROUNDED


def _run(model: AttentionModel, stream: ResidualStream, batch: Batch) -> tuple[Tensor, Tensor, Written]:
    """(token, word of the vocabulary) what the unembedding gives for one input, the model's logits, and what it
    writes."""
    raw = list[Tensor]()

    def unembed(_module: Any, _args: Any, output: Any) -> None:
        raw.append(at_least_float32(output[0]).to(model.device))

    head = model.language_model.get_output_embeddings()
    unembedding = hooked(head.register_forward_hook(of_this_thread(unembed)))
    with running(model, batch.ids), stream.recorded(mlps=True) as written, unembedding:
        logits = at_least_float32(word_scores(model.language_model(**model.inputs(batch)))[0])
    return raw[0], logits, written


def _after_unembedding(model: AttentionModel, raw: Tensor, logits: Tensor) -> tuple[float, float | None]:
    """The scale of logits, and their cap, from (token, word of the vocabulary) scores before and after both."""
    allowed = _tolerance(model) * float(logits.abs().max())
    scale = float((raw * logits).sum() / raw.square().sum())
    if (raw * scale - logits).abs().max() <= allowed:
        return scale, None
    cap = getattr(model.encoder.config, "final_logit_softcapping", None)
    if cap and ((raw / cap).tanh() * cap - logits).abs().max() <= allowed:
        return 1.0, float(cap)
    raise _no_sum(model, "what follows the unembedding is neither a factor nor a cap")
