"""The matrices of every head, read from a model's weights, and checked against what it computes (docs/methods.md,
section 21)."""

from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import torch
from torch import Tensor

from bertviz_core.errors import ModelError
from bertviz_core.inputs.encoding import Encoded, collate
from bertviz_core.models.ablation import Restart, RunLayer
from bertviz_core.models.attention import AttentionInternals, LayerAttention, forward
from bertviz_core.models.dispatched import read_weight, weight_of
from bertviz_core.models.families import WEIGHT_NAMES, WeightNames
from bertviz_core.models.model import (
    OF_WEIGHTS,
    AttentionModel,
    check_family,
    linear_matrix,
    predicts_next_words,
    running,
)

OFFSETS = (0, 1, 8)  # tokens from the query back to the key, of models with rotary positions
TOLERANCE = 1e-3  # how far what is computed from the matrices may be from what the model computes, in float32
ROUNDED = 0.05  # the same in types of fewer bits


@dataclass(frozen=True)
class LayerWeights:
    """The matrices of one layer's heads, float32. A token whose vector before them is x has the query x W_Q + b_Q, the
    key x W_K + b_K and the value x W_V + b_V, and a head that gives it the weight A adds A (x W_V + b_V) W_O.

    Attributes:
        query, key, value: (head, width of the model, width of a head); keys and values that several heads share are
            repeated.
        query_bias, key_bias, value_bias: (head, width of a head).
        output: (head, width of a head, width of the model).
        norm: The norm before them; None where it stands after the layer instead.
        score_norms: The norms of queries and of keys (Qwen 3); None where they have none.
        rotations: From each of the offsets to (width of a head, width of a head) R, so that the score of a query and
            the key so many tokens before it is q R k; the identity alone without rotary positions.
    """

    query: Tensor
    key: Tensor
    value: Tensor
    query_bias: Tensor
    key_bias: Tensor
    value_bias: Tensor
    output: Tensor
    norm: Any
    score_norms: tuple[Any, Any] | None
    rotations: dict[int, Tensor]

    @property
    def gain(self) -> Tensor | None:
        """(width of the model,) what the norm before them multiplies by; None without such a norm."""
        return None if self.norm is None else read_weight(self.norm, "weight").to(self.query.device).float()

    @property
    def is_centered(self) -> bool:
        """Whether that norm subtracts the mean, as LayerNorm does and RMSNorm does not."""
        return isinstance(self.norm, torch.nn.LayerNorm)

    def queries(self, inputs: Tensor) -> Tensor:
        """(head, token, width of a head) of (token, width of the model) vectors after the norm."""
        queries = inputs @ self.query + self.query_bias[:, None]
        return self.score_norms[0](queries).to(queries.device) if self.score_norms else queries

    def keys(self, inputs: Tensor) -> Tensor:
        """(head, token, width of a head) keys, likewise."""
        keys = inputs @ self.key + self.key_bias[:, None]
        return self.score_norms[1](keys).to(keys.device) if self.score_norms else keys

    @property
    def scorers(self) -> tuple[Tensor, Tensor]:
        """`query` and `key`, (head, width of the model, width of a head) each, with the gains of the norms after
        them."""
        if not self.score_norms:
            return self.query, self.key
        of_query, of_key = (read_weight(norm, "weight").to(self.query) for norm in self.score_norms)
        return self.query * of_query, self.key * of_key

    def readers(self, matrix: Tensor) -> Tensor:
        """(head, width of the model, width of a head) a query's, a key's or a value's matrix as it reads the residual
        stream: with the norm's gain, and without what the norm takes away (docs/methods.md, section 21)."""
        if self.gain is not None:
            matrix = self.gain[:, None] * matrix
        return matrix - matrix.mean(1, keepdim=True) if self.is_centered else matrix

    @property
    def writers(self) -> Tensor:
        """(head, width of a head, width of the model) `output` as norms see it: centered where they subtract means."""
        return self.output - self.output.mean(-1, keepdim=True) if self.is_centered else self.output


def head_weights(model: AttentionModel) -> list[LayerWeights]:
    """The matrices of each layer; raises ModelError for a family that is not known, and where they do not give the
    queries, keys and values that the model computes."""
    check_family(model.checkpoint)
    names = WEIGHT_NAMES[str(model.checkpoint.config["model_type"])]
    try:
        weights = [_layer_weights(model, names, layer) for layer in range(model.layers)]
        gap = _gap(model, names, weights)
    except (AttributeError, RuntimeError, ValueError) as error:
        raise _unreadable(model, str(error)[:150]) from error
    if not gap <= (TOLERANCE if model.encoder.dtype.itemsize > 2 else ROUNDED):
        raise _unreadable(model, f"they give queries, keys or values that are off by {gap:.2g} of their size")
    return weights


def _unreadable(model: AttentionModel, why: str) -> ModelError:
    return ModelError(f"The weights of the heads of {model.checkpoint.name!r} cannot be read: {why}.", hint=OF_WEIGHTS)


def _layer(model: AttentionModel, names: WeightNames, layer: int) -> Any:
    return model.encoder.get_submodule(f"{names.stack}.{layer}")


def _layer_weights(model: AttentionModel, names: WeightNames, number: int) -> LayerWeights:
    layer = _layer(model, names, number)
    parts, biases = _projections(model, names, layer)
    output = _linear(layer.get_submodule(names.output), model)[0]  # (width of the model, head and width)
    width = output.shape[1] // model.heads
    query, key, value = (_by_head(part, model.heads, width) for part in parts)
    query_bias, key_bias, value_bias = (_by_head(bias[:, None], model.heads, width)[:, 0] for bias in biases)
    attention = layer.get_submodule(names.output.rpartition(".")[0])
    return LayerWeights(
        query=query,
        key=key,
        value=value,
        query_bias=query_bias,
        key_bias=key_bias,
        value_bias=value_bias,
        output=output.T.unflatten(0, (model.heads, width)),
        norm=layer.get_submodule(names.norm) if names.norm else None,
        score_norms=(attention.q_norm, attention.k_norm) if hasattr(attention, "q_norm") else None,
        rotations=_rotations(model, attention, width),
    )


def _projections(model: AttentionModel, names: WeightNames, layer: Any) -> tuple[list[Tensor], list[Tensor]]:
    """Matrices (output, input) and biases (output,) of queries, keys and values, of one module each or of one for
    all."""
    read = [_linear(layer.get_submodule(name), model) for name in names.readers]
    if len(read) == 3:
        return [matrix for matrix, _ in read], [bias for _, bias in read]
    matrix, bias = read[0]
    if names.is_fused_by_head:  # (head, query or key or value, width)
        shape = (model.heads, 3, -1)
        parts = [part.flatten(0, 1) for part in matrix.unflatten(0, shape).unbind(1)]
        return parts, [part.flatten() for part in bias.unflatten(0, shape).unbind(1)]
    return list(matrix.chunk(3)), list(bias.chunk(3))


def _linear(module: Any, model: AttentionModel) -> tuple[Tensor, Tensor]:
    """(output, input) the matrix and (output,) the bias of a linear layer, float32."""
    matrix = linear_matrix(module, model)
    if matrix is None:
        raise _unreadable(model, f"a projection is no linear layer ({type(module).__name__})")
    with torch.inference_mode():
        zeros = torch.zeros(1, matrix.shape[1], device=model.device, dtype=model.encoder.dtype)
        return matrix.float(), module(zeros)[0].to(model.device).float().clone()


def _by_head(matrix: Tensor, heads: int, width: int) -> Tensor:
    """(head, input, width of a head) of (output, input), where several heads may share a key or a value."""
    by_head = matrix.unflatten(0, (-1, width)).mT
    return by_head.repeat_interleave(heads // len(by_head), 0)


def _rotations(model: AttentionModel, attention: Any, width: int) -> dict[int, Tensor]:
    """The rotation of each offset, as the model's own rotary positions give it."""
    identity = torch.eye(width, device=model.device)
    if not hasattr(model.encoder, "rotary_emb"):
        return {0: identity}
    if not getattr(attention, "use_rope", True):  # A layer without positions among those that have them.
        return dict.fromkeys(OFFSETS, identity)
    positions = torch.arange(OFFSETS[-1] + 1, device=model.device)[None]
    with torch.inference_mode():
        turned = model.encoder.rotary_emb(identity[None], positions)
        cosines, sines = (each[0].to(model.device).float() for each in turned)
    by_offset = [_rotate(identity, cosines[offset], sines[offset]) for offset in OFFSETS]
    return {offset: turn @ by_offset[0].T for offset, turn in zip(OFFSETS, by_offset, strict=True)}


def _rotate(rows: Tensor, cosine: Tensor, sine: Tensor) -> Tensor:
    """Rows (row, width) as rotary positions turn them, the first of their numbers alone where not all are turned."""
    rotary, rest = rows[:, : len(cosine)], rows[:, len(cosine) :]
    first, second = rotary.chunk(2, -1)
    return torch.cat([rotary * cosine + torch.cat([-second, first], -1) * sine, rest], -1)


def _gap(model: AttentionModel, names: WeightNames, weights: Sequence[LayerWeights]) -> float:
    """How far values, and cosines between queries and keys, from the matrices are from those that the model
    computes."""
    ids = np.resize(model.tokens.ordinary, OFFSETS[-1] + 2)
    batch = collate([Encoded(0, "", ids, np.zeros_like(ids))], model.tokens, model.device)
    inputs: list[Tensor] = []
    observed: list[AttentionInternals] = []

    def observe(layer: LayerAttention) -> None:
        assert layer.scores is not None, "an observable model shows its scores"
        observed.append(layer.scores)

    with ExitStack() as hooks:
        for number in range(model.layers):
            reader = _layer(model, names, number).get_submodule(names.readers[0])
            hook = reader.register_forward_pre_hook(
                lambda _, given: inputs.append(given[0][0].to(model.device).float())
            )
            hooks.callback(hook.remove)
        forward(model, batch, observe)
    gaps = [
        gap
        for layer, given, scores in zip(weights, inputs, observed, strict=True)
        for gap in _gaps(layer, given, scores)
    ]
    return float(torch.stack(gaps).max())


def _gaps(layer: LayerWeights, inputs: Tensor, scores: AttentionInternals) -> Iterator[Tensor]:
    """Of values the largest difference as a share of the largest number; at each offset the largest difference of
    cosines between queries and keys, which may be scaled."""
    value, queries, keys = (part[0].float() for part in (scores.value, scores.query, scores.key))
    read = inputs @ layer.value + layer.value_bias[:, None]
    yield (read - value).abs().max() / value.abs().max().clamp(min=1e-6)
    query, key = layer.queries(inputs), layer.keys(inputs)
    for offset, rotation in layer.rotations.items():
        found = _cosines(query @ rotation, key, offset)
        yield (found - _cosines(queries, keys, offset)).abs().max()


def _cosines(query: Tensor, key: Tensor, offset: int) -> Tensor:
    """(head, token) cosines between each query and the key so many tokens before it, both (head, token, width)."""
    last = query.shape[1] - offset
    return torch.nn.functional.cosine_similarity(query[:, offset:], key[:, :last], dim=-1)


@dataclass(frozen=True)
class Vocabulary:
    """What a decoder reads and writes of its vocabulary, float32.

    Attributes:
        embedding: (word, width) W_E.
        unembedding: (word, width) W_U, before the gain of the norm in front of it.
        bias: (word,) of the unembedding; None without.
        norm: The norm in front of it.
    """

    embedding: Tensor
    unembedding: Tensor
    bias: Tensor | None
    norm: Any

    @property
    def is_centered(self) -> bool:
        """Whether the norm subtracts the mean."""
        return isinstance(self.norm, torch.nn.LayerNorm)

    @cached_property
    def readers(self) -> Tensor:
        """(word, width) W_U as it reads the residual stream: with the norm's gain, without what the norm takes away."""
        words = self.unembedding * read_weight(self.norm, "weight").to(self.unembedding)
        return words - words.mean(-1, keepdim=True) if self.is_centered else words

    @cached_property
    def constant(self) -> Tensor:
        """(word,) what every logit has besides: of the norm's bias, and the unembedding's."""
        bias = weight_of(self.norm, self.unembedding.device, "bias")
        of_norm = self.unembedding.new_zeros(len(self.unembedding)) if bias is None else self.unembedding @ bias.float()
        return of_norm if self.bias is None else of_norm + self.bias

    @property
    def epsilon(self) -> float:
        """What the norm adds to a variance."""
        return float(getattr(self.norm, "eps", None) or self.norm.variance_epsilon)


def vocabulary(model: AttentionModel) -> Vocabulary | None:
    """Of a decoder that was saved with the head that predicts next words; None for any other model."""
    if not (model.causal and model.language_model is not None and predicts_next_words(model.checkpoint)):
        return None
    names = WEIGHT_NAMES[str(model.checkpoint.config["model_type"])]
    words, embeddings = model.language_model.get_output_embeddings(), model.encoder.get_input_embeddings()
    bias = weight_of(words, model.device, "bias")
    embedding, unembedding = (read_weight(each, "weight").to(model.device) for each in (embeddings, words))
    return Vocabulary(
        embedding=embedding.float(),
        unembedding=unembedding.float(),
        bias=None if bias is None else bias.float(),
        norm=model.encoder.get_submodule(names.final_norm),
    )


def after_first_layer(model: AttentionModel, ids: Tensor, embedding: Tensor) -> Tensor:
    """(token, width) the residual stream after the first layer of each token alone, without a position: its embedding,
    what the first layer's heads write of it where they attend to it alone, and what the first MLP adds.

    Args:
        ids: (token,) int64.
        embedding: (word, width) W_E.
    """
    outputs: list[Tensor] = []

    def run(forward: RunLayer, hidden: Tensor, *args: Any, **kwargs: Any) -> Any:
        if outputs:
            return hidden
        output = forward(embedding[ids][:, None].to(hidden), *args, **kwargs)
        outputs.append(output[0] if isinstance(output, tuple) else output)
        return outputs[0]

    restart = Restart(model)
    with torch.inference_mode(), restart.layers_run_by(run), running(model, ids[:, None]):
        model.encoder(input_ids=ids[:, None], attention_mask=torch.ones_like(ids[:, None]))
    return outputs[0][:, 0].to(model.device).float()
