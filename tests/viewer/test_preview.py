import base64

import numpy as np
import pytest

from bertviz_core.corpora.treebank import function_heads, sentence_of
from bertviz_core.heads import DirectedHead, Head
from bertviz_core.models.single_input import attention, from_text
from bertviz_core.settings import Settings
from bertviz_core.viewer.preview import MAX_TOKENS, SENTENCE, Preview, preview_key
from tests import shipped


def test_a_preview_is_the_models_attention_and_norms_have_one_of_their_own(tiny) -> None:
    preview = Preview.measure(tiny, Settings())
    maps = attention(tiny, from_text(SENTENCE, "", tiny.tokens, Settings()).example)
    _, heads, size, _ = maps.shape
    again = Preview.from_bytes(preview.to_bytes())
    packed = base64.b64decode(again.to_json()["maps"])
    assert len(preview.tokens) == size and again.tokens == preview.tokens
    keys = {preview_key(tiny.checkpoint.fingerprint(), weights, "float32") for weights in ("attention", "norms")}
    norms = Preview.measure(tiny, Settings(weights="norms"))
    assert len(keys) == 2 and not np.array_equal(norms.maps, preview.maps)
    for layer, head, query, key in np.ndindex(maps.shape):
        place = ((layer * heads + head) * size + query) * size + key
        assert packed[place] / 255 == pytest.approx(maps[layer, head, query, key], abs=0.002)


@pytest.mark.parametrize("direction", [0, 1])
def test_guesses_are_drawn_in_the_short_sentence_of_which_the_head_is_surest(direction: int) -> None:
    result, head = shipped.result("dependency_heads").default_view(), Head(2, 0)
    preview, stored = Preview.of_guesses(result, DirectedHead(direction, head), "dobj"), result.stored
    surest, start = (-1, "", 0, 0), 0
    for sentence in map(function_heads, map(sentence_of, stored.sentences)):
        size = len(sentence)
        for word, relation in enumerate(sentence.relations):
            weight = int(stored.weights[direction, head.layer, head.head, start + word])
            if relation == "dobj" and size <= MAX_TOKENS and weight > surest[0]:
                surest = (weight, f"sentence {sentence.number + 1}, line {sentence.line}", start, size)
        start += size
    _, where, start, size = surest
    assert preview.about == f"Guesses in {where}" and len(preview.tokens) == size
    drawn = 0
    for layer, number, word in np.ndindex(*stored.guesses.shape[1:3], size):
        guess = int(stored.guesses[direction, layer, number, start + word])
        line = (guess, word) if direction else (word, guess)
        weight = int(stored.weights[direction, layer, number, start + word])
        assert preview.maps[layer, number, *line] == weight
        drawn += weight
    assert preview.maps.sum(dtype=int) == drawn  # and no other line


def test_a_preview_of_many_heads_has_fewer_tokens() -> None:
    maps = np.random.default_rng(0).integers(0, 255, (80, 64, 12, 12), dtype=np.uint8)
    sent = Preview([f"token {i}" for i in range(12)], maps, "").to_json()
    size, packed = len(sent["tokens"]), base64.b64decode(sent["maps"])
    assert (
        5 < size < 12 and sent["tokens"][-1] == f"token {size - 1}" and len(packed) == 80 * 64 * size * size < 500_000
    )
    assert packed[((79 * 64 + 63) * size + 2) * size + 1] == maps[79, 63, 2, 1]
