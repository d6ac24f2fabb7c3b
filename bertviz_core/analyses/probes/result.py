"""The result of the probes: Table 3 on one treebank."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Annotated, Any, ClassVar, Self, TypedDict

import numpy as np
import pandas as pd
from typing_extensions import Doc

from bertviz_core.analyses.base.result import Result, tidy, to_lists
from bertviz_core.analyses.base.statistics import share
from bertviz_core.analyses.base.view import View
from bertviz_core.analyses.dependency_heads.guesses import offset_name
from bertviz_core.analyses.probes.options import AS_RELEASED
from bertviz_core.choices import Formerly, Positive
from bertviz_core.corpora.language import is_english
from bertviz_core.heads import all_keys, highest
from bertviz_core.numbers import plural

ATTENTION_DIRECTIONS = ("governor->dependent", "dependent->governor")  # the first axis of `attention`
ROOT_DIRECTIONS = ("word->[CLS]", "[CLS]->word", "word->[SEP]", "[SEP]->word")  # the first axis of `root`
MIN_TRAINED = 1000  # sentences; on fewer a probe is trained too little for a finding
MAX_SENTENCES = 100  # sentences of the test part that are in the result, for people to read
CAUSAL = (
    "A token of this model sees only what comes earlier: of two words only the later one attends to the other, so that "
    "a probe reads an arc from one side, and nothing says in advance which. All words are scored."
)


@dataclass(frozen=True)
class ProbesView(View["Probes"]):
    """The probe whose trees are reported, and the head whose weights are."""

    probe: Annotated[str | None, Doc("The probe whose trees to report; default: attention-only.")] = None
    head: Annotated[str | None, Doc("The head to report, as 3-1; default: that of the largest weight.")] = None
    search: Annotated[
        str, Formerly("probe_search"), Doc("List sentences that have these words in sequence; * matches any ending.")
    ] = ""
    page: Annotated[Positive, Formerly("probe_page"), Doc("The page of the sentences that is drawn, from 1.")] = 1

    def offered(self, shown: "Probes") -> dict[str, Sequence[str]]:
        """The probes of the run."""
        return {"probe": shown.probes}

    def option_text(self, shown: "Probes", field: str, option: str) -> str:
        """A probe as Table 3 writes it."""
        return title(option, shown)

    def shape(self, shown: "Probes") -> tuple[int, int] | None:
        return shown.attention.shape[1:] if len(shown.attention) else None

    def resolve(self, shown: "Probes") -> Self:
        """By default attention-only, else the first probe; the head of the largest weight, if heads have weights."""
        default = "attention-only" if "attention-only" in shown.probes else shown.probes[0]
        weight = shown.weight()
        head = self.head_of() or (None if weight is None else highest(weight))
        probe = self.probe if self.probe in shown.probes else default
        return replace(self, probe=probe, head=head.key() if head and weight is not None else None)

    def reported(self, shown: "Probes") -> dict[str, Any]:
        """The probe, the head, and of the list of sentences what is not its default."""
        defaults = {"search": "", "page": 1}
        return {name: value for name, value in super().reported(shown).items() if value != defaults.get(name)}


class SentenceRecord(TypedDict):
    """A sentence of the test part as results store it.

    Attributes:
        governors: The word that governs each word, from 1; 0 is the root.
        relations: The relation of each word to its governor.
        guesses: From each probe to the governor that it guesses for each word, 0 being ROOT; of the structural probe
            to the edges that it guesses, each as two words from 0.
    """

    where: str
    words: list[str]
    governors: list[int]
    relations: list[str]
    guesses: dict[str, list[Any]]


@dataclass(frozen=True)
class Probes(Result):
    """Scores of every probe on the test part. Axis `probe` is named by `probes`, in the order of PROBES.

    Attributes:
        probes: Name of each probe.
        metrics: (probe,) "UAS" (punctuation left out) or "UUAS".
        score: (probe,) shares of words (UUAS: of edges) that are right.
        low: (probe,) lower end of the 95% bootstrap interval over units.
        high: (probe,) upper end of that interval.
        with_punctuation: (probe,) UAS over all words, NaN for UUAS.
        parameters: (probe,) number of weights.
        seconds: (probe,) duration of one training.
        relations: Labels of the treebank by falling number of words.
        relation_n: (probe, relation) words.
        relation_right: (probe, relation) words whose governor is right, means over seeds.
        distances: (distance,) governor - word, in words, cut at both ends; 0 for ROOT.
        distance_n: (probe, distance) words.
        distance_right: (probe, distance) words whose governor is right, means over seeds.
        attention: (2, layer, head) weights of attention only, see ATTENTION_DIRECTIONS; (0, layer, head) without that
            probe.
        root: (4, layer, head) its weights for ROOT, see ROOT_DIRECTIONS; (0, layer, head) where it has none.
        layers: (layer,) UUAS of the structural probe by layer, embeddings first.
        about: Splits, units, length of trainings, word vectors, control task, best offset, best layer.
        sentences: The first ones of the test part, with every probe's guesses (the structural probe's edges).
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
    about: dict[str, Any]
    sentences: list[SentenceRecord]

    @property
    def restriction(self) -> str:
        return CAUSAL if self.provenance["model"]["causal"] else ""

    @cached_property
    def counts_as_paper(self) -> bool:
        """Whether the paper's numbers are of the same language, and of words that see all others."""
        words = (word for sentence in self.sentences for word in sentence["words"])
        return not self.provenance["model"]["causal"] and is_english(words)

    @property
    def is_paper(self) -> bool:
        """Whether it follows the release."""
        return bool(self.provenance["settings"]["mode"] == "paper")

    @property
    def is_demonstration(self) -> bool:
        """Whether the treebank is too small to train probes on."""
        return bool(self.about["sentences"]["train"] < MIN_TRAINED)

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

        def shares(axis: str, names: list[str] | list[int], n: np.ndarray, right: np.ndarray) -> pd.DataFrame:
            return tidy({"probe": self.probes, axis: names}, {"n": n, "right": right, "accuracy": share(right, n)})

        names = all_keys(*self.attention.shape[1:])
        weights = np.concatenate([self.attention, self.root]).reshape(-1, len(names))
        # In the mode of the paper ROOT has no weights of its own.
        ways = (*ATTENTION_DIRECTIONS, *ROOT_DIRECTIONS)[: len(weights)]
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


def title(probe: str, result: Probes | None = None) -> str:
    """A probe's name as Table 3 writes it; for a row of a result, what distinguishes it from the others."""
    if probe == "right-branching":
        return "Right-branching (last word to ROOT)"
    if probe == "best-offset" and result:
        return f"Best {offset_name(result.about['best_offset'])}"
    name = probe.removesuffix(AS_RELEASED).replace("-", " ").capitalize()
    if probe.endswith(AS_RELEASED):
        return f"{name}, as released"
    return f"{name}, aligned" if result and probe + AS_RELEASED in result.probes else name
