"""What probes are scored on: parts without duplicates across them, the words of the test part, baselines and a control
task that no syntax solves; scores and their intervals."""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import torch

from bertviz_core.analyses.probes.probes import Probe
from bertviz_core.analyses.probes.training import Data
from bertviz_core.corpora import Skipped
from bertviz_core.corpora.treebank import Sentence
from bertviz_core.engine.jobs import Progress
from bertviz_core.errors import InputError

# Shares of different sentences.
TEST = 0.2
VALIDATION = 0.1
MIN_SENTENCES = 10  # different sentences, below which there is nothing to learn from
FARTHEST = 8  # distances beyond count as this far
RESAMPLES = 1000
OFFSETS = (-5, -4, -3, -2, -1, 1, 2, 3, 4, 5)


class Splits(NamedTuple):
    """Indices of sentences, in file order."""

    train: np.ndarray
    validation: np.ndarray
    test: np.ndarray


def split(sentences: Sequence[Sentence], test_count: int, seed: int, early_stopping: bool, skipped: Skipped) -> Splits:
    """Split `sentences`, of which the last `test_count` come from a separate test file (0: a part is held out); where
    they also stand among the others, they are not trained on. Sentences of the same words stay together; the cut
    depends on the seed and the words alone, not on the file's order."""
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
    part_of = {words: 2 if i < cut else 1 if i < stop else 0 for i, words in enumerate(order)}
    drawn = [part_of.get(sentence.words, -1) for sentence in sentences[:first]] + [2] * test_count
    return Splits(*(np.flatnonzero(np.array(drawn) == part) for part in range(3)))


def control_governors(sentences: Sequence[Sequence[str]], seed: int) -> list[np.ndarray]:
    """Trees that can only be memorized (Hewitt and Liang 2019): each word type is always governed by ROOT, by the first
    word or by the last, drawn once for the type; a word that would govern itself is governed by ROOT."""
    trees = []
    for words in sentences:
        drawn = [_draw(word, seed)[0] % 3 for word in words]
        governors = np.array([0, 1, len(words)])[drawn]
        trees.append(np.where(governors == np.arange(1, len(words) + 1), 0, governors))
    return trees


def _draw(text: str, seed: int) -> bytes:
    return hashlib.sha256(f"{seed}\n{text}".encode()).digest()


def not_punctuation(sentence: Sentence) -> np.ndarray:
    """(word,) bool, which words of a sentence are not punctuation."""
    return np.array([relation.split(":")[0] != "punct" for relation in sentence.relations])


class GoldWords:
    """All words of some sentences, one after the other."""

    def __init__(self, sentences: Sequence[Sentence], indices: np.ndarray) -> None:
        chosen = [sentences[i] for i in indices.tolist()]
        marks = [not_punctuation(sentence) for sentence in chosen]
        edges = [mark & np.append(False, mark)[list(s.governors)] for mark, s in zip(marks, chosen, strict=True)]
        number = np.concatenate([np.arange(1, len(sentence) + 1) for sentence in chosen])
        self.indices = indices  # (sentence,)
        self.sentence = np.repeat(np.arange(len(chosen)), list(map(len, chosen)))  # (word,) its place among `indices`
        self.governor = np.concatenate([sentence.governors for sentence in chosen])  # 0 is ROOT
        self.relation = np.concatenate([sentence.relations for sentence in chosen])
        self.counted = np.concatenate(marks)  # not punctuation
        self.edge = np.concatenate(edges)  # for UUAS: neither the word nor its governor is punctuation or ROOT
        self.distance = np.where(self.governor == 0, 0, (self.governor - number).clip(-FARTHEST, FARTHEST))

    def right(self, guesses: Mapping[int, np.ndarray]) -> np.ndarray:
        """(word,) 1 where the guessed governor is the tree's."""
        return (np.concatenate([guesses[i] for i in self.indices.tolist()]) == self.governor).astype(float)


@dataclass(frozen=True)
class Outcome:
    """Result of one probe on the test part."""

    name: str
    metric: str
    right: np.ndarray  # (word,) the share of seeds in which its governor (UUAS: its edge) was found
    counted: np.ndarray  # (word,)
    guessed: dict[int, Any]  # by sentence index, governors (UUAS: edges) of the first seed
    parameters: int = 0
    seconds: float = 0.0

    @property
    def score(self) -> float:
        return float(self.right[self.counted].mean()) if self.counted.any() else float("nan")

    @property
    def with_punctuation(self) -> float:
        """The share over all words; NaN for UUAS, whose trees have no punctuation."""
        return float(self.right.mean()) if self.metric == "UAS" else float("nan")

    def interval(self, gold: GoldWords, seed: int) -> list[float]:
        """95% bootstrap interval over sentences, each drawn with all its words."""
        size = len(gold.indices)
        right = np.bincount(gold.sentence, self.right * self.counted, size)
        words = np.bincount(gold.sentence, self.counted, size)
        drawn = np.random.default_rng(seed).integers(0, size, (RESAMPLES, size))
        shares = right[drawn].sum(1) / np.maximum(words[drawn].sum(1), 1)
        return np.percentile(shares, [2.5, 97.5]).tolist()


def at_offset(size: int, offset: int) -> np.ndarray:
    """(word,) min(max(p + offset, 0), size) for the word at position p, 0 being ROOT, as for dependency heads."""
    return (np.arange(1, size + 1) + offset).clip(0, size)


def best_offset(sentences: Sequence[Sentence]) -> int:
    """The offset that is right most often, punctuation left out; the first of equals."""
    gold = [np.where(not_punctuation(each), each.governors, -1) for each in sentences]
    return max(OFFSETS, key=lambda offset: sum((at_offset(len(each), offset) == each).sum() for each in gold))


@torch.no_grad()
def guesses(probe: Probe, data: Data, progress: Progress) -> dict[int, np.ndarray]:
    """Index of a sentence -> (word,) the governor of every word that the probe finds likeliest, 0 being ROOT."""
    trees: dict[int, np.ndarray] = {}
    for group, rows in data.parts():
        likeliest = probe(data.take((group, rows))).log_softmax(-1).argmax(-1).cpu().numpy()
        trees |= dict(zip(group.indices[rows].tolist(), likeliest, strict=True))
        progress.advance(0)
    return trees
