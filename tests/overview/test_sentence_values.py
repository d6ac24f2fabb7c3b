"""The numbers of a sentence are those that its own maps have, and the example's are stored with its preview."""

import numpy as np
import pytest

from bertviz_core.analyses.behaviors import QUANTITIES
from bertviz_core.models.single_input import attention, from_text
from bertviz_core.overview.sentence_values import sentence_values
from bertviz_core.settings import Settings
from bertviz_core.viewer.preview import SENTENCE, compute_preview, values_of_stored, words_of_stored


def test_they_are_means_over_the_tokens_of_the_sentence(demo):
    single = from_text(SENTENCE, "", demo.tokens, Settings())
    maps = attention(demo, single.example).astype(float)
    values = sentence_values(demo, single.example, Settings())
    size = maps.shape[-1]
    assert {*values} <= {*QUANTITIES} and {"previous", "next", "to_cls", "to_sep", "entropy"} <= {*values}
    for layer, head in ((0, 2), (1, 8), (4, 1)):
        rows = maps[layer, head]
        previous = sum(rows[token, token - 1] for token in range(1, size)) / size
        entropy = sum(-weight * np.log(weight) for row in rows for weight in row if weight) / size
        assert values["previous"][layer, head] == pytest.approx(previous, abs=1e-5)
        assert values["entropy"][layer, head] == pytest.approx(entropy, abs=1e-4)


def test_those_of_the_example_are_stored_with_the_words_that_can_be_guessed(demo):
    stored = compute_preview(demo, Settings())
    single = from_text(SENTENCE, "", demo.tokens, Settings())
    for name, expected in sentence_values(demo, single.example, Settings()).items():
        np.testing.assert_allclose(values_of_stored(stored)[name], expected, rtol=1e-6)
    assert [*words_of_stored(stored)] in ([*range(1, len(single.example) - 1)], [])
