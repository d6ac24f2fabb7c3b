"""Controls: a network that learned nothing, and a task that no syntax solves."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence

import numpy as np

from bertviz_core.models.attention import register
from bertviz_core.models.loading import prepare
from bertviz_core.models.model import AttentionModel, observing

NUMBERED = re.compile(r"(^|\.)\d+\.")  # a parameter of a layer among layers


def redrawn(model: AttentionModel, seed: int) -> AttentionModel:
    """The model with its layers' weights re-initialized at random by its own initializer; parameters
    outside the layers, above all the embeddings, stay trained."""
    import torch

    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        encoder = type(model.encoder)(model.encoder.config)
    selected = {name: value for name, value in model.encoder.state_dict().items() if not NUMBERED.search(name)}
    encoder.load_state_dict(selected, strict=False)
    encoder = encoder.to(next(model.encoder.parameters()).dtype)
    encoder.set_attn_implementation(register() if model.observable else "eager")
    drawn = prepare(encoder, model.tokens, model.checkpoint, model.device, observable=model.observable)
    return observing(drawn, "attention" if model.factors is None else "norms")


def control_governors(sentences: Sequence[Sequence[str]], seed: int) -> list[np.ndarray]:
    """Trees that only memory solves (Hewitt and Liang 2019): each word type is always governed by ROOT, by the first
    word or by the last, drawn once for the type; a word that would govern itself is governed by ROOT."""
    trees = []
    for words in sentences:
        own = np.arange(1, len(words) + 1)
        drawn = np.array([_draw(word, seed) for word in words])
        governors = np.choose(drawn, [np.zeros_like(own), np.ones_like(own), np.full_like(own, len(words))])
        trees.append(np.where(governors == own, 0, governors))
    return trees


def _draw(word: str, seed: int) -> int:
    return hashlib.sha256(f"{seed}\n{word}".encode()).digest()[0] % 3
