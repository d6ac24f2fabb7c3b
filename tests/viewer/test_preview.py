"""The preview: each head's attention on the short sentence, as the model gives it."""

import base64

import numpy as np
import pytest

from bertviz_core.models.single_input import attention, from_text
from bertviz_core.settings import Settings
from bertviz_core.viewer.preview import SENTENCE, Preview, preview_key


def test_a_preview_is_the_models_attention_and_survives_the_store(tiny) -> None:
    preview = Preview.measure(tiny, Settings())
    maps = attention(tiny, from_text(SENTENCE, "", tiny.tokens, Settings()).example)
    layers, heads, size, _ = maps.shape
    again = Preview.from_bytes(preview.to_bytes())
    packed = base64.b64decode(again.to_json()["maps"])
    assert len(preview.tokens) == size and again.tokens == preview.tokens
    for layer in range(layers):
        for head in range(heads):
            for query in range(size):
                for key in range(size):
                    place = ((layer * heads + head) * size + query) * size + key
                    assert packed[place] / 255 == pytest.approx(maps[layer, head, query, key], abs=0.002)


def test_weights_and_norms_have_previews_of_their_own(tiny) -> None:
    keys = {preview_key(tiny.checkpoint.fingerprint(), weights, "float32") for weights in ("attention", "norms")}
    norms = Preview.measure(tiny, Settings(weights="norms"))
    assert len(keys) == 2 and not np.array_equal(norms.maps, Preview.measure(tiny, Settings()).maps)


def test_a_preview_of_many_heads_has_fewer_tokens() -> None:
    maps = np.random.default_rng(0).integers(0, 255, (80, 64, 12, 12), dtype=np.uint8)
    sent = Preview([f"token {i}" for i in range(12)], maps).to_json()
    size, packed = len(sent["tokens"]), base64.b64decode(sent["maps"])
    assert (
        5 < size < 12 and sent["tokens"][-1] == f"token {size - 1}" and len(packed) == 80 * 64 * size * size < 500_000
    )
    assert packed[((79 * 64 + 63) * size + 2) * size + 1] == maps[79, 63, 2, 1]
