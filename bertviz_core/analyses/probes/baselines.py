"""Guesses that look at no map: right-branching, and the word at a fixed offset (docs/methods.md, sections 6 and 8)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from bertviz_core.analyses.probes.scoring import not_punctuation
from bertviz_core.corpora.treebank.trees import Sentence

OFFSETS = (-5, -4, -3, -2, -1, 1, 2, 3, 4, 5)


def right_branching(size: int) -> np.ndarray:
    """(word,) the word to the right; the last word's guess is ROOT."""
    return np.append(np.arange(2, size + 1), 0)


def at_offset(size: int, offset: int) -> np.ndarray:
    """(word,) min(max(p + offset, 0), size) for the word at position p, 0 being ROOT, as for dependency heads."""
    return (np.arange(1, size + 1) + offset).clip(0, size)


def best_offset(sentences: Sequence[Sentence]) -> int:
    """The offset that is right most often, punctuation left out; the first of equals."""

    def right(offset: int) -> int:
        guesses = ((at_offset(len(s), offset) == np.array(s.governors)) & not_punctuation(s) for s in sentences)
        return int(sum(guess.sum() for guess in guesses))

    return max(OFFSETS, key=right)
