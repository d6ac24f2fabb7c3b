import base64
import json

import numpy as np
import pytest

from bertviz_core.analyses.dependency_heads.guess_preview import of_guesses
from bertviz_core.corpora.treebank import function_heads, sentence_of
from bertviz_core.heads import DirectedHead, Head
from bertviz_core.models.single_input import attention, from_text
from bertviz_core.plotting.head_preview import MAX_TOKENS, encoded
from bertviz_core.settings import Settings
from bertviz_core.viewer.preview import SENTENCE, compute_preview, of_stored, preview_key
from tests.support import shipped


def read(sent: bytes, layers: int, heads: int) -> tuple[list[str], np.ndarray, str]:
    """Tokens, (layer, head, query, key) maps, and what they are about."""
    preview = json.loads(sent)["preview"]
    size = len(preview["tokens"])
    maps = np.frombuffer(base64.b64decode(preview["maps"]), np.uint8).reshape(layers, heads, size, size)
    return preview["tokens"], maps, preview["about"]


def test_a_preview_is_the_models_attention_and_norms_have_one_of_their_own(tiny) -> None:
    maps = attention(tiny, from_text(SENTENCE, "", tiny.tokens, Settings()).example)
    tokens, sent, _ = read(of_stored(compute_preview(tiny, Settings())), *maps.shape[:2])
    assert len(tokens) == maps.shape[2]
    assert sent / 255 == pytest.approx(maps, abs=0.002)
    keys = {preview_key(tiny.checkpoint.fingerprint(), weights, "float32") for weights in ("attention", "norms")}
    _, norms, _ = read(of_stored(compute_preview(tiny, Settings(weights="norms"))), *maps.shape[:2])
    assert len(keys) == 2 and not np.array_equal(norms, sent)


@pytest.mark.parametrize("direction", [0, 1])
def test_guesses_are_drawn_in_the_short_sentence_of_which_the_head_is_surest(direction: int) -> None:
    result, head = shipped.result("dependency_heads").default_view(), Head(2, 0)
    stored = result.stored
    sent = of_guesses(result, DirectedHead(direction, head), "dobj")
    tokens, maps, about = read(sent, *stored.guesses.shape[1:3])
    surest, start = (-1, "", 0, 0), 0
    for sentence in map(function_heads, map(sentence_of, stored.sentences)):
        size = len(sentence)
        for word, relation in enumerate(sentence.relations):
            weight = int(stored.weights[direction, head.layer, head.head, start + word])
            if relation == "dobj" and size <= MAX_TOKENS and weight > surest[0]:
                surest = (weight, f"sentence {sentence.number + 1}, line {sentence.line}", start, size)
        start += size
    _, where, start, size = surest
    assert about == f"Guesses in {where}" and len(tokens) == size
    drawn = 0
    for layer, number, word in np.ndindex(*stored.guesses.shape[1:3], size):
        guess = int(stored.guesses[direction, layer, number, start + word])
        line = (guess, word) if direction else (word, guess)
        weight = int(stored.weights[direction, layer, number, start + word])
        assert maps[layer, number, *line] == weight
        drawn += weight
    assert maps.sum(dtype=int) == drawn  # and no other line


def test_a_preview_of_many_heads_has_fewer_tokens() -> None:
    maps = np.random.default_rng(0).integers(0, 255, (80, 64, 12, 12), dtype=np.uint8)
    tokens, sent, _ = read(encoded([f"token {i}" for i in range(12)], maps, ""), 80, 64)
    size = len(tokens)
    assert 5 < size < 12 and tokens[-1] == f"token {size - 1}" and sent.size < 500_000
    assert np.array_equal(sent, maps[:, :, :size, :size])
