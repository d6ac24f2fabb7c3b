"""Word-level maps equal the literal loops, rows still sum to 1."""

import numpy as np
import pytest
import torch

from bertviz_core.models.encoding import Encoded
from bertviz_core.models.words import membership
from tests.oracles.dependency import word_level

WORDS = ([-1, 0, 0, 1, 2, 2, 2, -1], [-1, 0, 1, -1], [-1, 0, 0, 0, 0, -1])


def example(number: int, words: list[int]) -> Encoded:
    blank = np.zeros(len(words), dtype=np.int64)
    return Encoded(number, f"line {number}", blank, blank, np.array(words))


def batch_of_maps(seed: int = 0) -> torch.Tensor:
    """(batch, head, query, key), softmaxed over each sentence's own tokens; padding rows are full, as a model's are."""
    width = max(map(len, WORDS))
    logits = torch.randn(len(WORDS), 2, width, width, generator=torch.Generator().manual_seed(seed))
    for row, words in enumerate(WORDS):
        logits[row, :, :, len(words) :] = -1e9
    return logits.softmax(-1)


@pytest.mark.parametrize("first_piece", [False, True])
def test_maps_equal_the_loops(first_piece):
    maps = batch_of_maps()
    examples = [example(i, words) for i, words in enumerate(WORDS)]
    ours = membership(examples, "cpu", first_piece=first_piece).maps(maps)
    for row, words in enumerate(WORDS):
        size = max(words) + 1
        for head in range(maps.shape[1]):
            expected = word_level(maps[row, head].numpy(), words, first_piece)
            np.testing.assert_allclose(ours[row, head, :size, :size], expected, atol=1e-6)
        assert not ours[row, :, size:].any() and not ours[row, :, :, size:].any()


@pytest.mark.parametrize("first_piece", [False, True])
def test_with_special_tokens_rows_sum_to_one(first_piece):
    examples = [example(i, words) for i, words in enumerate(WORDS)]
    member = membership(examples, "cpu", first_piece=first_piece, special=True)
    sums = member.maps(batch_of_maps()).sum(-1)  # (batch, head, word)
    assert member.mask.sum(1).tolist() == [5, 4, 3]
    torch.testing.assert_close(sums, member.mask[:, None].float().expand_as(sums))


def test_an_example_without_words_is_refused():
    blank = np.zeros(3, dtype=np.int64)
    with pytest.raises(ValueError, match="line 9"):
        membership([Encoded(0, "line 9", blank, blank)], "cpu")
