"""The attention of every head on one short text, small enough to be sent with a map of heads."""

import hashlib
import json

import numpy as np

from bertviz_core.engine.packing import pack, unpack
from bertviz_core.models.guesses import can_guess, positions
from bertviz_core.models.model import AttentionModel, with_weights
from bertviz_core.models.single_input import attention, from_text
from bertviz_core.overview.sentence_values import sentence_values
from bertviz_core.plotting.head_preview import MAX_TOKENS, encoded, most_tokens
from bertviz_core.settings import Settings
from bertviz_core.viewer.input_attention import InputAttention, to_uint8

FORMAT = 2
VALUES = "values/"  # before the names of quantities
SENTENCE = "Anna lost her keys, so she asked her brother."


def compute_preview(model: AttentionModel, settings: Settings) -> bytes:
    """Run the model on SENTENCE, packed for the store; raises InputError if its tokenizer finds nothing in it."""
    single = from_text(SENTENCE, "", model.tokens, settings)
    maps = attention(with_weights(model, settings.weights), single.example)
    values = sentence_values(model, single.example, settings)
    arrays = {f"{VALUES}{name}": each.astype(np.float32) for name, each in values.items()}
    words = positions(model, single) if can_guess(model) else []
    labels = list(single.layout.tokens.labels)
    return pack({"tokens": labels, "maps": to_uint8(maps), "guessable": words} | arrays, analysis="preview")


def of_stored(data: bytes) -> bytes:
    """The preview of what `compute_preview` packed; raises ValueError or KeyError for other bytes."""
    values = unpack(data)
    return encoded(values["tokens"], values["maps"], f"Lines on “{SENTENCE}”")


def words_of_stored(data: bytes) -> dict[int, str]:
    """The tokens of SENTENCE that the model can guess, by position, from 0, of what `compute_preview` packed; raises
    ValueError or KeyError for other bytes."""
    values = unpack(data)
    return {position: values["tokens"][position] for position in values["guessable"]}


def values_of_stored(data: bytes) -> dict[str, np.ndarray]:
    """The (layer, head) `sentence_values` of SENTENCE, of what `compute_preview` packed; raises ValueError for other
    bytes."""
    return {name.removeprefix(VALUES): each for name, each in unpack(data).items() if name.startswith(VALUES)}


def of_input(attention: InputAttention, total: int = 0, tokens: str = "tokens") -> bytes:
    """The preview of an input's first tokens, of `total` where not all of them are in `attention`; empty where queries
    and keys are not the same. `tokens` says what they are."""
    labels = attention.queries.labels
    if labels != attention.keys.labels:
        return b""
    total = max(total, len(labels))
    count = min(MAX_TOKENS, most_tokens(*attention.weights.shape[:2]), len(labels))
    first = slice(count)
    is_part = count < total
    about = f"the first {count} of {total:,} {tokens}" if is_part else "this input"
    weights = to_uint8(attention.weights[:, :, first, first])
    return encoded(labels[first], weights, f"Lines on {about}", f"Lines on {about}" if is_part else "")


def preview_key(fingerprint: str, weights: str, dtype: str) -> str:
    """The store's key of a preview: sha256, hexadecimal."""
    basis = ["preview", FORMAT, SENTENCE, fingerprint, weights, dtype]
    return hashlib.sha256(json.dumps(basis).encode()).hexdigest()
