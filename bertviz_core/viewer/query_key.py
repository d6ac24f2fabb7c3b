"""The query and keys of one token in one head, and how their products become weights (docs/methods.md, section 10)."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd

from bertviz_core.analyses.base.result import csv_bytes
from bertviz_core.errors import ModelError
from bertviz_core.heads import Head
from bertviz_core.inputs.encoding import collate
from bertviz_core.inputs.labels import Units
from bertviz_core.inputs.tensors import Tensor
from bertviz_core.models.attention import AttentionInternals, LayerAttention, forward
from bertviz_core.models.model import AttentionModel
from bertviz_core.models.single_input import OneInput

MASKED = -1e30  # A lower logit means that a mask hides the key.


@dataclass(frozen=True)
class QueryKey:
    """How the weights of one query token come about in one head (docs/methods.md, section 10).

    Attributes:
        position: The index of the query token in `tokens`.
        query: (width,) its query as it is multiplied: with rotary positions, and normalized.
        keys: (key, width) keys, likewise.
        scale: What their product is multiplied by, 1/√width in most models.
        logits: (key,) the scores whose softmax the weights are.
        sink: The score of a learned sink, which takes part in the softmax; None without.
        weights: (key,) attention.
    """

    tokens: Units
    position: int
    query: np.ndarray
    keys: np.ndarray
    scale: float
    logits: np.ndarray
    sink: float | None
    weights: np.ndarray

    @property
    def products(self) -> np.ndarray:
        """(key, width) products by dimension."""
        return self.keys * self.query

    @property
    def scores(self) -> np.ndarray:
        """(key,) scaled sums of products."""
        return np.asarray(self.scale * self.products.sum(-1))

    @property
    def bias(self) -> np.ndarray:
        """(key,) the rest of the logit: masks, biases of distances, and what a cap takes away."""
        return self.logits - self.scores

    @property
    def has_bias(self) -> bool:
        """Whether logits are more than scaled sums of products."""
        return bool(abs(self.bias).max() > 1e-4)

    def keep(self, chosen: np.ndarray) -> "QueryKey":
        """The keys marked in `chosen`, (key,) bool, and that of the query's own token."""
        chosen = chosen.copy()
        chosen[self.position] = True
        return replace(
            self,
            tokens=self.tokens.keep(chosen),
            position=int(chosen[: self.position].sum()),
            keys=self.keys[chosen],
            logits=self.logits[chosen],
            weights=self.weights[chosen],
        )

    def to_csv(self, origin: dict[str, Any]) -> bytes:
        """A row for each key: the numbers of its weight, then query, key and product by dimension, and the origin."""
        tokens = self.tokens
        columns = {
            "to_position": tokens.start + 1,
            "to": tokens.labels,
            "score": self.scores,
            "bias": self.bias,
            "logit": self.logits,
            "weight": self.weights,
        }
        query = np.broadcast_to(self.query, self.keys.shape)
        for name, values in (("query", query), ("key", self.keys), ("product", self.products)):
            columns |= {f"{name}_{dimension}": column for dimension, column in enumerate(values.T, start=1)}
        source = {"from_position": self.position + 1, "from": tokens.labels[self.position]}
        return csv_bytes(pd.DataFrame(columns).assign(**source, **origin))


def compute_query_key(model: AttentionModel, single: OneInput, head: Head, position: int) -> QueryKey:
    """Record one head's query at a position, from 0, and its keys.

    Raises:
        ModelError: The model shows no queries and keys.
    """
    if not model.observable:
        raise ModelError(
            "This model returns its attention maps, and does not show the queries and keys that they come from.",
            hint="Choose a model whose maps are read inside its layers; docs/models.md has a table.",
        )
    batch = collate([single.example], model.tokens, model.device)
    observed: list[AttentionInternals] = []

    def observe(attention: LayerAttention) -> None:
        if attention.layer == head.layer and attention.scores is not None:
            observed.append(attention.scores)

    forward(model, batch, observe)
    scores = observed[0]
    row = (0, head.head, position)
    return QueryKey(
        tokens=single.layout.tokens,
        position=position,
        query=_array(scores.query)[row],
        keys=_array(scores.key)[0, head.head],
        scale=scores.scale,
        logits=_array(scores.logits)[row],
        sink=None if scores.sink is None else float(scores.sink.reshape(-1)[head.head]),
        weights=_array(scores.weights)[row],
    )


def _array(values: Tensor) -> np.ndarray:
    return values.cpu().double().numpy()
