"""Predictions for the masked tokens of one input (docs/methods.md, section 10)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bertviz_core.models.encoding import collate
from bertviz_core.models.labels import token_labels
from bertviz_core.models.model import AttentionModel
from bertviz_core.models.single_input import OneInput
from bertviz_core.models.tokens import Tokens

TOP = 5  # predictions shown for a masked token


@dataclass(frozen=True, slots=True)
class Prediction:
    """The model's prediction for one masked position.

    Attributes:
        position: From 0.
        original: Label of the token that was masked.
        probability: Probability of the original token.
        rank: Rank of the original token, from 1.
        best: (label, probability) of the TOP likeliest tokens, the likeliest first.
    """

    position: int
    original: str
    probability: float
    rank: int
    best: tuple[tuple[str, float], ...]


def predict(
    model: AttentionModel, original: OneInput, masked: OneInput, off: np.ndarray | None = None
) -> tuple[Prediction, ...]:
    """What the model's masked-word head says at every position where the two differ; () for a model without one.

    Args:
        off: (layer, head) bool, heads whose outputs are replaced by zeros (docs/methods.md, section 12).
    """
    import torch

    from bertviz_core.models.ablation import SwitchedOff

    positions = np.flatnonzero(original.example.ids != masked.example.ids)
    if model.masked_lm is None or not len(positions):
        return ()
    batch = collate([masked.example], model.tokens, model.device)
    without = {} if off is None else {"combine": SwitchedOff(torch.from_numpy(off)[None].to(model.device))}
    with torch.inference_mode():
        logits = model.masked_lm(**batch.inputs(model), **without).logits[0, positions]
    shares = logits.float().softmax(-1).cpu().numpy()  # (position, vocabulary)
    return tuple(_prediction(int(p), row, original, model.tokens) for p, row in zip(positions, shares, strict=True))


def _prediction(position: int, shares: np.ndarray, original: OneInput, tokens: Tokens) -> Prediction:
    was = original.example.ids[position]
    best = np.argsort(-shares, kind="stable")[:TOP]
    labels = token_labels(best, tokens)
    return Prediction(
        position,
        original.layout.tokens.labels[position],
        float(shares[was]),
        int((shares > shares[was]).sum()) + 1,
        tuple((label, float(shares[i])) for label, i in zip(labels, best, strict=True)),
    )
