"""Scores of a probe on the test part: its guesses word by word, baselines, and intervals."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np
import torch

from bertviz_core.analyses.probes.probes import Probe
from bertviz_core.analyses.probes.training import Data
from bertviz_core.corpora.treebank import Sentence
from bertviz_core.engine.progress import Progress

FARTHEST = 8  # distances beyond count as this far
RESAMPLES = 1000


@dataclass(frozen=True)
class GoldWords:
    """The test part, all words of all sentences one after the other.

    Attributes:
        indices: (sentence,); in `sentence` (word,) the place of each word's sentence among them.
        governor: (word,) 0 is ROOT.
        counted: (word,) not punctuation.
        edge: (word,) the structural probe's: neither the word nor its governor is punctuation or ROOT.
        distance: (word,) governor - word, cut to +-FARTHEST; 0 for ROOT.
    """

    indices: np.ndarray
    sentence: np.ndarray
    governor: np.ndarray
    relation: np.ndarray
    counted: np.ndarray
    edge: np.ndarray
    distance: np.ndarray

    @classmethod
    def of(cls, sentences: Sequence[Sentence], indices: np.ndarray) -> Self:
        chosen = [sentences[i] for i in indices.tolist()]
        governor = np.concatenate([np.array(sentence.governors) for sentence in chosen])
        index = np.concatenate([np.arange(1, len(sentence) + 1) for sentence in chosen])
        marks = [not_punctuation(sentence) for sentence in chosen]
        edge = [mark & np.append(False, mark)[list(s.governors)] for mark, s in zip(marks, chosen, strict=True)]
        return cls(
            indices,
            np.repeat(np.arange(len(chosen)), [len(sentence) for sentence in chosen]),
            governor,
            np.array([name for sentence in chosen for name in sentence.relations]),
            np.concatenate(marks),
            np.concatenate(edge),
            np.where(governor == 0, 0, (governor - index).clip(-FARTHEST, FARTHEST)),
        )

    def right(self, guesses: Mapping[int, np.ndarray]) -> np.ndarray:
        """(word,) 1 where the guessed governor is the tree's."""
        return (np.concatenate([guesses[i] for i in self.indices.tolist()]) == self.governor).astype(float)


@dataclass(frozen=True)
class Outcome:
    """Result of one probe on the test part: the share of seeds in which each word's governor (UUAS: its edge) was
    found, and by sentence index the guesses, governors (UUAS: edges), of the first seed."""

    name: str
    metric: str
    right: np.ndarray
    counted: np.ndarray
    parameters: int = 0
    seconds: float = 0.0
    curve: dict[str, Any] | None = None
    guessed: dict[int, Any] = field(default_factory=dict)

    @property
    def score(self) -> float:
        return float(self.right[self.counted].mean()) if self.counted.any() else float("nan")

    @property
    def with_punctuation(self) -> float:
        """The share over all words; NaN for UUAS, whose trees have no punctuation."""
        return float(self.right.mean()) if self.metric == "UAS" else float("nan")

    def interval(self, gold: GoldWords, seed: int) -> tuple[float, float]:
        """95% bootstrap interval over sentences, each drawn with all its words."""
        size = len(gold.indices)
        right = np.bincount(gold.sentence, self.right * self.counted, size)
        words = np.bincount(gold.sentence, self.counted, size)
        drawn = np.random.default_rng(seed).integers(0, size, (RESAMPLES, size))
        shares = right[drawn].sum(1) / np.maximum(words[drawn].sum(1), 1)
        low, high = np.percentile(shares, [2.5, 97.5])
        return float(low), float(high)


def not_punctuation(sentence: Sentence) -> np.ndarray:
    """(word,) bool, which words of a sentence are not punctuation."""
    return np.array([relation.split(":")[0] != "punct" for relation in sentence.relations])


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


@torch.no_grad()
def guesses(probe: Probe, data: Data, progress: Progress) -> dict[int, np.ndarray]:
    """Index of a sentence -> (word,) the governor of every word that the probe finds likeliest, 0 being ROOT."""
    heads: dict[int, np.ndarray] = {}
    for group, rows, batch in data:
        trees = list(probe(batch).log_softmax(-1).argmax(-1).cpu().numpy())
        heads |= dict(zip(group.indices[rows].tolist(), trees, strict=True))
        progress.advance(0)
    return heads
