"""The options of the probes, and their result: Table 3 on one treebank."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, ClassVar

import numpy as np
import pandas as pd
from typing_extensions import Doc

from bertviz_core.analyses.base.request import Options
from bertviz_core.analyses.base.result import Result, tidy, to_lists
from bertviz_core.analyses.base.statistics import share
from bertviz_core.errors import SettingsError
from bertviz_core.heads import all_labels
from bertviz_core.numbers import plural

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
OPTIMIZERS = ("lbfgs", "adam")
EPOCHS = 200  # of Adam, at most
ATTENTION_DIRECTIONS = ("governor->dependent", "dependent->governor")  # of `attention`
ROOT_DIRECTIONS = ("word->[CLS]", "[CLS]->word", "word->[SEP]", "[SEP]->word")  # of `root`
MAX_SENTENCES = 100  # of the test part that are in the result, for people to look at


@dataclass(frozen=True)
class ProbeOptions(Options):
    """Options of the training and scoring of probes."""

    probes: Annotated[tuple[str, ...], Doc("Probes to train, separated by commas.")] = PROBES
    epochs: Annotated[int | None, Doc("Maximum epochs of Adam (200; mode paper: 1).")] = None
    rank: Annotated[int, Doc("Rank of the structural probe.")] = 64
    optimizer: Annotated[str, Doc("Optimizer of attention-only: lbfgs or adam.")] = "lbfgs"
    seeds: Annotated[int, Doc("Number of random networks for the controls.")] = 3
    dev: Annotated[Path | None, Doc("Treebank to score on; default: a held-out part of the input.")] = None
    vectors: Annotated[Path | None, Doc("Word vectors in GloVe format; default: the model's.")] = None

    def rows(self, paper: bool) -> list[str]:
        """The names of the result's rows: in mode paper each probe with words is also scored as released."""
        names = []
        for probe in self.probes:
            names.append(probe)
            if paper and "words" in probe:
                names.append(probe + AS_RELEASED)
        return names

    def check(self) -> None:
        named = [("probe", probe, PROBES) for probe in self.probes]
        for name, value, allowed in (*named, ("optimizer", self.optimizer, OPTIMIZERS)):
            if value not in allowed:
                raise SettingsError(f"There is no {name} {value!r}.", hint=f"Choose from {', '.join(allowed)}.")
        for name, number in (("epochs", self.epochs), ("rank", self.rank), ("seeds", self.seeds)):
            if number is not None and number < 1:
                raise SettingsError(f"--{name} is below 1.", hint="Choose 1 or more.")

    def to_json(self) -> dict[str, Any]:
        """In the order of the table, however the probes were asked for."""
        values = super().to_json() | {"probes": [probe for probe in PROBES if probe in self.probes]}
        if len(values["probes"]) == len(PROBES):
            del values["probes"]
        return values


CAUSAL = (
    "A token of this model sees only what comes earlier: of two words only the later one attends to the other, so that "
    "a probe reads an arc from one side, and nothing says in advance which. All words are scored."
)


@dataclass(frozen=True)
class Probes(Result):
    """Scores of every probe on the test part. Axis `probe` is named by `probes`, in the order of PROBES."""

    analysis: ClassVar[str] = "probes"
    probes: list[str]
    metrics: list[str]  # "UAS" (punctuation left out) or "UUAS"
    score: np.ndarray  # (probe,) fractions
    low: np.ndarray  # (probe,) the ends of the 95% bootstrap interval over units
    high: np.ndarray
    with_punctuation: np.ndarray  # (probe,) UAS over all words, NaN for UUAS
    parameters: np.ndarray  # (probe,) number of weights
    seconds: np.ndarray  # (probe,) of one training
    relations: list[str]  # by falling number of words
    relation_n: np.ndarray  # (probe, relation) words
    relation_right: np.ndarray
    distances: np.ndarray  # (distance,) governor - word, cut at both ends, 0 for ROOT
    distance_n: np.ndarray  # (probe, distance) words
    distance_right: np.ndarray
    attention: np.ndarray  # (2, layer, head) attention only's weights, see ATTENTION_DIRECTIONS
    root: np.ndarray  # (4, layer, head), see ROOT_DIRECTIONS
    layers: np.ndarray  # (layer,) UUAS by layer, embeddings first
    about: dict[str, Any]  # splits, units, length of trainings, word vectors, control task, best offset, best layer
    # The first ones of the test part, with every probe's guesses (the structural probe's edges)
    sentences: list[dict[str, Any]]

    @property
    def restriction(self) -> str:
        return CAUSAL if self.provenance["model"]["causal"] else ""

    def trained(self, probe: str) -> str:
        """How long a probe was trained, as "12 epochs"; empty for what is not trained."""
        if (training := self.about["training"].get(probe)) is None:
            return ""
        end = ", the maximum" if training["reached_maximum"] else ""
        return plural(training["length"], training["unit"]) + end

    def weight(self) -> np.ndarray | None:
        """(layer, head) weight of attention only in the better direction; None without that probe."""
        return self.attention.max(0) if len(self.attention) else None

    def tables(self) -> dict[str, pd.DataFrame]:
        """Scores by relation and by distance, weights of attention only, scores by layer."""

        def shares(axis: str, names: list[Any], n: np.ndarray, right: np.ndarray) -> pd.DataFrame:
            return tidy({"probe": self.probes, axis: names}, {"n": n, "right": right, "accuracy": share(right, n)})

        names = all_labels(*self.attention.shape[1:])
        weights = np.concatenate([self.attention, self.root]).reshape(-1, len(names))
        ways = (*ATTENTION_DIRECTIONS, *ROOT_DIRECTIONS)[: len(weights)]  # mode paper has no weights of ROOT's own
        return {
            "relations": shares("relation", self.relations, self.relation_n, self.relation_right),
            "distances": shares("distance", self.distances.tolist(), self.distance_n, self.distance_right),
            "weights": tidy({"weight": ways, "head": names}, {"value": weights}),
            "layers": tidy({"layer": list(range(len(self.layers)))}, {"UUAS": self.layers}),
        }

    def arrays(self) -> dict[str, Any]:
        names = ("relation_n", "relation_right", "distance_n", "distance_right", "attention", "root", "layers")
        arrays = {name: to_lists(getattr(self, name)) for name in names}
        axes = {"probes": self.probes, "relations": self.relations, "distances": self.distances.tolist()}
        return arrays | axes | {"about": self.about}

    def to_frame(self) -> pd.DataFrame:
        names = ("score", "low", "high", "with_punctuation", "parameters", "seconds")
        columns = {name: getattr(self, name) for name in names}
        trained = {"trained": list(map(self.trained, self.probes))}
        return pd.DataFrame({"probe": self.probes, "metric": self.metrics} | columns | trained)
