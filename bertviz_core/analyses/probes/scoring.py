"""What probes are trained and scored on, baselines, a control task, and scores with their intervals."""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import torch

from bertviz_core.analyses.probes.probes import Probe
from bertviz_core.analyses.probes.result import SentenceRecord
from bertviz_core.analyses.probes.training import Data
from bertviz_core.corpora import Skipped
from bertviz_core.corpora.treebank import Sentence, is_punctuation
from bertviz_core.engine.progress import Progress
from bertviz_core.errors import InputError
from bertviz_core.inputs.tensors import to_host

TEST = 0.2  # share of the different sentences that are scored
VALIDATION = 0.1
MIN_SENTENCES = 10  # the fewest different sentences
FARTHEST = 8  # Longer distances are counted with this one.
RESAMPLES = 1000
OFFSETS = (-5, -4, -3, -2, -1, 1, 2, 3, 4, 5)


class Splits(NamedTuple):
    """Indices of the sentences of each part, in file order.

    Attributes:
        train: (sentence,) those that probes are trained on.
        validation: (sentence,) those whose loss ends the training; empty where none are held out.
        test: (sentence,) those that are scored.
    """

    train: np.ndarray
    validation: np.ndarray
    test: np.ndarray


def split(sentences: Sequence[Sentence], test_count: int, seed: int, early_stopping: bool, skipped: Skipped) -> Splits:
    """Split sentences into parts that share none; the cut depends on the seed and the words, not on the file's order.

    Args:
        sentences: Those of the treebank, then those of a separate test file.
        test_count: How many are of the test file; 0 to hold out a part of the treebank.
        seed: The seed of the cut.
        early_stopping: Whether a part is held out to end the training.
        skipped: Counts the sentences that are also in the test file.

    Raises:
        InputError: There are fewer than MIN_SENTENCES different sentences.
    """
    count = len(sentences) - test_count
    given = sentences[:count]
    tested = {sentence.words for sentence in sentences[count:]}
    for sentence in given:
        if sentence.words in tested:
            skipped.add("a sentence that is also in the test file (not trained on)", sentence.where)
    different = {sentence.words for sentence in given} - tested
    order = sorted(different, key=lambda words: _draw(" ".join(words), seed))
    if len(order) < MIN_SENTENCES:
        what = f"{len(order)} different sentences are too few to train a probe on."
        raise InputError(what, hint=f"Give a treebank of {MIN_SENTENCES} or more; hundreds are better.")
    cut = 0 if test_count else round(TEST * len(order))
    stop = cut + (max(1, round(VALIDATION * len(order))) if early_stopping else 0)
    part_of = dict.fromkeys(order[:cut], 2) | dict.fromkeys(order[cut:stop], 1) | dict.fromkeys(order[stop:], 0)
    drawn = [part_of.get(sentence.words, -1) for sentence in given] + [2] * test_count
    return Splits(*(np.flatnonzero(np.array(drawn) == part) for part in range(3)))


def control_governors(sentences: Sequence[Sequence[str]], seed: int) -> list[np.ndarray]:
    """Trees that can only be memorized (Hewitt and Liang 2019; docs/methods.md, section 8, Selectivity).

    ROOT, the first word or the last governs every word of a type, drawn once for the type; ROOT governs a word that
    would govern itself.

    Args:
        sentences: The words of each sentence.
        seed: The seed of the draw.

    Returns:
        For each sentence (word,) governors, from 1; 0 is ROOT.
    """
    trees = []
    for words in sentences:
        drawn = [_draw(word, seed)[0] % 3 for word in words]
        governors = np.array([0, 1, len(words)])[drawn]
        trees.append(np.where(governors == np.arange(1, len(words) + 1), 0, governors))
    return trees


def _draw(text: str, seed: int) -> bytes:
    return hashlib.sha256(f"{seed}\n{text}".encode()).digest()


def not_punctuation(sentence: Sentence) -> np.ndarray:
    """(word,) bool, False for punctuation."""
    return np.array([not is_punctuation(relation) for relation in sentence.relations])


class GoldWords:
    """All words of some sentences, in order.

    Attributes:
        indices: (sentence,) indices of the sentences.
        unit: (word,) the unit of each word, from 0.
        governor: (word,) governors, from 1; 0 is ROOT.
        relation: (word,) relations to the governors.
        counted: (word,) bool, whether each word counts: it is no punctuation.
        edge: (word,) bool, whether it counts for UUAS: neither it nor its governor is punctuation or ROOT.
        distance: (word,) governor - word, in words, cut at FARTHEST; 0 for ROOT.
    """

    def __init__(self, sentences: Sequence[Sentence], indices: np.ndarray, units: np.ndarray | None = None) -> None:
        """`units` are the numbers of the sentences' documents where these are the units; else each is its own."""
        of_sentence = np.unique(indices if units is None else units[indices], return_inverse=True)[1]
        chosen = [sentences[i] for i in indices.tolist()]
        lengths = list(map(len, chosen))
        marks = [not_punctuation(sentence) for sentence in chosen]
        edges = []
        for sentence, mark in zip(chosen, marks, strict=True):
            is_governor = np.append(False, mark)  # ROOT first
            edges.append(mark & is_governor[list(sentence.governors)])
        self.indices = indices
        self.unit = np.repeat(of_sentence, lengths)
        self.units = int(of_sentence.max(initial=-1)) + 1
        self.governor = np.concatenate([sentence.governors for sentence in chosen])
        self.relation = np.concatenate([sentence.relations for sentence in chosen])
        self.counted = np.concatenate(marks)
        self.edge = np.concatenate(edges)
        words = np.concatenate([np.arange(1, length + 1) for length in lengths])
        distance = (self.governor - words).clip(-FARTHEST, FARTHEST)
        self.distance = np.where(self.governor == 0, 0, distance)

    def right(self, guesses: Mapping[int, np.ndarray]) -> np.ndarray:
        """(word,) 1 where a guess is right."""
        guessed = np.concatenate([guesses[i] for i in self.indices.tolist()])
        return (guessed == self.governor).astype(float)


@dataclass(frozen=True)
class Outcome:
    """Result of one probe on the test part.

    Attributes:
        name: The row of Table 3.
        metric: "UAS" or "UUAS".
        right: (word,) share of the seeds with the right governor (UUAS: edge), 0 to 1.
        counted: (word,) bool, whether the word counts in the score.
        guessed: From the index of each sentence to what the first seed guesses: governors (word,), from 1, or for UUAS
            pairs of words.
        parameters: The number of weights; 0 for a baseline.
        seconds: The duration of one training; 0 for a baseline.
    """

    name: str
    metric: str
    right: np.ndarray
    counted: np.ndarray
    guessed: Mapping[int, np.ndarray | Sequence[tuple[int, int]]]
    parameters: int = 0
    seconds: float = 0.0

    @property
    def score(self) -> float:
        """The share of the counted words that are right; NaN without any."""
        return float(self.right[self.counted].mean()) if self.counted.any() else float("nan")

    @property
    def with_punctuation(self) -> float:
        """Share of all words; NaN for UUAS."""
        return float(self.right.mean()) if self.metric == "UAS" else float("nan")

    def interval(self, gold: GoldWords, seed: int) -> list[float]:
        """95% bootstrap interval over units, documents or sentences, each drawn with all its words."""
        size = gold.units
        right = np.bincount(gold.unit, self.right * self.counted, size)
        words = np.bincount(gold.unit, self.counted, size)
        drawn = np.random.default_rng(seed).integers(0, size, (RESAMPLES, size))
        shares = right[drawn].sum(1) / np.maximum(words[drawn].sum(1), 1)
        return np.percentile(shares, [2.5, 97.5]).tolist()


def sentence_record(index: int, sentence: Sentence, outcomes: Sequence[Outcome]) -> SentenceRecord:
    """A sentence of the test part as results store it, with every probe's guesses."""
    return {
        "where": sentence.where,
        "words": list(sentence.words),
        "governors": list(sentence.governors),
        "relations": list(sentence.relations),
        "guesses": {outcome.name: np.asarray(outcome.guessed[index]).tolist() for outcome in outcomes},
    }


def at_offset(size: int, offset: int) -> np.ndarray:
    """(word,) governors at an offset within the sentence, 0 being ROOT, as for dependency heads."""
    words = np.arange(1, size + 1)
    return (words + offset).clip(0, size)


def best_offset(sentences: Sequence[Sentence]) -> int:
    """The offset that is right most often, punctuation left out; the first of equals."""
    gold = [np.where(not_punctuation(each), each.governors, -1) for each in sentences]
    right = [sum((at_offset(len(each), offset) == each).sum() for each in gold) for offset in OFFSETS]
    return OFFSETS[int(np.argmax(right))]


@torch.no_grad()
def guesses(probe: Probe, data: Data, progress: Progress) -> dict[int, np.ndarray]:
    """Index of a sentence -> (word,) the likeliest governors, 0 being ROOT."""
    trees: dict[int, np.ndarray] = {}
    parts = data.parts()
    likeliest = []
    for part in parts:
        likeliest.append(probe(data.take(part)).log_softmax(-1).argmax(-1))
        progress.advance(0)
    for (group, rows), governors in zip(parts, to_host(likeliest), strict=True):
        trees |= dict(zip(group.indices[rows].tolist(), governors, strict=True))
    return trees
