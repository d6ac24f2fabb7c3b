"""The attention of every head on one short text, small enough to travel with a map of heads."""

from __future__ import annotations

import base64
import hashlib
import json
from dataclasses import dataclass
from math import isqrt
from typing import Any

import numpy as np

from bertviz_core.analyses.dependency_heads.figure import examples
from bertviz_core.analyses.dependency_heads.relations import RelationCounts
from bertviz_core.engine.packing import pack, unpack
from bertviz_core.heads import DirectedHead
from bertviz_core.models.model import AttentionModel, observing
from bertviz_core.models.single_input import attention, from_text
from bertviz_core.settings import Settings
from bertviz_core.viewer import InputAttention, shorten

FORMAT = 1
MAX_TOKENS = 24  # of an input that was run already
MAX_WEIGHTS = 500_000  # of all heads, a byte each: 9 tokens for 80 x 64 heads, 22 for 32 x 32
SENTENCE = "Anna lost her keys, so she asked her brother."


@dataclass(frozen=True)
class Preview:
    """Every head's attention between the tokens of a short text."""

    tokens: list[str]
    maps: np.ndarray  # (layer, head, query, key) uint8; 255 is a weight of 1
    about: str = f"Lines on “{SENTENCE}”"  # what the lines are, and on which text

    @classmethod
    def measure(cls, model: AttentionModel, settings: Settings) -> Preview:
        """Run the model on the sentence; raises InputError for a tokenizer that finds nothing in it."""
        single = from_text(SENTENCE, "", model.tokens, settings)
        maps = attention(observing(model, settings.weights), single.example)
        return cls(list(single.layout.tokens.labels), _bytes(maps))

    @classmethod
    def of(cls, attention: InputAttention) -> Preview | None:
        """The first tokens of an input that was run already; None where queries and keys are not the same tokens."""
        labels, first = attention.queries.labels, slice(MAX_TOKENS)
        if labels != attention.keys.labels:
            return None
        about = "this input" if len(labels) <= MAX_TOKENS else f"the first {MAX_TOKENS} of {len(labels)}"
        return cls(list(labels[first]), _bytes(attention.weights[:, :, first, first]), f"Lines on {about}")

    @classmethod
    def of_guesses(cls, result: RelationCounts, choice: DirectedHead, relation: str) -> Preview | None:
        """Each head's guesses in the sentence with a relation of which one head is surest, stored with the result, with
        their weights, all others 0; None where every such sentence is too long."""
        longest = min(MAX_TOKENS, _most_tokens(*result.accuracy.shape[2:]))
        short = [each for each in examples(result, choice, relation) if len(each.sentence["words"]) <= longest]
        if not short:
            return None
        surest = max(short, key=lambda each: each.weight)
        stored, number, size = result.stored, surest.sentence["number"], len(surest.sentence["words"])
        start = sum(len(each["words"]) for each in stored.sentences if each["number"] < number)
        own = slice(start, start + size)
        guesses, weights = (values[choice.direction, ..., own] for values in (stored.guesses, stored.weights))
        maps = np.zeros((*guesses.shape, size), np.uint8)
        np.put_along_axis(maps, guesses[..., None].astype(np.int64), weights[..., None], axis=-1)
        maps = maps.swapaxes(2, 3) if choice.direction else maps  # from the guess to the word
        return cls(list(surest.sentence["words"]), maps, f"Guesses in {surest.where}")

    @classmethod
    def from_bytes(cls, data: bytes) -> Preview:
        """Unpack what `to_bytes` packed; raises ValueError or KeyError for other bytes."""
        values = unpack(data)
        return cls(values["tokens"], values["maps"])

    def to_bytes(self) -> bytes:
        """Pack it for the store."""
        return pack({"tokens": self.tokens, "maps": self.maps}, analysis="preview")

    def to_json(self) -> dict[str, Any]:
        """What the browser draws; the maps as base64, layer by layer and head by head. Of many heads it gets the first
        tokens alone, since all this travels again when a head is chosen."""
        first = slice(_most_tokens(*self.maps.shape[:2]))
        maps = base64.b64encode(self.maps[:, :, first, first].tobytes()).decode()
        return {"tokens": list(map(shorten, self.tokens[first])), "maps": maps, "about": self.about}


def _bytes(maps: np.ndarray) -> np.ndarray:
    return np.asarray(np.rint(maps.clip(0, 1) * 255), dtype=np.uint8)


def _most_tokens(layers: int, heads: int) -> int:
    return isqrt(MAX_WEIGHTS // (layers * heads))


def preview_key(fingerprint: str, weights: str, dtype: str) -> str:
    """The store's key of a model's preview."""
    basis = ["preview", FORMAT, SENTENCE, fingerprint, weights, dtype]
    return hashlib.sha256(json.dumps(basis).encode()).hexdigest()
