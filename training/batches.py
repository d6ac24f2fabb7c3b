"""Batches for masked words and next sentences: each depends on the text, the seed and the step, and on nothing else."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from training.text import SPECIAL, Text

PAD, CLS, SEP, MASK = (SPECIAL.index(name) for name in ("[PAD]", "[CLS]", "[SEP]", "[MASK]"))
MASKED, KEPT_FROM, REPLACED_FROM = 0.15, 0.9, 0.8  # of all tokens; of the masked: 80% [MASK], 10% random, 10% kept
SHORT = 0.1  # of the examples are cut to a random length, as BERT's were: people also analyze single sentences
SHORTEST = 16
ORDER, BATCH = 0, 1  # the seed's two uses


@dataclass(frozen=True, slots=True)
class TrainingBatch:
    """Segments `[CLS] A [SEP] B [SEP]`, always of the same shapes: a changed shape makes a CPU recompile.

    `masked` counts positions through the whole batch; `answers` are the wordpieces that stood there.
    """

    ids: NDArray[np.int64]  # (batch, token)
    types: NDArray[np.int64]  # (batch, token): 0 in A, 1 in B
    real: NDArray[np.bool_]  # (batch, token): not padding
    masked: NDArray[np.int64]  # (masked,)
    answers: NDArray[np.int64]  # (masked,)
    random_next: NDArray[np.int64]  # (batch,): 1 where B does not follow A


class Batches:
    """All batches of a text: `batch(step)` for any step, in any order."""

    def __init__(self, text: Text, size: int, length: int, vocabulary: int, seed: int) -> None:
        self.text, self.size, self.length, self.vocabulary, self.seed = text, size, length, vocabulary, seed
        self.room = length - 3
        self.chunks = chunks(text, self.room)

    def batch(self, step: int) -> TrainingBatch:
        rng = np.random.default_rng((self.seed, BATCH, step))
        ids = np.full((self.size, self.length), PAD, np.int64)
        types = np.zeros_like(ids)
        random_next = np.zeros(self.size, np.int64)
        for row in range(self.size):
            a, b, random_next[row] = self.pair(self.chunk(step * self.size + row), rng)
            segment = (CLS, *a, SEP, *b, SEP)
            ids[row, : len(segment)] = segment
            types[row, len(a) + 2 : len(segment)] = 1
        masked, answers = self.mask(ids, rng)
        return TrainingBatch(ids, types, ids != PAD, masked, answers, random_next)

    def chunk(self, example: int) -> int:
        """Every chunk once in a new order, then all of them again in another."""
        epoch, place = divmod(example, len(self.chunks))
        return int(_order(self.seed, epoch, len(self.chunks))[place])

    def pair(self, chunk: int, rng: np.random.Generator) -> tuple[NDArray[np.uint16], NDArray[np.uint16], bool]:
        """A, then what follows it or, half the time, text from a random place of another document."""
        room = self.room if rng.random() >= SHORT else int(rng.integers(SHORTEST, self.room + 1))
        offsets, tokens = self.text.sentences, self.text.tokens
        first, last = self.chunks[chunk]
        begin, end = offsets[first], offsets[self.document_end(first)]
        splits = offsets[first + 1 : last]
        splits = splits[splits <= begin + room - SHORTEST // 2]
        middle = rng.choice(splits) if len(splits) else min(begin + room // 2, offsets[last])
        a = tokens[begin:middle]
        is_random = rng.random() < 0.5 or middle == end
        if is_random:
            other = self.elsewhere(first, rng)
            middle, end = offsets[other], offsets[self.document_end(other)]
        return a, tokens[middle : min(middle + room - len(a), end)], bool(is_random)

    def elsewhere(self, sentence: int, rng: np.random.Generator) -> int:
        """A random sentence of another document."""
        end = self.document_end(sentence)
        while self.document_end(other := int(rng.integers(len(self.text.sentences) - 1))) == end:
            pass
        return other

    def document_end(self, sentence: int) -> int:
        return int(self.text.documents[np.searchsorted(self.text.documents, sentence, side="right")])

    def mask(self, ids: NDArray[np.int64], rng: np.random.Generator) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Hide the same number of tokens in every batch; changes `ids`, returns the positions and what stood there."""
        flat = ids.reshape(-1)
        count = round(MASKED * self.size * self.room)
        chosen = np.sort(rng.choice(np.flatnonzero(flat >= len(SPECIAL)), count, replace=False))
        answers = flat[chosen].copy()
        fate = rng.random(count)
        flat[chosen[fate < REPLACED_FROM]] = MASK
        replaced = chosen[(fate >= REPLACED_FROM) & (fate < KEPT_FROM)]
        flat[replaced] = rng.integers(len(SPECIAL), self.vocabulary, len(replaced))
        return chosen, answers


def chunks(text: Text, room: int) -> NDArray[np.int64]:
    """Runs of whole sentences of one document that just fill `room` tokens: (chunk, 2), first and last + 1."""
    ends = np.searchsorted(text.sentences, text.sentences[:-1] + room).tolist()
    found = []
    for first, last in zip(text.documents[:-1].tolist(), text.documents[1:].tolist(), strict=True):
        start = first
        while start < last:
            end = min(ends[start], last)
            found.append((start, end))
            start = end
    return np.array(found, np.int64)


@lru_cache(maxsize=4)
def _order(seed: int, epoch: int, count: int) -> NDArray[np.int64]:
    return np.random.default_rng((seed, ORDER, epoch)).permutation(count)
