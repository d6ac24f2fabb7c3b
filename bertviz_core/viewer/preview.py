"""The attention of every head on one short text, small enough to be sent with a map of heads."""

import base64
import hashlib
import json
from collections.abc import Sequence
from math import isqrt

import numpy as np

from bertviz_core.analyses.dependency_heads.figure import examples
from bertviz_core.analyses.dependency_heads.relations import RelationCounts
from bertviz_core.analyses.dependency_heads.sentences import SentenceExample
from bertviz_core.engine.packing import pack, unpack
from bertviz_core.heads import DirectedHead
from bertviz_core.models.model import AttentionModel, with_weights
from bertviz_core.models.single_input import attention, from_text
from bertviz_core.settings import Settings
from bertviz_core.viewer import InputAttention, cut_end, to_uint8

FORMAT = 1
MAX_TOKENS = 24  # of inputs and sentences
FIRST = 20  # sentences, which nearly always have a short one
MAX_WEIGHTS = 500_000  # of all heads, a byte each: 9 tokens for 80 x 64 heads, 22 for 32 x 32
SENTENCE = "Anna lost her keys, so she asked her brother."


def measure(model: AttentionModel, settings: Settings) -> bytes:
    """Run the model on SENTENCE, packed for the store; raises InputError if its tokenizer finds nothing in it."""
    single = from_text(SENTENCE, "", model.tokens, settings)
    maps = attention(with_weights(model, settings.weights), single.example)
    return pack({"tokens": list(single.layout.tokens.labels), "maps": to_uint8(maps)}, analysis="preview")


def of_stored(data: bytes) -> bytes:
    """The preview of what `measure` packed; raises ValueError or KeyError for other bytes."""
    values = unpack(data)
    return encoded(values["tokens"], values["maps"], f"Lines on “{SENTENCE}”")


def of_input(attention: InputAttention) -> bytes:
    """The preview of an input's first tokens; empty where queries and keys are not the same."""
    labels = attention.queries.labels
    if labels != attention.keys.labels:
        return b""
    first = slice(MAX_TOKENS)
    about = "this input" if len(labels) <= MAX_TOKENS else f"the first {MAX_TOKENS} of {len(labels)}"
    return encoded(labels[first], to_uint8(attention.weights[:, :, first, first]), f"Lines on {about}")


def of_guesses(result: RelationCounts, choice: DirectedHead, relation: str) -> bytes:
    """All heads' guesses in the short sentence where the chosen head is surest of a relation; empty without one."""
    longest = min(MAX_TOKENS, _most_tokens(*result.accuracy.shape[2:]))
    surest = _surest(result, choice, relation, longest, FIRST) or _surest(result, choice, relation, longest, None)
    if surest is None:
        return b""
    number = surest.sentence["number"]
    words = surest.sentence["words"]
    stored = result.stored
    start = sum(len(each["words"]) for each in stored.sentences if each["number"] < number)
    sentence = choice.direction, ..., slice(start, start + len(words))
    guesses = stored.guesses[sentence]
    maps = np.zeros((*guesses.shape, len(words)), np.uint8)
    weights = stored.weights[sentence]
    np.put_along_axis(maps, guesses[..., None].astype(np.int64), weights[..., None], axis=-1)
    maps = maps.swapaxes(2, 3) if choice.direction else maps  # from the guess to the word
    return encoded(words, maps, f"Guesses in {surest.where}")


def _surest(
    result: RelationCounts, choice: DirectedHead, relation: str, longest: int, count: int | None
) -> SentenceExample | None:
    """The first sentence with at most `longest` words of the `count` where the head is surest, None for all."""
    by_weight = examples(result, choice, relation, "most confident first", count)
    return next((each for each in by_weight if len(each.sentence["words"]) <= longest), None)


def encoded(tokens: Sequence[str], maps: np.ndarray, about: str) -> bytes:
    """A preview as JSON for the browser; maps are (layer, head, query, key) uint8, 255 for weight 1."""
    first = slice(_most_tokens(*maps.shape[:2]))  # because it is sent again whenever a head is chosen
    packed = base64.b64encode(maps[:, :, first, first].tobytes()).decode()
    return json.dumps({"preview": {"tokens": [*map(cut_end, tokens[first])], "maps": packed, "about": about}}).encode()


def _most_tokens(layers: int, heads: int) -> int:
    return isqrt(MAX_WEIGHTS // layers // heads)


def preview_key(fingerprint: str, weights: str, dtype: str) -> str:
    basis = ["preview", FORMAT, SENTENCE, fingerprint, weights, dtype]
    return hashlib.sha256(json.dumps(basis).encode()).hexdigest()
