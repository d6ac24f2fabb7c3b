"""Splits into training, validation and test sentences, without duplicates across parts; a control task that no
syntax solves; and the training of one probe, with its guesses on the test part."""

import hashlib
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import NamedTuple

import numpy as np
import torch

from bertviz_core.analyses.probes import structural
from bertviz_core.analyses.probes.features import Features
from bertviz_core.analyses.probes.probes import (
    AttentionAndWords,
    AttentionOnly,
    DistancesAndWords,
    Probe,
    ProbeSettings,
)
from bertviz_core.analyses.probes.result import AS_RELEASED, ProbeOptions
from bertviz_core.analyses.probes.scoring import GoldWords, Outcome, guesses, not_punctuation
from bertviz_core.analyses.probes.training import PAPER_RATE, Curve, Data, Schedule, fit_adam, fit_lbfgs
from bertviz_core.corpora.skipped import Skipped
from bertviz_core.corpora.treebank import Sentence
from bertviz_core.engine.progress import Progress
from bertviz_core.errors import InputError
from bertviz_core.models.model import AttentionModel
from bertviz_core.settings import Settings

SCHEDULES = {
    "attention-only": Schedule(5, 0.02, 256),
    "attention-and-words": Schedule(5, 0.005, 128),
    "distances-and-words": Schedule(5, 0.002, 128),
    "structural": Schedule(20, 0.002),
}
RANDOM = "random-"
TEST, VALIDATION = 0.2, 0.1  # shares of different sentences
MIN_SENTENCES = 10  # different sentences, below which there is nothing to learn from


class Splits(NamedTuple):
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
    return Splits(*(np.flatnonzero(np.array(drawn) == part) for part in range(3)))


def control_governors(sentences: Sequence[Sequence[str]], seed: int) -> list[np.ndarray]:
    """Trees that can only be memorized (Hewitt and Liang 2019): each word type is always governed by ROOT, by the first
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


@dataclass(frozen=True)
class Fitted:
    """One trained probe and its guesses on the test part."""

    probe: Probe
    guesses: dict[int, np.ndarray]
    curve: Curve
    seconds: float


@dataclass(frozen=True)
class Fitting:
    """Shared inputs of all trainings of one request; `vectors` (row, dimension) are the words'."""

    model: AttentionModel
    settings: Settings
    options: ProbeOptions
    sentences: Sequence[Sentence]
    splits: Splits
    progress: Progress
    vectors: torch.Tensor

    def fit(self, features: Features, name: str, governors: Sequence[np.ndarray] | None = None) -> Fitted:
        """Train the probe of one row; `governors` in place of the treebank's for the control task."""
        kind = kind_of(name)
        train, validation, test = (Data(features, each, self.model.device, governors) for each in self.splits)
        text = name if governors is None else "the control task"
        started = time.monotonic()
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(self.settings.seed)
            probe = self.probe(kind, name.endswith(AS_RELEASED)).to(self.model.device)
        if kind == "attention-only" and self.options.optimizer == "lbfgs" and not self.settings.paper:
            curve = fit_lbfgs(probe, train, validation, self.progress, text)
        else:
            curve = fit_adam(probe, train, validation, self.schedule(kind), self.progress, text)
        seconds = time.monotonic() - started
        self.progress.start(f"Scoring {text}")
        return Fitted(probe, guesses(probe, test, self.progress), curve, seconds)

    def probe(self, kind: str, misaligned: bool = False) -> Probe:
        """An untrained probe; `misaligned` reads ROOT as the release does."""
        settings = ProbeSettings(self.model.layers * self.model.heads, self.settings.paper)
        if kind == "attention-only":
            return AttentionOnly(settings)
        settings = replace(settings, misaligned_root=misaligned)
        return (AttentionAndWords if kind == "attention-and-words" else DistancesAndWords)(settings, self.vectors)

    def schedule(self, kind: str) -> Schedule:
        """Schedule by which a probe is trained with Adam."""
        if self.settings.paper and kind != "structural":
            return Schedule(self.options.epochs or 1, PAPER_RATE, singly=True, seed=self.settings.seed)
        usual = SCHEDULES[kind]
        return replace(usual, epochs=self.options.epochs or usual.epochs, seed=self.settings.seed)

    def fit_structural(self, states: list[np.ndarray], gold: GoldWords) -> tuple[Outcome, np.ndarray, dict[str, int]]:
        """Train the structural probe on every layer; returns the outcome of the layer that is best on the validation
        part, the UUAS of every layer (layer,) on the test part, and the number of the best layer with the rank."""
        splits, sentences = self.splits, self.sentences
        trees = [structural.tree_distances(np.array(sentence.governors)) for sentence in sentences]
        layers, _, dimension = states[0].shape
        started = time.monotonic()
        rank = min(self.options.rank, dimension)
        probe = structural.StructuralProbe(layers, dimension, rank, self.settings.seed).to(self.model.device)
        schedule = self.schedule("structural")
        curve = structural.fit(probe, states, trees, splits.train, splits.validation, schedule, self.progress)
        seconds = time.monotonic() - started
        self.progress.start("Scoring structural")
        counted = [not_punctuation(sentence) for sentence in sentences]
        chosen_on = splits.validation if len(splits.validation) else splits.train
        tried = structural.right_edges(structural.edges(probe, states, chosen_on, counted), sentences)
        best = int(tried[:, GoldWords.of(sentences, chosen_on).edge].mean(1).argmax())
        edges = structural.edges(probe, states, splits.test, counted)
        right = structural.right_edges(edges, sentences)
        guessed = {i: by_layer[best] for i, by_layer in edges.items()}
        size = dimension * rank
        outcome = Outcome("structural", "UUAS", right[best], gold.edge, size, seconds, asdict(curve), guessed)
        return outcome, right[:, gold.edge].mean(1), {"layer": best, "rank": rank}


def kind_of(name: str) -> str:
    """The kind of probe that a row trains, without the network and the treatment of ROOT."""
    return name.removeprefix(RANDOM).removesuffix(AS_RELEASED)
