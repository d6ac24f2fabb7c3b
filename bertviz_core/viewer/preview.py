"""The attention of every head on one short text, small enough to travel with a map of heads."""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from math import isqrt
from typing import Any

import numpy as np

from bertviz_core.engine.packing import pack, unpack
from bertviz_core.models.model import AttentionModel, observing
from bertviz_core.models.single_input import attention, from_text
from bertviz_core.settings import Settings
from bertviz_core.viewer.view import InputAttention, shorten

FORMAT = 1
MAX_TOKENS = 24  # of an input that was run already
MAX_BYTES = 500_000  # of all maps: 9 tokens for 80 x 64 heads, 22 for 32 x 32
SENTENCE = "Anna lost her keys, so she asked her brother."


@dataclass(frozen=True)
class Preview:
    """Every head's attention between the tokens of SENTENCE.

    Attributes:
        tokens: Their labels.
        maps: (layer, head, query, key) uint8; 255 is a weight of 1.
    """

    tokens: list[str]
    maps: np.ndarray

    @classmethod
    def measure(cls, model: AttentionModel, settings: Settings) -> Preview:
        """Run the model on the sentence; raises InputError for a tokenizer that finds nothing in it."""
        single = from_text(SENTENCE, "", model.tokens, settings)
        return cls._of(single.layout.tokens.labels, attention(observing(model, settings.weights), single.example))

    @classmethod
    def of(cls, attention: InputAttention) -> Preview | None:
        """The first tokens of an input that was run already; None where queries and keys are not the same tokens."""
        if attention.queries.labels != attention.keys.labels:
            return None
        first = slice(MAX_TOKENS)
        return cls._of(attention.queries.labels[first], attention.weights[:, :, first, first])

    @classmethod
    def _of(cls, labels: Sequence[str], maps: np.ndarray) -> Preview:
        return cls([shorten(label) for label in labels], np.rint(maps.clip(0, 1) * 255).astype(np.uint8))

    @classmethod
    def from_bytes(cls, data: bytes) -> Preview:
        """Unpack what `to_bytes` packed; raises ValueError or KeyError for other bytes."""
        values = unpack(data)
        return cls(values["tokens"], values["maps"])

    def to_bytes(self) -> bytes:
        """Pack it for the store."""
        return pack({"tokens": self.tokens, "maps": self.maps}, analysis="preview")

    def to_json(self) -> dict[str, Any]:
        """What the browser draws: the tokens, and base64 of the maps, layer by layer and head by head; of many heads
        the first tokens alone, since all this travels again when a head is chosen."""
        layers, heads = self.maps.shape[:2]
        first = slice(isqrt(MAX_BYTES // (layers * heads)))
        maps = self.maps[:, :, first, first]
        return {"tokens": self.tokens[first], "maps": base64.b64encode(maps.tobytes()).decode()}


def preview_key(fingerprint: str, weights: str, dtype: str) -> str:
    """The store's key of a model's preview."""
    basis = ["preview", FORMAT, SENTENCE, fingerprint, weights, dtype]
    return hashlib.sha256(json.dumps(basis).encode()).hexdigest()
