"""What follows from the weights of heads: copying of single tokens, eigenvalues, and composition of pairs
(docs/methods.md, section 21).

A head's W_V W_O and W_Q W_K^T have the model's width on both sides and the head's width as rank. None is ever written
out: with W = Q R, the factors of a QR decomposition, |W X| = |R X|, and eigenvalues of A B are those of B A.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor

from bertviz_core.analyses.base.accumulators import SegmentSums
from bertviz_core.analyses.weights.result import LOOKED_AT, QUANTITIES, TOP_WORDS, WRITTEN, path_name
from bertviz_core.engine.packing import PackedValues, pack, unpack
from bertviz_core.engine.progress import Progress
from bertviz_core.inputs.encoding import Encoded, collate
from bertviz_core.inputs.labels import token_labels
from bertviz_core.inputs.segments import drawn_tokens
from bertviz_core.inputs.tokens import Tokens
from bertviz_core.models.attention import LayerAttention
from bertviz_core.models.head_weights import (
    LayerWeights,
    Vocabulary,
    after_first_layer,
    head_weights,
    vocabulary,
)
from bertviz_core.models.model import AttentionModel
from bertviz_core.settings import Settings

RANDOM_HEADS = 256  # of the same shapes, whose eigenvalues are beside those of heads
LOOKING = 500  # sampled tokens whose queries look at the others
RANDOM_PAIRS = 48  # random heads that write, and as many that read: their pairs are beside those of heads
BLOCK = 2048  # words that tokens are compared with together


class HeadWords(NamedTuple):
    """What heads write for the tokens that they look at most, the first of which most.

    Attributes:
        scores: (layer, head, rank) how much they look at a token.
        looked_at: (layer, head, rank) ids of the tokens.
        written: (layer, head, rank, rank of the word) ids of what they write there; -1 where they write nothing.
    """

    scores: np.ndarray
    looked_at: np.ndarray
    written: np.ndarray

    def merged(self, other: "HeadWords") -> "HeadWords":
        """The first LOOKED_AT of both; of equal scores those of this one, which has the earlier tokens."""
        both = [np.concatenate(pair, 2) for pair in zip(self, other, strict=True)]
        order = np.argsort(-both[0], axis=2, kind="stable")[..., :LOOKED_AT]
        scores, looked_at = (np.take_along_axis(each, order, 2) for each in both[:2])
        return HeadWords(scores, looked_at, np.take_along_axis(both[2], order[..., None], 2))

    def fields(self, tokens: Tokens) -> dict[str, Any]:
        """The fields of `HeadWeights` with the labels of the tokens."""
        ids = np.unique(np.concatenate([self.looked_at, self.written], None))
        ids = ids[ids >= 0]
        looked_at, written = (np.searchsorted(ids, each).astype(np.int32) for each in self[1:])
        return {
            "names": list(token_labels(ids, tokens)),
            "looked_at": looked_at,
            "written": np.where(self.written < 0, np.int32(-1), written),
        }


class WeightSums(SegmentSums[LayerAttention]):
    """The averages over a sample of the vocabulary, and what no token is needed for.

    Attributes:
        whole: Arrays of `Weights` by name; empty until the first chunk is computed.
        words: What heads write; None until then.
    """

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self.whole: PackedValues = {}
        self.words: HeadWords | None = None

    def merge(self, other: "WeightSums") -> None:
        super().merge(other)
        self.whole = self.whole or other.whole
        self.words = self.words.merged(other.words) if self.words and other.words else self.words or other.words

    def word_fields(self, tokens: Tokens) -> dict[str, Any]:
        """The fields of `HeadWeights` about words; without a rank where the model predicts no next words."""
        if self.words is not None:
            return self.words.fields(tokens)
        shape = (*self.sums.shape[1:3], 0)
        return {"names": [], "looked_at": np.zeros(shape, np.int32), "written": np.zeros((*shape, 0), np.int32)}

    def state(self) -> PackedValues:
        words = {} if self.words is None else self.words._asdict()
        return super().state() | {"whole": pack(self.whole), "words": pack(words)}

    def restore(self, state: PackedValues) -> None:
        super().restore(state)
        self.whole, words = unpack(state["whole"]), unpack(state["words"])
        self.words = HeadWords(**words) if words else None


@dataclass(frozen=True)
class SampledTokens:
    """Tokens of the vocabulary as the heads read them.

    Attributes:
        ids: (token,) those of which it is measured what heads write.
        start: (token, width) the residual stream after the first layer of each.
        queries: (token, width) the same of those that look at them.
    """

    ids: Tensor
    start: Tensor
    queries: Tensor


@torch.inference_mode()
def measure(
    model: AttentionModel, settings: Settings, examples: Sequence[Encoded], sums: WeightSums, progress: Progress
) -> None:
    """Fill the sums of a chunk: of each sampled token whether each head copies and suppresses it, NaN where the model
    predicts no next words, and what it writes for those that it looks at most; then eigenvalues and compositions.

    Args:
        examples: One token each.
        progress: Counts the tokens, a share of them after each layer; raises Cancelled.
    """
    weights = head_weights(model)
    words = vocabulary(model)
    batch = collate(examples, model.tokens, model.device)
    size = len(examples)
    found: list[HeadWords] = []
    sampled = _sampled(model, settings, batch.ids[:, 0], words.embedding) if words else None
    for number, layer in enumerate(weights):
        if words is None or sampled is None:
            values = torch.full((1, size, model.heads, len(QUANTITIES)), torch.nan, device=model.device)
        else:
            values, of_layer = written(layer, words, sampled)
            found.append(of_layer)
        sums.add(batch, number, values)
        progress.advance(size * (number + 1) // len(weights) - size * number // len(weights))
    sums.words = HeadWords(*map(np.concatenate, zip(*found, strict=True))) if found else None
    draw = torch.Generator().manual_seed(settings.seed % 2**63)
    sums.whole = {**eigenvalue_shares(weights, words, draw), **compositions(weights, draw)}


def _sampled(model: AttentionModel, settings: Settings, ids: Tensor, embedding: Tensor) -> SampledTokens:
    """The tokens of a chunk; the same ones look at them in each."""
    drawn = torch.from_numpy(drawn_tokens(model.tokens, settings)[:LOOKING]).to(ids)
    start, queries = (after_first_layer(model, each, embedding) for each in (ids, drawn))
    return SampledTokens(ids, start, queries)


def written(layer: LayerWeights, words: Vocabulary, sampled: SampledTokens) -> tuple[Tensor, HeadWords]:
    """What the heads of a layer write where they look at each token.

    Returns:
        (1, token, head, 2) whether a token is among the TOP_WORDS that the head writes most, and among those that it
        writes least, as 1 or 0; and what the heads write for the tokens that they look at most, with one layer.
    """
    inputs = _normed(layer, sampled.start)
    looks = _looks(layer, inputs, _normed(layer, sampled.queries))
    among, found = [], []
    for value, bias, output, scores in zip(layer.value, layer.value_bias, layer.output, looks, strict=True):
        values = _scaled(inputs @ value + bias, output, words)
        among.append(_among_the_top(values, output, words, sampled.ids))
        best = scores.argsort(descending=True, stable=True)[:LOOKED_AT]
        found.append((scores[best], sampled.ids[best], _most_written(values[best] @ output, words)))
    of_layer = [torch.stack(each)[None].cpu().numpy() for each in zip(*found, strict=True)]
    return torch.stack(among, 1)[None], HeadWords(*of_layer)


def _normed(layer: LayerWeights, vectors: Tensor) -> Tensor:
    return layer.norm(vectors.to(layer.norm.weight.dtype)).to(vectors.device).float()


def _looks(layer: LayerWeights, inputs: Tensor, queries: Tensor) -> Tensor:
    """(head, token) the mean score of each token for the queries, and over the offsets, up to a factor; `inputs` and
    `queries` (token, width) are after the norm."""
    query = layer.queries(queries).mean(1, keepdim=True) @ torch.stack([*layer.rotations.values()]).mean(0)
    return (query @ layer.keys(inputs).mT)[:, 0]


def _scaled(values: Tensor, output: Tensor, words: Vocabulary) -> Tensor:
    """(token, width of a head) values, divided by what the last norm would divide what the head writes of them by."""
    vectors = values @ output
    if words.is_centered:
        vectors = vectors - vectors.mean(-1, keepdim=True)
    return values * (vectors.square().mean(-1, keepdim=True) + words.epsilon).rsqrt()


def _among_the_top(values: Tensor, output: Tensor, words: Vocabulary, ids: Tensor) -> Tensor:
    """(token, 2) whether fewer than TOP_WORDS other words have as high a logit as the token itself, and of the negated
    head, as 1 or 0.

    Most tokens are known to be no such word after a few thousands of the vocabulary: the others alone are compared with
    the rest of it.

    Args:
        values: (token, width of a head) as `_scaled` gives them.
        output: (width of a head, width).
        ids: (token,) the tokens.
    """
    own = (values @ output * words.readers[ids]).sum(-1)
    as_high = torch.zeros(len(ids), 2, dtype=torch.int64, device=ids.device)
    rows = torch.arange(len(ids), device=ids.device)
    for block in torch.arange(len(words.readers), device=ids.device).split(BLOCK):
        # In the cheaper order: the head's output times the words where tokens are many, the tokens' vectors first else.
        logits = torch.linalg.multi_dot([values[rows], output, words.readers[block[0] : block[-1] + 1].T])
        beside = logits - own[rows, None]
        constant = words.constant[block] - words.constant[ids[rows], None]
        is_other = ids[rows, None] != block
        is_as_high = torch.stack([~(beside + constant < 0), ~(beside - constant > 0)], -1) & is_other[..., None]
        as_high[rows] += is_as_high.sum(1)
        rows = rows[(as_high[rows] < TOP_WORDS).any(1)]
        if not len(rows):
            break
    return (as_high < TOP_WORDS).float()


def _most_written(vectors: Tensor, words: Vocabulary) -> Tensor:
    """(token, rank) ids of the WRITTEN words with the highest logits, of (token, width) vectors that a head writes; -1
    where one is of zeros."""
    logits = torch.addmm(words.constant, vectors, words.readers.T)
    is_nothing = (vectors == 0).all(1, keepdim=True)
    return logits.topk(min(WRITTEN, len(words.constant))).indices.masked_fill(is_nothing, -1)


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
    query, key, value = (layer.readers(part) for part in (*layer.scorers, layer.value))
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
