"""The product of query and key that makes a token's weights in one head, by dimension, and in some models' first layer
by words and positions (methods, section 10)."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd

from bertviz_core.analyses.results import to_csv
from bertviz_core.errors import ModelError
from bertviz_core.heads import Head
from bertviz_core.models.attention import LayerAttention, Scores, forward
from bertviz_core.models.encoding import Batch, collate
from bertviz_core.models.labels import Units
from bertviz_core.models.model import AttentionModel
from bertviz_core.models.single_input import OneInput
from bertviz_core.models.tensors import Tensor

BERT = "encoder.layer.0.attention.self.query", "encoder.layer.0.attention.self.key"
PROJECTIONS = {  # family -> names, in the encoder, of the first layer's query and key projections
    "albert": tuple(f"encoder.albert_layer_groups.0.albert_layers.0.attention.{name}" for name in ("query", "key")),
    "distilbert": ("transformer.layer.0.attention.q_lin", "transformer.layer.0.attention.k_lin"),
    **dict.fromkeys(("bert", "camembert", "electra", "roberta", "xlm-roberta"), BERT),
}
WIDENED = {"albert": "encoder.embedding_hidden_mapping_in", "electra": "embeddings_project"}  # small embeddings
PARTS = ("word", "position", "rest")  # of a vector; the rest: type of token, and biases
TERMS = tuple(f"{query} × {key}" for query in PARTS for key in PARTS)
MASKED = -1e30  # a logit below it is that of a key that is not seen
TOLERANCE = 1e-3  # to which the parts must add up


@dataclass(frozen=True)
class QueryKey:
    """How the weights of one query token, at a `position` from 0, come about in one head."""

    tokens: Units
    position: int
    query: np.ndarray  # (width,), as it is multiplied: with rotary positions, and normalized
    keys: np.ndarray  # (key, width), likewise
    scale: float  # what their product is multiplied by, 1/√width in most models
    logits: np.ndarray  # (key,) the scores whose softmax the weights are
    sink: float | None  # score of a learned sink, which takes part in the softmax; None without
    weights: np.ndarray  # (key,)
    # (key, term) the scaled products of TERMS, which add up to `scores`; None where positions cannot be told from words
    terms: np.ndarray | None = None

    @property
    def products(self) -> np.ndarray:
        """(key, width) query times key, by dimension."""
        return self.keys * self.query

    @property
    def scores(self) -> np.ndarray:
        """(key,) the sum of the products, scaled."""
        return np.asarray(self.scale * self.products.sum(-1))

    @property
    def bias(self) -> np.ndarray:
        """(key,) what else is in the logit: masks, biases of distances, and what a cap takes away."""
        return np.asarray(self.logits - self.scores)

    @property
    def has_bias(self) -> bool:
        """Whether anything but the products is in a logit."""
        return bool(np.abs(self.bias).max() > 1e-4)

    def to_csv(self, origin: dict[str, Any]) -> bytes:
        """A row for each key: its score, bias, logit, weight and terms, then the products, by dimension from 1; the
        query token and the origin in every row."""
        tokens = self.tokens
        columns = {"to_position": tokens.start + 1, "to": tokens.labels, "score": self.scores, "bias": self.bias}
        columns |= {"logit": self.logits, "weight": self.weights}
        if self.terms is not None:
            columns |= dict(zip((term.replace(" × ", "_") for term in TERMS), self.terms.T, strict=True))
        for name, values in (("query", self.query + 0 * self.keys), ("key", self.keys), ("product", self.products)):
            columns |= {f"{name}_{dimension}": column for dimension, column in enumerate(values.T, start=1)}
        asked = {"from_position": self.position + 1, "from": tokens.labels[self.position]}
        return to_csv(pd.DataFrame(columns).assign(**asked, **origin))


def measure(model: AttentionModel, single: OneInput, head: Head, position: int) -> QueryKey:
    """Run a model on one input, and keep what makes a head's weights of the token at a position, from 0. Raises
    ModelError where the model shows nothing of what is inside its layers."""
    if not model.observable:
        raise ModelError(
            "This model returns its attention maps, and does not show the queries and keys that they come from.",
            hint="Choose a model whose maps are read inside its layers; docs/models.md has a table.",
        )
    batch = collate([single.example], model.tokens, model.device)
    observed: list[Scores] = []

    def observe(attention: LayerAttention) -> None:
        if attention.layer == head.layer and attention.scores is not None:
            observed.append(attention.scores)

    forward(model, batch, observe)
    scores = observed[0]
    products = QueryKey(
        tokens=single.layout.tokens,
        position=position,
        query=_array(scores.query)[0, head.head, position],
        keys=_array(scores.key)[0, head.head],
        scale=scores.scale,
        logits=_array(scores.logits)[0, head.head, position],
        sink=None if scores.sink is None else float(scores.sink.reshape(-1)[head.head]),
        weights=_array(scores.weights)[0, head.head, position],
    )
    terms = _terms(model, batch, head.head, position, scores.scale) if head.layer == 0 else None
    exact = terms is not None and np.allclose(terms.sum(-1), products.scores, atol=TOLERANCE)
    return replace(products, terms=terms) if exact else products


def _array(values: Tensor) -> np.ndarray:
    return np.asarray(values.double().cpu().numpy())


def _terms(model: AttentionModel, batch: Batch, head: int, position: int, scale: float) -> np.ndarray | None:
    """(key, term) in the first layer, or None for families whose positions are not learned and added to words.

    The layer reads a normalized sum of embeddings, (x - mean) / deviation * weight + bias. Mean and product are linear,
    so that with the deviation of the whole sum each embedding has its own share of query and key.
    """
    family = model.encoder.config.model_type
    if family not in PROJECTIONS:
        return None
    embeddings, norm = model.encoder.embeddings, model.encoder.embeddings.LayerNorm
    table = embeddings.position_embeddings
    positions = batch.mask.long().cumsum(1) - 1  # RoBERTa counts from after its padding
    positions = positions if table.padding_idx is None else positions + table.padding_idx + 1
    word = embeddings.word_embeddings(batch.ids)
    position_vectors = table(positions)
    types = batch.types if model.has_types else 0 * batch.types
    kind = embeddings.token_type_embeddings(types) if hasattr(embeddings, "token_type_embeddings") else 0 * word
    deviation = ((word + position_vectors + kind).var(-1, correction=0, keepdim=True) + norm.eps).sqrt()
    shares = [(x - x.mean(-1, keepdim=True)) / deviation * norm.weight for x in (word, position_vectors, kind)]
    shares[2] = shares[2] + norm.bias
    modules = dict(model.encoder.named_modules())
    widen = modules.get(WIDENED.get(family, "-"), lambda x: x)

    def parts(project: Any) -> np.ndarray:  # (part, token, width); the rest has the biases
        words, positions, rest, biases = (
            _array(project(widen(x)).unflatten(-1, (model.heads, -1))[0, :, head]) for x in (*shares, 0 * word)
        )
        return np.stack([words - biases, positions - biases, rest])

    queries, keys = (parts(modules[name]) for name in PROJECTIONS[family])
    return np.asarray(scale * np.einsum("pd,rkd->kpr", queries[:, position], keys).reshape(len(batch.ids[0]), -1))
