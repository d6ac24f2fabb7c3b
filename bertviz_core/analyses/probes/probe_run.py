"""All probes of one treebank: sentences, parts, features once for each network, then every probe that was asked for."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from bertviz_core.analyses.probes import structural
from bertviz_core.analyses.probes.baselines import at_offset, best_offset, right_branching
from bertviz_core.analyses.probes.controls import control_governors, redrawn
from bertviz_core.analyses.probes.decoding import guesses
from bertviz_core.analyses.probes.features import Features
from bertviz_core.analyses.probes.options import AS_RELEASED
from bertviz_core.analyses.probes.probes import (
    AttentionAndWords,
    AttentionOnly,
    DistancesAndWords,
    Probe,
    ProbeSettings,
)
from bertviz_core.analyses.probes.scoring import GoldWords, Outcome, not_punctuation
from bertviz_core.analyses.probes.splits import split
from bertviz_core.analyses.probes.training import PAPER_RATE, Curve, Data, Schedule, fit_adam, fit_lbfgs
from bertviz_core.analyses.probes.word_vectors import Pairs, word_vectors
from bertviz_core.corpora.skipped import Skipped
from bertviz_core.engine.progress import Progress
from bertviz_core.models.reading import Reading
from bertviz_core.models.sentences import EncodedSentence, Sentences

if TYPE_CHECKING:
    from bertviz_core.analyses.probes.options import ProbeOptions
    from bertviz_core.corpora.source import Source
    from bertviz_core.models.model import AttentionModel
    from bertviz_core.settings import Settings

SCHEDULES = {
    "attention-only": Schedule(5, 0.02, 256),
    "attention-and-words": Schedule(5, 0.005, 128),
    "distances-and-words": Schedule(5, 0.002, 128),
    "structural": Schedule(20, 0.002),
}
RANDOM = "random-"
WORDS = 10_000  # whose vectors are kept with the result


@dataclass(frozen=True, slots=True)
class Fitted:
    """One trained probe and its guesses on the test part."""

    probe: Probe
    guesses: dict[int, np.ndarray]
    curve: Curve
    seconds: float


@dataclass
class ProbeRun:
    """The work of one request. `outcomes` holds what came out; `about` what there is to say of it, as JSON.

    others: further files, "dev" (a treebank to score on) and "vectors".
    attention, root: the attention-only probe's weights (2, layer, head) and (4, layer, head), see scores.AttentionOnly.
    layers: (layer,) the structural probe's UUAS of each layer on the test part, embeddings first.
    """

    model: AttentionModel
    settings: Settings
    plan: ProbeOptions
    others: dict[str, Source]

    def __post_init__(self) -> None:
        self.outcomes: list[Outcome] = []
        self.about: dict[str, Any] = {}
        self.skipped = Skipped()  # beside what the reading of the corpus left out
        heads = (self.model.layers, self.model.heads)
        self.probe_settings = ProbeSettings(heads[0] * heads[1], self.settings.paper)
        self.names = self.plan.rows(self.settings.paper)
        self.attention, self.root, self.layers = np.zeros((0, *heads)), np.zeros((0, *heads)), np.zeros(0)
        self.pairs = Pairs([], np.zeros((0, 0)), np.zeros((0, 0)), np.zeros(0))

    def run(self, examples: Sentences, progress: Progress, batch_tokens: int | None) -> None:
        """Do it all; a cancel anywhere leaves nothing behind."""
        self.progress, self.batch_tokens = progress, batch_tokens
        self.encoded, given = self._read(examples)
        self.sentences = [encoded.sentence for encoded in self.encoded]
        early_stopping = not self.settings.paper
        self.parts = split(self.sentences, given, self.settings.seed, early_stopping, self.skipped)
        self.gold = GoldWords.of(self.sentences, self.parts.test)
        self.about["sentences"] = {name: len(getattr(self.parts, name)) for name in ("train", "validation", "test")}
        self._offsets()
        mapped = [name for name in self.names if _kind(name) in SCHEDULES and name != "structural"]
        if mapped:
            self._vectors(any("words" in name for name in mapped))
            with Features(self.encoded, self.rows, self.probe_settings.heads) as features:
                self._mapped(features, mapped)
        if "structural" in self.plan.probes:
            self._structural()
        self.outcomes.sort(key=lambda outcome: self.names.index(outcome.name))

    def _read(self, examples: Sentences) -> tuple[list[EncodedSentence], int]:
        """Every sentence, those of the test file last, numbered anew; and how many that file gave."""
        values, given = list(examples), []
        if source := self.others.get("dev"):
            other = Sentences(source, self.model.tokens, replace(self.settings, limit=None))
            reading = Reading()
            given = list(other.read(reading))
            for reason, entry in reading.skipped.reasons.items():
                self.skipped.reasons[f"in the test file: {reason}"] = entry
        return [replace(encoded, number=i) for i, encoded in enumerate([*values, *given])], len(given)

    def _offsets(self) -> None:
        best = best_offset([self.sentences[i] for i in self.parts.train.tolist()])
        self.about["best_offset"] = best
        for name, guess in (("right-branching", right_branching), ("best-offset", partial(at_offset, offset=best))):
            if name in self.names:
                guessed = {i: guess(len(self.sentences[i])) for i in self.parts.test.tolist()}
                self.outcomes.append(Outcome(name, "UAS", self.gold.right(guessed), self.gold.counted, guessed=guessed))

    def _vectors(self, wanted: bool) -> None:
        """Rows and matrix; in corrected mode scaled to a mean square of 1, so that one rate serves every model."""
        names = sorted({word for sentence in self.sentences for word in sentence.words})
        self.progress.start("Reading word vectors")
        row, matrix, name = word_vectors(self.model, names, self.others.get("vectors") if wanted else None)
        scaled = len(matrix) > 1 and not self.settings.paper
        scale = np.sqrt(np.square(matrix[1:], dtype=np.float64).mean()) if scaled else 1.0
        self.vectors = torch.from_numpy((matrix / scale).astype(np.float32)).to(self.model.device)
        self.rows = [np.array([row[word] for word in sentence.words]) for sentence in self.sentences]
        unknown = np.mean(np.concatenate(self.rows) == 0)
        self.about["vectors"] = {"name": name, "dimension": matrix.shape[1], "unknown_words": float(unknown)}

    def _mapped(self, features: Features, names: list[str]) -> None:
        """The probes on the trained network, and then on networks drawn afresh."""
        for name in names:
            if _kind(name) == "distances-and-words":
                self._add(name, [self._fit(features, name)])
        trained = [name for name in names if name.startswith("attention")]
        if trained:
            self._fill(features, self.model, "Computing maps")
        for name in trained:
            fitted = self._fit(features, name)
            self._add(name, [fitted])
            if name == "attention-only":
                self._look_into(features, fitted)
            elif name == "attention-and-words":
                self._keep_pairs(fitted.probe)
        drawn: dict[str, list[Fitted]] = {name: [] for name in names if name.startswith(RANDOM)}
        for seed in range(self.plan.seeds if drawn else 0):
            fresh = redrawn(self.model, self.settings.seed + seed)
            self._fill(features, fresh, f"Computing maps of random layers {seed + 1}")
            for name, probes in drawn.items():
                probes.append(self._fit(features, name))
        for name, probes in drawn.items():
            self._add(name, probes)

    def _fill(self, features: Features, model: AttentionModel, stage: str) -> None:
        started = time.monotonic()
        self.progress.start(stage, len(self.encoded), "sentences")
        features.fill(model, self.encoded, self.progress, self.batch_tokens, self.settings.paper)
        self.about.setdefault("map_seconds", time.monotonic() - started)

    def _fit(self, features: Features, name: str, governors: Sequence[np.ndarray] | None = None) -> Fitted:
        kind = _kind(name)
        train, validation, test = (
            Data(features, part, self.model.device, governors)
            for part in (self.parts.train, self.parts.validation, self.parts.test)
        )
        text = name if governors is None else "the control task"
        started = time.monotonic()
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(self.settings.seed)
            probe = self._probe(kind, name.endswith(AS_RELEASED)).to(self.model.device)
        if kind == "attention-only" and self.plan.optimizer == "lbfgs" and not self.settings.paper:
            curve = fit_lbfgs(probe, train, validation, self.progress, text)
        else:
            curve = fit_adam(probe, train, validation, self._schedule(kind), self.progress, text)
        seconds = time.monotonic() - started
        self.progress.start(f"Scoring {text}")
        return Fitted(probe, guesses(probe, test, self.plan.decode, self.progress), curve, seconds)

    def _probe(self, kind: str, misaligned: bool = False) -> Probe:
        if kind == "attention-only":
            return AttentionOnly(self.probe_settings)
        probe_settings = replace(self.probe_settings, misaligned_root=misaligned)
        return (AttentionAndWords if kind == "attention-and-words" else DistancesAndWords)(probe_settings, self.vectors)

    def _schedule(self, kind: str) -> Schedule:
        if self.settings.paper and kind != "structural":
            return Schedule(self.plan.epochs or 1, PAPER_RATE, singly=True, seed=self.settings.seed)
        usual = SCHEDULES[kind]
        return replace(usual, epochs=self.plan.epochs or usual.epochs, seed=self.settings.seed)

    def _add(self, name: str, fitted: list[Fitted]) -> None:
        """Seeds are averaged; parameters and seconds are those of one."""
        right = np.mean([self.gold.right(one.guesses) for one in fitted], axis=0)
        seconds = float(np.mean([one.seconds for one in fitted]))
        first = fitted[0]
        size, curve = first.probe.size(), first.curve.to_json()
        self.outcomes.append(Outcome(name, "UAS", right, self.gold.counted, size, seconds, curve, first.guesses))

    def _look_into(self, features: Features, fitted: Fitted) -> None:
        """Weights of every head, and selectivity: the score less that of the same probe on the control task."""
        shape = (-1, self.model.layers, self.model.heads)
        values = {name: value.detach().cpu().numpy() for name, value in fitted.probe.named_parameters()}
        self.attention = values["weights"].reshape(shape)
        self.root = values["root"].reshape(shape) if "root" in values else self.root
        targets = control_governors([sentence.words for sentence in self.sentences], self.settings.seed)
        control = self._fit(features, "attention-only", targets)
        found = [control.guesses[i] == targets[i] for i in self.parts.test.tolist()]
        accuracy = float(np.concatenate(found)[self.gold.counted].mean())
        self.about["control"] = {"accuracy": accuracy, "selectivity": self.outcomes[-1].score - accuracy}

    def _keep_pairs(self, probe: Any) -> None:
        """What says which weights a pair of words gets, for the most frequent words."""
        counted = Counter(word for sentence in self.sentences for word in sentence.words)
        names = [word for word, _ in counted.most_common(WORDS)]
        row = dict(zip((w for s in self.sentences for w in s.words), np.concatenate(self.rows).tolist(), strict=True))
        values = {name: value.detach().cpu().numpy() for name, value in probe.named_parameters()}
        weights = np.stack([values["governor.weight"], values["dependent.weight"]]).astype(np.float16)
        vectors = self.vectors.cpu().numpy()[[row[word] for word in names]].astype(np.float16)
        self.pairs = Pairs(names, vectors, weights, values["governor.bias"])

    def _structural(self) -> None:
        with structural.WordStates(self.model, self.encoded) as words:
            words.fill(self.progress, self.batch_tokens)
            self._fit_structural(words.states)

    def _fit_structural(self, states: list[np.ndarray]) -> None:
        trees = [structural.tree_distances(np.array(sentence.governors)) for sentence in self.sentences]
        layers, _, dimension = states[0].shape
        started = time.monotonic()
        rank = min(self.plan.rank, dimension)
        probe = structural.StructuralProbe(layers, dimension, rank, self.settings.seed).to(self.model.device)
        schedule, parts = self._schedule("structural"), self.parts
        curve = structural.fit(probe, states, trees, parts.train, parts.validation, schedule, self.progress)
        seconds = time.monotonic() - started
        self.progress.start("Scoring structural")
        counted = [not_punctuation(sentence) for sentence in self.sentences]
        chosen_on = self.parts.validation if len(self.parts.validation) else self.parts.train
        tried = structural.right_edges(structural.edges(probe, states, chosen_on, counted), self.sentences)
        found = structural.edges(probe, states, self.parts.test, counted)
        right = structural.right_edges(found, self.sentences)
        best = int(tried[:, GoldWords.of(self.sentences, chosen_on).edge].mean(1).argmax())
        self.layers = right[:, self.gold.edge].mean(1)
        self.about["structural"] = {"layer": best, "rank": rank}
        guessed = {i: trees_of[best] for i, trees_of in found.items()}
        parameters = dimension * rank
        self.outcomes.append(
            Outcome("structural", "UUAS", right[best], self.gold.edge, parameters, seconds, curve.to_json(), guessed)
        )


def _kind(name: str) -> str:
    """The probe that a row trains, whatever its network and its ROOT."""
    return name.removeprefix(RANDOM).removesuffix(AS_RELEASED)
