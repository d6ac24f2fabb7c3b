"""Guesses that look at no map: the word at a fixed offset."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from bertviz_core.corpora.trees import Sentence
from bertviz_core.probing.outcomes import not_punctuation

OFFSETS = (-5, -4, -3, -2, -1, 1, 2, 3, 4, 5)


def at_offset(size: int, offset: int) -> np.ndarray:
    """(word,) the word so far to the right; before the first word and after the last stands ROOT."""
    place = np.arange(1, size + 1) + offset
    return np.where((place < 1) | (place > size), 0, place)


def best_offset(sentences: Sequence[Sentence]) -> int:
    """The offset that is right most often, punctuation left out; the first of equals."""

    def right(offset: int) -> int:
        guesses = ((at_offset(len(s), offset) == np.array(s.governors)) & not_punctuation(s) for s in sentences)
        return int(sum(guess.sum() for guess in guesses))

    return max(OFFSETS, key=right)
