"""Which sentences train, which say when to stop, and which are scored; none is in two parts, nor its double. And a
control task on them, which no syntax solves."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from bertviz_core.corpora.skipped import Skipped
from bertviz_core.corpora.treebank.trees import Sentence
from bertviz_core.errors import InputError

TEST, VALIDATION = 0.2, 0.1  # shares of different sentences
MIN_SENTENCES = 10  # different sentences, below which there is nothing to learn from


@dataclass(frozen=True, slots=True)
class Splits:
    """Indices of sentences, in file order."""

    train: np.ndarray
    validation: np.ndarray
    test: np.ndarray


def split(sentences: Sequence[Sentence], test_count: int, seed: int, early_stopping: bool, skipped: Skipped) -> Splits:
    """Split `sentences`, of which the last `test_count` come from a separate test file (0: a part is held out).

    Sentences of the same words stay together; training sentences that also stand in the test file are left out and
    counted. The cut depends on the seed and the words alone, not on the file's order.
    """
    first = len(sentences) - test_count
    tested = {sentence.words for sentence in sentences[first:]}
    for sentence in sentences[:first]:
        if sentence.words in tested:
            skipped.add("a sentence that is also in the test file (not trained on)", sentence.where)
    different = {sentence.words for sentence in sentences[:first]} - tested
    order = sorted(different, key=lambda words: _draw(" ".join(words), seed))
    if len(order) < MIN_SENTENCES:
        raise InputError(
            f"{len(order)} different sentences are too few to train a probe on.",
            hint=f"Give a treebank of {MIN_SENTENCES} or more; hundreds are better.",
        )
    cut = 0 if test_count else round(TEST * len(order))
    stop = cut + (max(1, round(VALIDATION * len(order))) if early_stopping else 0)
    split_of = {words: 2 if i < cut else 1 if i < stop else 0 for i, words in enumerate(order)}
    drawn = [split_of.get(sentence.words, -1) for sentence in sentences[:first]] + [2] * test_count
    train, validation, test = (np.flatnonzero(np.array(drawn) == part) for part in range(3))
    return Splits(train, validation, test)


def control_governors(sentences: Sequence[Sequence[str]], seed: int) -> list[np.ndarray]:
    """Trees that only memory solves (Hewitt and Liang 2019): each word type is always governed by ROOT, by the first
    word or by the last, drawn once for the type; a word that would govern itself is governed by ROOT."""
    trees = []
    for words in sentences:
        own = np.arange(1, len(words) + 1)
        drawn = np.array([_draw(word, seed)[0] % 3 for word in words])
        governors = np.choose(drawn, [np.zeros_like(own), np.ones_like(own), np.full_like(own, len(words))])
        trees.append(np.where(governors == own, 0, governors))
    return trees


def _draw(text: str, seed: int) -> bytes:
    return hashlib.sha256(f"{seed}\n{text}".encode()).digest()
