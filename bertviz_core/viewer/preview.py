"""The attention of every head on one short text, small enough to be sent with a map of heads."""

import hashlib
import json

from bertviz_core.engine.packing import pack, unpack
from bertviz_core.models.model import AttentionModel, with_weights
from bertviz_core.models.single_input import attention, from_text
from bertviz_core.plotting.head_preview import MAX_TOKENS, encoded
from bertviz_core.settings import Settings
from bertviz_core.viewer import InputAttention, to_uint8

FORMAT = 1
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


def preview_key(fingerprint: str, weights: str, dtype: str) -> str:
    basis = ["preview", FORMAT, SENTENCE, fingerprint, weights, dtype]
    return hashlib.sha256(json.dumps(basis).encode()).hexdigest()
