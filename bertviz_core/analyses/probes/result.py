"""The result of the probes: Table 3 on one treebank."""

from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, TypedDict

import numpy as np
import pandas as pd
from typing_extensions import Doc

from bertviz_core.analyses.base.request import View
from bertviz_core.analyses.base.result import Result, choosing, tidy, to_lists
from bertviz_core.analyses.base.statistics import share
from bertviz_core.corpora.language import is_english
from bertviz_core.errors import SettingsError
from bertviz_core.heads import Head, all_keys, highest
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
class ProbesView(View):
    """The probe whose trees are reported, and the head whose weights are."""

    probe: Annotated[str | None, Doc("The probe whose trees to report; default: attention-only.")] = None
    head: Annotated[str | None, Doc("The head to report, as 3-1; default: that of the largest weight.")] = None
    search: Annotated[str, Doc("List sentences that have these words in sequence; * matches any ending.")] = ""
    page: Annotated[int, Doc("The page of the sentences that is drawn, from 1.")] = 1

    def check(self) -> None:
        if self.page < 1:
            raise SettingsError(f"There is no page {self.page}.", hint="Pages count from 1.")

    def choose(self, result: Result) -> Result:
        """The result with these choices, or with those on which its page opens.

        Raises:
            SettingsError: The result has no such probe, or the model no such head.
        """
        assert isinstance(result, Probes)
        probe = self.probe or ("attention-only" if "attention-only" in result.probes else result.probes[0])
        if probe not in result.probes:
            hint = f"Choose one of {', '.join(result.probes)}."
            raise SettingsError(f"This run has no probe {probe!r}.", hint=hint)
        choices: dict[str, Any] = {"probe": probe}
        weight = result.weight()
        head = Head.parse(self.head) if self.head is not None else None if weight is None else highest(weight)
        if head is not None:
            head.check(*result.attention.shape[1:])
            choices["head"] = head.key()
        listed = {"search": self.search} if self.search.strip() else {}
        return choosing(result, **choices, **listed, **({"page": self.page} if self.page > 1 else {}))


class SentenceRecord(TypedDict):
    """A sentence of the test part as results store it.

    Attributes:
        where: Its location in the treebank.
        words: Its words.
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

    @property
    def counts_as_paper(self) -> bool:
        """Whether the paper's numbers are of the same language, and of words that see all others."""
        words = (word for sentence in self.sentences for word in sentence["words"])
        return not self.provenance["model"]["causal"] and is_english(words)

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
