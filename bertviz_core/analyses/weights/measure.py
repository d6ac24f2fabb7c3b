"""What follows from the weights of heads: copying of single tokens, eigenvalues, and composition of pairs
(docs/methods.md, section 21).

A head's W_V W_O and W_Q W_K^T have the model's width on both sides and the head's width as rank. None is ever written
out: with W = Q R, the factors of a QR decomposition, |W X| = |R X|, and eigenvalues of A B are those of B A.
"""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor

from bertviz_core.analyses.base.accumulators import SegmentSums
from bertviz_core.analyses.weights.result import QUANTITIES, TOP_WORDS, path_name
from bertviz_core.engine.packing import PackedValues, pack, unpack
from bertviz_core.engine.progress import Progress
from bertviz_core.inputs.encoding import Encoded, collate
from bertviz_core.models.attention import LayerAttention
from bertviz_core.models.head_weights import (
    LayerWeights,
    Vocabulary,
    after_first_layer,
    head_weights,
    vocabulary,
)
from bertviz_core.models.model import AttentionModel

RANDOM_HEADS = 256  # of the same shapes, whose eigenvalues are beside those of heads
RANDOM_PAIRS = 48  # random heads that write, and as many that read: their pairs are beside those of heads
ROWS = 128  # tokens whose logits are in memory together


class WeightSums(SegmentSums[LayerAttention]):
    """The averages over a sample of the vocabulary, and what no token is needed for.

    Attributes:
        whole: Arrays of `Weights` by name; empty until the first chunk is computed.
    """

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self.whole: PackedValues = {}

    def merge(self, other: "WeightSums") -> None:
        super().merge(other)
        self.whole = self.whole or other.whole

    def state(self) -> PackedValues:
        return super().state() | {"whole": pack(self.whole)}

    def restore(self, state: PackedValues) -> None:
        super().restore(state)
        self.whole = unpack(state["whole"])


@torch.inference_mode()
def measure(
    model: AttentionModel, seed: int, examples: Sequence[Encoded], sums: WeightSums, progress: Progress
) -> None:
    """Fill the sums of a chunk: of each sampled token whether each head copies and suppresses it, NaN where the model
    predicts no next words; then eigenvalues and compositions.

    Args:
        examples: One token each.
        progress: Counts the tokens, a share of them after each layer; raises Cancelled.
    """
    weights = head_weights(model)
    words = vocabulary(model)
    batch = collate(examples, model.tokens, model.device)
    ids = batch.ids[:, 0]
    start = after_first_layer(model, ids, words.embedding) if words else None
    for number, layer in enumerate(weights):
        if words is None or start is None:
            values = torch.full((1, len(ids), model.heads, len(QUANTITIES)), torch.nan, device=model.device)
        else:
            values = torch.stack(list(written(layer, words, start, ids)), 1)[None]
        sums.add(batch, number, values)
        progress.advance(len(ids) * (number + 1) // len(weights) - len(ids) * number // len(weights))
    draw = torch.Generator().manual_seed(seed % 2**63)
    sums.whole = {**eigenvalue_shares(weights, words, draw), **compositions(weights, draw)}


def written(layer: LayerWeights, words: Vocabulary, start: Tensor, ids: Tensor) -> Iterator[Tensor]:
    """Of each head (token, 2): whether a token is among the TOP_WORDS that the head writes most where it attends to it,
    and among those that it writes least, as 1 or 0.

    Args:
        start: (token, width) the residual stream after the first layer.
        ids: (token,) the tokens.
    """
    inputs = layer.norm(start.to(layer.norm.weight.dtype)).to(start.device).float()
    for value, bias, output in zip(layer.value, layer.value_bias, layer.output, strict=True):
        values = inputs @ value + bias
        written_vectors = values @ output
        if words.is_centered:
            written_vectors = written_vectors - written_vectors.mean(-1, keepdim=True)
        scale = (written_vectors.square().mean(-1, keepdim=True) + words.epsilon).rsqrt()
        to_words = output @ words.readers.T  # (width of a head, word): of less rank than vectors, so it is cheaper
        parts = zip((scale * values).split(ROWS), ids.split(ROWS), strict=True)
        yield torch.cat([_is_among_the_top(rows, to_words, words.constant, each) for rows, each in parts])


def _is_among_the_top(vectors: Tensor, to_words: Tensor, constant: Tensor, ids: Tensor) -> Tensor:
    """(token, 2) whether a token's own logit is among the highest, and among those of the negated head: it is, if the
    first that is not is below it. Logits are `vectors` (token, width of a head) times `to_words` (width of a head,
    word), and of either sign the `constant` (word,)."""
    own = ids[:, None]
    logits = torch.addmm(constant, vectors, to_words)
    is_copied = logits.topk(TOP_WORDS + 1).values[:, -1:] < logits.gather(1, own)
    logits.sub_(2 * constant)  # the negated head's, with the other sign
    is_suppressed = logits.topk(TOP_WORDS + 1, largest=False).values[:, -1:] > logits.gather(1, own)
    return torch.cat([is_copied, is_suppressed], 1).float()


def eigenvalue_shares(
    weights: Sequence[LayerWeights], words: Vocabulary | None, draw: torch.Generator
) -> dict[str, np.ndarray]:
    """(layer, head) the sum of eigenvalues over the sum of their absolute values, of W_E W_V W_O W_U, and (2,) mean and
    standard deviation of the same of random W_V and W_O; of W_V W_O where there is no unembedding."""
    width = weights[0].output.shape[-1]
    device = weights[0].output.device
    if words is None:
        inner = torch.eye(width, device=device)
    else:
        readers = words.readers - words.readers.mean(0)  # A logit of all words alike changes no prediction.
        inner = readers.T @ words.embedding  # (width that is written, width that is read)
    shares = [_share_of_positive(each.writers @ inner @ each.readers(each.value)) for each in weights]
    shape = (RANDOM_HEADS, weights[0].output.shape[1], width)
    output, value = (torch.randn(shape, generator=draw).to(device) for _ in range(2))
    random = _share_of_positive(output @ inner @ value.mT)
    return {"eigenvalues": np.stack(shares), "eigenvalues_random": np.array([random.mean(), random.std()])}


def _share_of_positive(matrices: Tensor) -> np.ndarray:
    """(head,) the sum of eigenvalues over the sum of their absolute values, of (head, width, width) matrices."""
    values = torch.linalg.eigvals(matrices.cpu().double())
    return (values.sum(-1).real / values.abs().sum(-1)).numpy()


def compositions(weights: Sequence[LayerWeights], draw: torch.Generator) -> dict[str, Any]:
    """The composition of each head with each of an earlier layer, on every path, and mean and standard deviation of
    those of random pairs.

    Returns:
        `paths`, their names; `composition` (path, layer, head, earlier layer, earlier head), NaN where the second layer
        is not earlier; `composition_random` (2,).
    """
    layers, heads = len(weights), len(weights[0].output)
    writers = [_unit(_factor(each.readers(each.value)) @ each.writers) for each in weights]
    paths = list(_paths(weights[0]))
    found = torch.full((len(paths), layers, heads, layers, heads), torch.nan)
    for later, layer in enumerate(weights[1:], 1):
        for number, reader in enumerate(_paths(layer).values()):
            for earlier in range(later):
                found[number, later, :, earlier] = _norms(writers[earlier], reader).T.cpu()
    return {
        "paths": paths,
        "composition": found.numpy(),
        "composition_random": _random_compositions(weights[0].output, draw),
    }


def _paths(layer: LayerWeights) -> dict[str, Tensor]:
    """What a layer's heads read on each path, (head, width of the model, width of a head) of norm 1: R W_Q^T W_K and
    the like, in factors whose products with a writer have the same norm."""
    query, key, value = (layer.readers(part) for part in (layer.query, layer.key, layer.value))
    rotations = layer.rotations
    found = {path_name("query", at, rotations): query @ turn @ _factor(key).mT for at, turn in rotations.items()}
    found |= {path_name("key", at, rotations): key @ turn.T @ _factor(query).mT for at, turn in rotations.items()}
    found["value"] = value @ _factor(layer.writers.mT).mT
    return {name: _unit(reader) for name, reader in found.items()}


def _factor(matrices: Tensor) -> Tensor:
    """R of each matrix, so that |matrix X| = |R X|."""
    return torch.linalg.qr(matrices, mode="r").R


def _unit(matrices: Tensor) -> Tensor:
    """Matrices of Frobenius norm 1."""
    return matrices / torch.linalg.matrix_norm(matrices, keepdim=True)


def _norms(writers: Tensor, readers: Tensor) -> Tensor:
    """(writer, reader) Frobenius norms of all products."""
    products = writers.flatten(0, 1) @ readers.movedim(1, 0).flatten(1)
    blocks = products.unflatten(1, (len(readers), -1)).unflatten(0, (len(writers), -1))
    return blocks.square().sum((1, 3)).sqrt()


def _random_compositions(like: Tensor, draw: torch.Generator) -> np.ndarray:
    """(2,) mean and standard deviation over pairs of heads with normally distributed matrices of these shapes."""
    shape = (RANDOM_PAIRS, like.shape[2], like.shape[1])
    value, output, query, key = (torch.randn(shape, generator=draw).to(like.device) for _ in range(4))
    norms = _norms(_unit(_factor(value) @ output.mT), _unit(query @ _factor(key).mT)).cpu().double()
    return np.array([float(norms.mean()), float(norms.std())])
