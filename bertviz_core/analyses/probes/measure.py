"""All probes of one treebank: features once for each network, then every probe of the request (docs/methods.md, section
8)."""

import time
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import torch

from bertviz_core.analyses.base.corpus_run import RunStage
from bertviz_core.analyses.base.request import Request
from bertviz_core.analyses.base.result import Provenance
from bertviz_core.analyses.probes import probes, scoring, structural
from bertviz_core.analyses.probes.features import Group, ProbeInputs, reinitialized, word_vectors
from bertviz_core.analyses.probes.options import AS_RELEASED, ProbeOptions
from bertviz_core.analyses.probes.result import MAX_SENTENCES, Probes
from bertviz_core.analyses.probes.scoring import GoldWords, Outcome
from bertviz_core.analyses.probes.training import ITERATIONS, Data, Schedule, fit_adam, fit_lbfgs
from bertviz_core.corpora import Skipped
from bertviz_core.engine.progress import Progress
from bertviz_core.inputs.annotated_words import EncodedSentence, Sentences
from bertviz_core.inputs.encoded_corpus import Reading
from bertviz_core.models.model import AttentionModel

# Probes on maps or words, and their training
MAPPED: dict[str, tuple[Callable[..., probes.Probe], Schedule]] = {
    "attention-only": (probes.AttentionOnly, Schedule(rate=0.02, words=256)),
    "attention-and-words": (probes.AttentionAndWords, Schedule(rate=0.0005)),
    "distances-and-words": (probes.DistancesAndWords, Schedule(rate=0.002)),
}
STRUCTURAL = Schedule(rate=0.002)
PAPER = Schedule(1, 0.002, singly=True)
UNCHECKED = 20  # The most epochs where no sentences can be held out to check the loss: mode paper, tiny treebanks
RANDOM = "random-"


class ProbeRun:
    """All probes of one request, from reading the treebank to the outcomes.

    Attributes:
        others: Its further files by role: a test treebank, word vectors.
        names: Rows of Table 3 that are computed, in its order.
        outcomes: The scores of each row on the test part.
        about: What the result says about the trainings, its field `about`; each step adds to it.
        skipped: Sentences that are left out, besides those that the reading of the corpus left out.
        weights: The fields `attention`, `root` and `layers` of the result.
    """

    def __init__(self, model: AttentionModel, request: Request) -> None:
        self.model = model
        self.settings = request.settings
        self.others = request.others
        self.options = ProbeOptions(**request.options)
        self.names = self.options.rows(self.settings.paper)
        self.outcomes: list[Outcome] = []
        self.about: dict[str, Any] = {}
        self.skipped = Skipped()
        none = np.zeros((0, model.layers, model.heads))
        self.weights = {"attention": none, "root": none, "layers": np.zeros(0)}

    def run(
        self, examples: Sequence[EncodedSentence], run_stage: RunStage, progress: Progress, batch_tokens: int | None
    ) -> None:
        """Train and score every probe; after a cancel nothing is left.

        Args:
            examples: The sentences of the treebank.
            run_stage: Computes the maps of all sentences, in other processes where there are any.
            progress: Counts steps; raises Cancelled.
            batch_tokens: The most tokens of a batch; None for the model's default.
        """
        self.progress = progress
        self.run_stage = run_stage
        tested = self._test_file()
        self.encoded = [replace(encoded, number=i) for i, encoded in enumerate([*examples, *tested])]
        self.sentences = [encoded.sentence for encoded in self.encoded]
        early_stopping = not self.settings.paper
        self.splits = scoring.split(self.sentences, len(tested), self.settings.seed, early_stopping, self.skipped)
        units = np.array([encoded.document_number for encoded in self.encoded])
        self.gold = GoldWords(self.sentences, self.splits.test, units)
        self.about["sentences"] = {name: len(part) for name, part in self.splits._asdict().items()}
        is_unit = all(self.encoded[i].is_unit for i in self.splits.test.tolist())
        self.about["units"] = {"test": self.gold.units, "unit": "sentences" if is_unit else "documents"}
        self.about["training"] = {}
        self._score_offsets()
        if mapped := [name for name in self.names if kind_of(name) in MAPPED]:
            self._train_mapped(mapped)
        if "structural" in self.names:
            self._train_structural(batch_tokens)
        self.outcomes.sort(key=lambda outcome: self.names.index(outcome.name))

    def _test_file(self) -> list[EncodedSentence]:
        """The sentences of the separate treebank to score on, where one was given; raises InputError without any."""
        if "dev" not in self.others:
            return []
        reading = Reading()
        sentences = Sentences(self.others["dev"], self.model.tokens, replace(self.settings, limit=None))
        tested = list(sentences.read(reading))
        if not tested:
            what = "No sentence of the test file can be scored."
            raise self.others["dev"].error(what, "Choose a larger maximum length, or another file.")
        for reason, entry in reading.skipped.reasons.items():
            self.skipped.reasons[f"in the test file: {reason}"] = entry
        return tested

    def _score_offsets(self) -> None:
        """The baselines: the word to the right, ROOT for the last word; and the best fixed offset."""
        best = scoring.best_offset([self.sentences[i] for i in self.splits.train.tolist()])
        self.about["best_offset"] = best
        sizes = {i: len(self.sentences[i]) for i in self.splits.test.tolist()}
        branching = {i: np.append(np.arange(2, size + 1), 0) for i, size in sizes.items()}
        at_best = {i: scoring.at_offset(size, best) for i, size in sizes.items()}
        for name, guessed in (("right-branching", branching), ("best-offset", at_best)):
            if name in self.names:
                self.outcomes.append(
                    Outcome(
                        name=name,
                        metric="UAS",
                        right=self.gold.right(guessed),
                        counted=self.gold.counted,
                        guessed=guessed,
                    )
                )

    def _train_mapped(self, names: list[str]) -> None:
        """The probes of distances, those on the trained network, and those on networks re-initialized at random."""
        features = ProbeInputs(self.sentences, self._word_rows(names), self.model.layers * self.model.heads)
        outcomes = defaultdict(list)
        first = self.settings.seed
        for seed in (None, *range(first, first + self.options.seeds)):
            is_random = seed is not None
            on_network = [name for name in names if name.startswith(RANDOM) == is_random]
            if any("attention" in name for name in on_network):
                stage = "Computing maps" if seed is None else f"Computing maps of random layers {seed - first + 1}"
                self.run_stage({"maps": seed}, self.encoded, features.take, stage)
            for name in on_network:
                outcome, probe = self._fit(features.groups, name)
                outcomes[name].append(outcome)
                if name == "attention-only":
                    self._add_weights(probe)
                    self._add_selectivity(features, outcome)
        for name in names:  # Scores are means over seeds; parameters and guesses are those of the first seed.
            right = np.mean([outcome.right for outcome in outcomes[name]], axis=0)
            seconds = float(np.mean([outcome.seconds for outcome in outcomes[name]]))
            self.outcomes.append(replace(outcomes[name][0], right=right, seconds=seconds))

    def _word_rows(self, names: list[str]) -> list[np.ndarray]:
        """(word,) rows of the words' vectors, of each sentence; a file is read only if a probe needs it."""
        words = sorted({word for sentence in self.sentences for word in sentence.words})
        self.progress.start("Reading word vectors")
        source = self.others.get("vectors") if any("words" in name for name in names) else None
        row, vectors, name = word_vectors(self.model, words, source, scaled=not self.settings.paper)
        self.vectors = torch.from_numpy(vectors).to(self.model.device)
        rows = [np.array([row[word] for word in sentence.words]) for sentence in self.sentences]
        unknown = float(np.mean(np.concatenate(rows) == 0))
        self.about["vectors"] = {"name": name, "dimension": vectors.shape[1], "unknown_words": unknown}
        return rows

    def _fit(self, groups: Sequence[Group], name: str, title: str = "") -> tuple[Outcome, probes.Probe]:
        """Train and score the probe of one row; the progress has its title."""
        text = title or name
        train, validation, test = (Data(groups, part, self.model.device) for part in self.splits)
        kind, schedule = MAPPED[kind_of(name)]
        paper = self.settings.paper
        started = time.monotonic()
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(self.settings.seed)
            heads = self.model.layers * self.model.heads
            probe = kind(heads, self.vectors, paper=paper, misaligned_root=name.endswith(AS_RELEASED))
        probe = probe.to(self.model.device)
        if kind is probes.AttentionOnly and self.options.optimizer == "lbfgs" and not paper:
            losses = fit_lbfgs(probe, train=train, validation=validation, progress=self.progress, name=text)
            self._add_training(text, len(losses), ITERATIONS, "iterations")
        else:
            schedule = self._with_options(PAPER if paper else schedule)
            losses = fit_adam(
                probe, train=train, validation=validation, schedule=schedule, progress=self.progress, name=text
            )
            self._add_training(text, len(losses), schedule.epochs, "epochs")
        seconds = time.monotonic() - started
        self.progress.start(f"Scoring {text}")
        guesses = scoring.guesses(probe, test, self.progress)
        size = sum(map(torch.numel, probe.parameters()))
        return Outcome(
            name=name,
            metric="UAS",
            right=self.gold.right(guesses),
            counted=self.gold.counted,
            guessed=guesses,
            parameters=size,
            seconds=seconds,
        ), probe

    def _add_training(self, name: str, length: int, maximum: int, unit: str) -> None:
        """Add how long a probe was trained; of several trainings the longest."""
        length = max(length, self.about["training"].get(name, {}).get("length", 0))
        self.about["training"][name] = {"length": length, "unit": unit, "reached_maximum": length >= maximum}

    def _with_options(self, schedule: Schedule) -> Schedule:
        """The schedule with the reader's maximum; without held-out sentences nothing else ends a training."""
        maximum = schedule.epochs if len(self.splits.validation) else min(schedule.epochs, UNCHECKED)
        return replace(schedule, epochs=self.options.epochs or maximum, seed=self.settings.seed)

    def _add_weights(self, probe: probes.Probe) -> None:
        """Add the weights of every head in the attention-only probe."""
        parameters = dict(probe.named_parameters())
        for field, name in (("attention", "weights"), ("root", "root")):
            if name in parameters:
                values = parameters[name].detach().cpu().numpy()
                self.weights[field] = values.reshape(-1, self.model.layers, self.model.heads)

    def _add_selectivity(self, features: ProbeInputs, outcome: Outcome) -> None:
        """Add the score minus that of the same probe on the control task."""
        targets = scoring.control_governors([sentence.words for sentence in self.sentences], self.settings.seed)
        memorized = [replace(each, governors=np.stack([targets[i] for i in each.indices])) for each in features.groups]
        control, _ = self._fit(memorized, "attention-only", "the control task")
        hits = np.concatenate([control.guessed[i] == targets[i] for i in self.gold.indices.tolist()])
        accuracy = float(hits[self.gold.counted].mean())
        self.about["control"] = {"accuracy": accuracy, "selectivity": outcome.score - accuracy}

    def _train_structural(self, batch_tokens: int | None) -> None:
        """The structural probe of every layer; the outcome is that of the layer best on the validation part."""
        states = structural.word_states(self.model, self.encoded, self.progress, batch_tokens)
        trees = [structural.tree_distances(sentence.governors) for sentence in self.sentences]
        layers, _, dimension = states[0].shape
        started = time.monotonic()
        rank = min(self.options.rank, dimension)
        probe = structural.StructuralProbe(layers, dimension, rank, self.settings.seed).to(self.model.device)
        train, validation, test = self.splits
        schedule = self._with_options(STRUCTURAL)
        losses = structural.fit(probe, states, trees, train, validation, schedule, self.progress)
        self._add_training("structural", len(losses), schedule.epochs, "epochs")
        seconds = time.monotonic() - started
        self.progress.start("Scoring structural")
        counted = [scoring.not_punctuation(sentence) for sentence in self.sentences]
        chosen_on = validation if len(validation) else train
        found = structural.spanning_trees(probe, states, chosen_on, counted)
        right = structural.right_edges(found, self.sentences)
        best = int(right[:, GoldWords(self.sentences, chosen_on).edge].mean(1).argmax())
        found = structural.spanning_trees(probe, states, test, counted)
        right = structural.right_edges(found, self.sentences)
        edge = self.gold.edge
        guessed = {i: layers[best] for i, layers in found.items()}
        self.outcomes.append(
            Outcome(
                name="structural",
                metric="UUAS",
                right=right[best],
                counted=edge,
                guessed=guessed,
                parameters=dimension * rank,
                seconds=seconds,
            )
        )
        self.about["structural"] = {"layer": best, "rank": rank}
        self.weights["layers"] = right[:, edge].mean(1)


def kind_of(name: str) -> str:
    """The kind of probe that a row trains, without the network and the treatment of ROOT."""
    return name.removeprefix(RANDOM).removesuffix(AS_RELEASED)


def model_of(model: AttentionModel, request: Request) -> AttentionModel:
    """The model that computes the maps of a part: the given one, or one with randomly re-initialized layers."""
    seed = request.options["maps"]
    return model if seed is None else reinitialized(model, seed)


def finish(probe_run: ProbeRun, examples: Any, provenance: Provenance) -> Probes:
    """Create the result: scores of each probe with their intervals, and counts by relation and by distance.

    Args:
        probe_run: A finished run.
        examples: The treebank as it was read.
        provenance: What the result was computed from.
    """
    gold = probe_run.gold
    outcomes = probe_run.outcomes
    relations, by_relation = np.unique(gold.relation, return_inverse=True)
    order = np.argsort(-np.bincount(by_relation), kind="stable")
    distances, by_distance = np.unique(gold.distance, return_inverse=True)
    intervals = np.array([outcome.interval(gold, probe_run.settings.seed) for outcome in outcomes]).reshape(-1, 2)
    columns = ("score", "with_punctuation", "parameters", "seconds")
    n = [outcome.counted.astype(float) for outcome in outcomes]
    right = [outcome.counted * outcome.right for outcome in outcomes]

    def counts(weights: list[np.ndarray], classes: np.ndarray) -> np.ndarray:
        """(probe, class) sums over the words of each class."""
        return np.array([np.bincount(classes, each, classes.max() + 1) for each in weights])

    first = gold.indices[:MAX_SENTENCES]
    return Probes(
        provenance=provenance,
        probes=[outcome.name for outcome in outcomes],
        metrics=[outcome.metric for outcome in outcomes],
        **{name: np.array([getattr(outcome, name) for outcome in outcomes]) for name in columns},
        low=intervals[:, 0],
        high=intervals[:, 1],
        relations=relations[order].tolist(),
        relation_n=counts(n, by_relation)[:, order].astype(np.int64),
        relation_right=counts(right, by_relation)[:, order],
        distances=distances,
        distance_n=counts(n, by_distance).astype(np.int64),
        distance_right=counts(right, by_distance),
        **probe_run.weights,
        about=probe_run.about,
        sentences=[scoring.sentence_record(i, probe_run.sentences[i], outcomes) for i in first.tolist()],
    )
