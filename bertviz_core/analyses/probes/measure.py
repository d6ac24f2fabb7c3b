"""Probes: how much syntax the maps of all heads hold together (section 5; Table 3). Definitions: methods, 8."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from bertviz_core.analyses.results import Result, to_lists
from bertviz_core.errors import SettingsError

if TYPE_CHECKING:
    import pandas as pd

    from bertviz_core.analyses.probes.probe_run import Study
    from bertviz_core.analyses.requests import Request
    from bertviz_core.engine.progress import Progress
    from bertviz_core.models.loading import AttentionModel
    from bertviz_core.models.sentences import Sentences

# The rows of Table 3 from the least to the most informed, with the control that the paper lacks.
PROBES = (
    "right-branching",
    "best-offset",
    "distances-and-words",
    "random-attention-and-words",
    "random-attention-only",
    "attention-only",
    "attention-and-words",
    "structural",
)
AS_RELEASED = "-as-released"  # ends the name of a row whose probe has the release's misaligned ROOT
DECODES = ("greedy", "mst")
OPTIMIZERS = ("lbfgs", "adam")
EXAMPLES = 100  # sentences of the test part that are kept, for people to look at


@dataclass(frozen=True, slots=True)
class Plan:
    """The analysis's own options.

    epochs: of Adam, at most; None for 5 (structural 20; mode "as in the paper" 1).   rank: of the structural map.
    misaligned_root: each probe with words has a second row, as released; mode "as in the paper" always has it.
    optimizer: of attention only.   seeds: networks drawn afresh for the random controls.
    """

    probes: tuple[str, ...] = PROBES
    epochs: int | None = None
    decode: str = "greedy"
    rank: int = 64
    misaligned_root: bool = False
    optimizer: str = "lbfgs"
    seeds: int = 3

    def rows(self, paper: bool) -> list[str]:
        """The names of the result's rows, those as released after their aligned ones."""
        endings = ("", AS_RELEASED) if paper or self.misaligned_root else ("",)
        return [name + ending for name in self.probes for ending in (endings if "words" in name else ("",))]

    def options(self) -> dict[str, Any]:
        """What differs from the defaults, for a request; raises SettingsError for what cannot be."""
        for name, value, allowed in (
            *(("probe", probe, PROBES) for probe in self.probes),
            ("decoding", self.decode, DECODES),
            ("optimizer", self.optimizer, OPTIMIZERS),
        ):
            if value not in allowed:
                raise SettingsError(f"There is no {name} {value!r}.", hint=f"Choose from {', '.join(allowed)}.")
        for name, number in (("epochs", self.epochs), ("rank", self.rank), ("seeds", self.seeds)):
            if number is not None and number < 1:
                raise SettingsError(f"{name.capitalize()} are below 1.", hint="Choose 1 or more.")
        ordered = [probe for probe in PROBES if probe in self.probes]
        values = {name: getattr(self, name) for name in self.__slots__} | {"probes": ordered}
        return {name: v for name, v in values.items() if v != (list(PROBES) if name == "probes" else _DEFAULT[name])}


_DEFAULT = {name: getattr(Plan(), name) for name in Plan.__slots__}


def plan_of(options: dict[str, Any]) -> Plan:
    """The inverse of `Plan.options`."""
    return Plan(**options | {"probes": tuple(options.get("probes", PROBES))})


@dataclass(frozen=True, slots=True)
class Probes(Result):
    """Scores of every probe on the test part. Axis `probe` is named by `probes`, in the order of PROBES.

    metrics: "UAS" (punctuation left out) or "UUAS".   score, low, high: (probe,) fractions, 95% bootstrap interval over
    sentences.   with_punctuation: (probe,) UAS over all words, NaN for UUAS.   parameters, seconds: (probe,) of one
    training.
    relations: names by falling number of words; relation_n, relation_right: (probe, relation) words and right ones.
    distances: (distance,) governor - word, cut at both ends, 0 for ROOT; distance_n, distance_right likewise.
    attention: (2, layer, head) attention only's weights, governor -> dependent first.   root: (4, layer, head), those
    on A[j,CLS], A[CLS,j], A[j,SEP], A[SEP,j].   layers: (layer,) UUAS by layer, embeddings first.
    words, vectors: the most frequent words, and their vectors (word, dimension).   pair_weights: (2, 2, layer, head,
    dimension) of attention and words: read with the governor's vector, then the dependent's; for attention governor ->
    dependent, then back.   pair_bias: (2, layer, head).
    curves: probe -> train_loss, validation_loss (nats a word) and seconds after each epoch or iteration.
    about: parts, word vectors, control task, best offset, best layer.
    sentences: the first ones of the test part, with every probe's guesses (the structural probe's edges).
    """

    analysis: ClassVar[str] = "probes"
    probes: list[str]
    metrics: list[str]
    score: np.ndarray
    low: np.ndarray
    high: np.ndarray
    with_punctuation: np.ndarray
    parameters: np.ndarray
    seconds: np.ndarray
    relations: list[str]
    relation_n: np.ndarray
    relation_right: np.ndarray
    distances: np.ndarray
    distance_n: np.ndarray
    distance_right: np.ndarray
    attention: np.ndarray
    root: np.ndarray
    layers: np.ndarray
    words: list[str]
    vectors: np.ndarray
    pair_weights: np.ndarray
    pair_bias: np.ndarray
    curves: dict[str, Any]
    about: dict[str, Any]
    sentences: list[dict[str, Any]]

    def of(self, probe: str) -> float:
        """A probe's score; NaN where it was not asked for."""
        return float(self.score[self.probes.index(probe)]) if probe in self.probes else float("nan")

    def of_pair(self, governor: str, dependent: str) -> np.ndarray:
        """(2, layer, head) the weights that attention and words gives this pair: governor -> dependent, then back.

        Raises KeyError for a word whose vector is not kept.
        """
        places = [self._place(word) for word in (governor, dependent)]
        pair = self.vectors[places].astype(np.float32)
        return np.einsum("rslhd,rd->slh", self.pair_weights.astype(np.float32), pair) + self.pair_bias

    def _place(self, word: str) -> int:
        for form in (word, word.lower()):
            if form in self.words:
                return self.words.index(form)
        raise KeyError(word)

    def arrays(self) -> dict[str, Any]:
        names = ("relation_n", "relation_right", "distance_n", "distance_right", "attention", "root", "layers")
        held = {name: to_lists(getattr(self, name)) for name in names}
        return held | {
            "probes": self.probes,
            "relations": self.relations,
            "distances": self.distances.tolist(),
            "curves": _without_nan(self.curves),
            "about": self.about,
        }

    def to_frame(self) -> pd.DataFrame:
        """A row for each probe."""
        import pandas as pd

        names = ("score", "low", "high", "with_punctuation", "parameters", "seconds")
        columns = {name: getattr(self, name) for name in names}
        return pd.DataFrame({"probe": self.probes, "metric": self.metrics} | columns)


def accumulator(model: AttentionModel, request: Request) -> Study:
    """The whole work, not yet begun."""
    from bertviz_core.analyses.probes.probe_run import Study

    return Study(model, request.settings, plan_of(request.options), request.others)


def run(
    model: AttentionModel,
    examples: Sentences,
    accumulators: Sequence[Study],
    progress: Progress,
    batch_tokens: int | None = None,
) -> None:
    """In place of the engine's one pass: a pass for each network, and the trainings between them."""
    for study in accumulators:
        study.run(examples, progress, batch_tokens)


def finish(study: Study, examples: Sentences, provenance: dict[str, Any]) -> Probes:
    gold, outcomes, seed = study.gold, study.outcomes, study.settings.seed
    relations, by_relation = np.unique(gold.relation, return_inverse=True)
    order = np.argsort(-np.bincount(by_relation), kind="stable")
    distances, by_distance = np.unique(gold.distance, return_inverse=True)
    heads = (study.model.layers, study.model.heads)
    intervals = np.array([outcome.interval(gold, seed) for outcome in outcomes]).reshape(-1, 2)

    def counts(of: np.ndarray, right: bool) -> np.ndarray:
        """(probe, class)."""
        weights = [outcome.counted * (outcome.right if right else 1.0) for outcome in outcomes]
        return np.array([np.bincount(of, weight, of.max() + 1) for weight in weights])

    return Probes(
        provenance=provenance,
        probes=[outcome.name for outcome in outcomes],
        metrics=[outcome.metric for outcome in outcomes],
        score=np.array([outcome.score for outcome in outcomes]),
        low=intervals[:, 0],
        high=intervals[:, 1],
        with_punctuation=np.array([outcome.with_punctuation for outcome in outcomes]),
        parameters=np.array([outcome.parameters for outcome in outcomes]),
        seconds=np.array([outcome.seconds for outcome in outcomes]),
        relations=relations[order].tolist(),
        relation_n=counts(by_relation, False)[:, order].astype(np.int64),
        relation_right=counts(by_relation, True)[:, order],
        distances=distances,
        distance_n=counts(by_distance, False).astype(np.int64),
        distance_right=counts(by_distance, True),
        attention=study.attention,
        root=study.root,
        layers=study.layers,
        words=study.pairs.names,
        vectors=study.pairs.vectors,
        pair_weights=study.pairs.weights.reshape(len(study.pairs.weights), 2, *heads, study.pairs.vectors.shape[1]),
        pair_bias=study.pairs.bias.reshape(-1, *heads),
        curves={outcome.name: outcome.curve for outcome in outcomes if outcome.curve},
        about=study.about,
        sentences=[_kept(study, i) for i in gold.indices[:EXAMPLES].tolist()],
    )


def _kept(study: Study, index: int) -> dict[str, Any]:
    sentence = study.sentences[index]
    guesses = {outcome.name: np.asarray(outcome.guessed[index]).tolist() for outcome in study.outcomes}
    return {
        "where": sentence.where,
        "words": list(sentence.words),
        "governors": list(sentence.governors),
        "relations": list(sentence.relations),
        "guesses": guesses,
    }


def _without_nan(curves: dict[str, Any]) -> dict[str, Any]:
    return {name: {k: to_lists(np.array(v, dtype=float)) for k, v in curve.items()} for name, curve in curves.items()}
