"""All probes of one treebank: sentences, parts, features once for each network, then every probe that was asked for."""

import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from typing import Any

import numpy as np
import torch

from bertviz_core.analyses.probes import structural
from bertviz_core.analyses.probes.features import Features
from bertviz_core.analyses.probes.fitting import RANDOM, SCHEDULES, Fitted, Fitting, control_governors, kind_of, split
from bertviz_core.analyses.probes.result import ProbeOptions
from bertviz_core.analyses.probes.scoring import GoldWords, Outcome, at_offset, best_offset, right_branching
from bertviz_core.corpora.readers import read_vectors
from bertviz_core.corpora.skipped import Skipped
from bertviz_core.corpora.source import Source
from bertviz_core.engine.progress import Progress
from bertviz_core.models.annotated import EncodedSentence, Sentences
from bertviz_core.models.encoding import Encoded
from bertviz_core.models.model import AttentionModel
from bertviz_core.models.reading import Reading
from bertviz_core.settings import Settings

WORDS = 10_000  # whose vectors are kept with the result
# (options, examples, what takes the accumulator of each part, name of the stage): a pass in parts
StageFunction = Callable[[dict[str, Any], Sequence[Encoded], Callable[[Any], None], str], None]


@dataclass
class ProbeRun:
    """All probes of one request, from reading the treebank to the outcomes.

    Attributes:
        others: Further files, "dev" (a treebank to score on) and "vectors".
        about: Facts about the run, as JSON.
        weights: What the probes have learned, by the names of the fields of `result.Probes`.
    """

    model: AttentionModel
    settings: Settings
    options: ProbeOptions
    others: dict[str, Source]

    def __post_init__(self) -> None:
        self.outcomes: list[Outcome] = []
        self.about: dict[str, Any] = {}
        self.skipped = Skipped()  # beside what the reading of the corpus left out
        heads = (self.model.layers, self.model.heads)
        self.names = self.options.rows(self.settings.paper)
        shapes = {"attention": (0, *heads), "root": (0, *heads), "layers": (0,), "vectors": (0, 0)}
        shapes |= {"pair_weights": (0, 2, *heads, 0), "pair_bias": (0, *heads)}
        self.weights: dict[str, Any] = {name: np.zeros(shape) for name, shape in shapes.items()} | {"words": []}

    def run(
        self,
        examples: Sequence[EncodedSentence],
        run_stage: StageFunction,
        progress: Progress,
        batch_tokens: int | None,
    ) -> None:
        """Train and score every probe; after a cancel nothing is left."""
        self.progress, self.run_stage = progress, run_stage
        self.encoded, test_count = self._read(examples)
        self.sentences = [encoded.sentence for encoded in self.encoded]
        early_stopping = not self.settings.paper
        self.splits = split(self.sentences, test_count, self.settings.seed, early_stopping, self.skipped)
        self.gold = GoldWords.of(self.sentences, self.splits.test)
        common = self.model, self.settings, self.options, self.sentences, self.splits, progress
        self.fitting = Fitting(*common, vectors=torch.zeros(0, 0))
        self.about["sentences"] = {name: len(part) for name, part in self.splits._asdict().items()}
        self._offsets()
        mapped = [name for name in self.names if kind_of(name) in SCHEDULES and name != "structural"]
        if mapped:
            self._vectors(any("words" in name for name in mapped))
            self._mapped(Features(self.encoded, self.rows, self.model.layers * self.model.heads), mapped)
        if "structural" in self.options.probes:
            self._structural(batch_tokens)
        self.outcomes.sort(key=lambda outcome: self.names.index(outcome.name))

    def _read(self, examples: Sequence[EncodedSentence]) -> tuple[list[EncodedSentence], int]:
        """Every sentence, those of the test file last, renumbered; and how many that file gave."""
        test_file = []
        if source := self.others.get("dev"):
            other = Sentences(source, self.model.tokens, replace(self.settings, limit=None))
            reading = Reading()
            test_file = list(other.read(reading))
            for reason, entry in reading.skipped.reasons.items():
                self.skipped.reasons[f"in the test file: {reason}"] = entry
        return [replace(encoded, number=i) for i, encoded in enumerate([*examples, *test_file])], len(test_file)

    def _offsets(self) -> None:
        best = best_offset([self.sentences[i] for i in self.splits.train.tolist()])
        self.about["best_offset"] = best
        for name, guess in (("right-branching", right_branching), ("best-offset", partial(at_offset, offset=best))):
            if name in self.names:
                guessed = {i: guess(len(self.sentences[i])) for i in self.splits.test.tolist()}
                self.outcomes.append(Outcome(name, "UAS", self.gold.right(guessed), self.gold.counted, guessed=guessed))

    def _vectors(self, needed: bool) -> None:
        """Rows and matrix; in corrected mode scaled to a mean square of 1, so that one rate serves every model."""
        names = sorted({word for sentence in self.sentences for word in sentence.words})
        self.progress.start("Reading word vectors")
        self.row, matrix, name = word_vectors(self.model, names, self.others.get("vectors") if needed else None)
        scaled = len(matrix) > 1 and not self.settings.paper
        scale = np.sqrt(np.square(matrix[1:], dtype=np.float64).mean()) if scaled else 1.0
        scale = scale or 1.0  # embeddings may all be zero
        vectors = torch.from_numpy((matrix / scale).astype(np.float32)).to(self.model.device)
        self.fitting = replace(self.fitting, vectors=vectors)
        self.rows = [np.array([self.row[word] for word in sentence.words]) for sentence in self.sentences]
        unknown = np.mean(np.concatenate(self.rows) == 0)
        self.about["vectors"] = {"name": name, "dimension": matrix.shape[1], "unknown_words": float(unknown)}

    def _mapped(self, features: Features, names: list[str]) -> None:
        """The probes on the trained network, and then on networks re-initialized at random."""
        for name in names:
            if kind_of(name) == "distances-and-words":
                self._add(name, [self.fitting.fit(features, name)])
        trained = [name for name in names if name.startswith("attention")]
        drawn: dict[str, list[Fitted]] = {name: [] for name in names if name.startswith(RANDOM)}
        seeds: list[int | None] = [None] if trained else []
        seeds += range(self.settings.seed, self.settings.seed + self.options.seeds if drawn else 0)
        for seed in seeds:
            self._fill(features, seed)
            if seed is None:
                for name in trained:
                    self._trained(features, name)
            else:
                for name, probes in drawn.items():
                    probes.append(self.fitting.fit(features, name))
        for name, probes in drawn.items():
            self._add(name, probes)

    def _trained(self, features: Features, name: str) -> None:
        """A probe on the trained network, and what it has learned."""
        fitted = self.fitting.fit(features, name)
        self._add(name, [fitted])
        if name == "attention-only":
            self._look_into(features, fitted)
        elif name == "attention-and-words":
            self._keep_pairs(fitted.probe)

    def _fill(self, features: Features, seed: int | None) -> None:
        """The maps of one of the networks: the trained one has no seed."""
        stage = "Computing maps" + ("" if seed is None else f" of random layers {seed - self.settings.seed + 1}")
        started = time.monotonic()
        self.run_stage({"maps": seed}, self.encoded, features.take, stage)
        self.about.setdefault("map_seconds", time.monotonic() - started)

    def _add(self, name: str, fitted: list[Fitted]) -> None:
        """Add a probe's outcome, averaged over seeds; parameters and seconds are those of one seed."""
        right = np.mean([self.gold.right(each.guesses) for each in fitted], axis=0)
        seconds = float(np.mean([each.seconds for each in fitted]))
        first = fitted[0]
        size, curve = first.probe.size(), asdict(first.curve)
        self.outcomes.append(Outcome(name, "UAS", right, self.gold.counted, size, seconds, curve, first.guesses))

    def _look_into(self, features: Features, fitted: Fitted) -> None:
        """Weights of every head, and selectivity: the score minus that of the same probe on the control task."""
        shape = (-1, self.model.layers, self.model.heads)
        values = {name: value.detach().cpu().numpy() for name, value in fitted.probe.named_parameters()}
        names = {"weights": "attention", "root": "root"}
        self.weights |= {names[name]: value.reshape(shape) for name, value in values.items() if name in names}
        targets = control_governors([sentence.words for sentence in self.sentences], self.settings.seed)
        control = self.fitting.fit(features, "attention-only", targets)
        hits = [control.guesses[i] == targets[i] for i in self.splits.test.tolist()]
        accuracy = float(np.concatenate(hits)[self.gold.counted].mean())
        self.about["control"] = {"accuracy": accuracy, "selectivity": self.outcomes[-1].score - accuracy}

    def _keep_pairs(self, probe: Any) -> None:
        """Keep what determines the weights of a pair of words, for the most frequent words."""
        counted = Counter(word for sentence in self.sentences for word in sentence.words)
        names = [word for word, _ in counted.most_common(WORDS)]
        values = {name: value.detach().cpu().numpy() for name, value in probe.named_parameters()}
        weights = np.stack([values["governor.weight"], values["dependent.weight"]]).astype(np.float16)
        heads = (2, self.model.layers, self.model.heads)
        self.weights |= {
            "words": names,
            "vectors": self.fitting.vectors.cpu().numpy()[[self.row[word] for word in names]].astype(np.float16),
            "pair_weights": weights.reshape(2, *heads, -1),
            "pair_bias": values["governor.bias"].reshape(heads),
        }

    def _structural(self, batch_tokens: int | None) -> None:
        states = structural.word_states(self.model, self.encoded, self.progress, batch_tokens)
        outcome, layers, self.about["structural"] = self.fitting.fit_structural(states, self.gold)
        self.outcomes.append(outcome)
        self.weights["layers"] = layers


def word_vectors(
    model: AttentionModel, words: Sequence[str], source: Source | None
) -> tuple[dict[str, int], np.ndarray, str]:
    """The row of each word, the matrix and its name: from the file, else the model's input embeddings."""
    if source:
        read = read_vectors(source, set(words))
        return {word: read.row(word) for word in words}, read.matrix, source.name
    rows = {word: index for index, word in enumerate(words, start=1)}
    return rows, embeddings(model, words), "the model's input embeddings"


def embeddings(model: AttentionModel, words: Sequence[str]) -> np.ndarray:
    """(1 + word, dimension) the model's input embeddings, averaged over a word's pieces; row 0, zeros, for no word."""
    table = model.encoder.get_input_embeddings().weight.detach().float().cpu().numpy()
    pieces = [model.tokens.pieces(word) or [model.tokens.unknown] for word in words]
    return np.stack([np.zeros(table.shape[1]), *(table[ids].mean(0) for ids in pieces)])
