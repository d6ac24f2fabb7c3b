"""What a model's stored results say of each head, and the clearest head of each behavior (Figures 1 and 5)."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pandas as pd

from bertviz_core.analyses.base.averages import HeadAverages, HeadColumn
from bertviz_core.analyses.base.registry import ANALYSES
from bertviz_core.analyses.base.result import Results, head_frame, result_of
from bertviz_core.analyses.behaviors import BEHAVIORS, OTHER, QUANTITIES, Thresholds, behaviors, linguistic
from bertviz_core.analyses.clustering.result import Clustering
from bertviz_core.analyses.dependency_heads.guesses import COUNTED, DEFAULT_VIEW, DIRECTIONS, SIDES
from bertviz_core.analyses.dependency_heads.relations import NO_RELATION, RelationCounts
from bertviz_core.analyses.dependency_heads.result import DependencyHeads
from bertviz_core.analyses.dependency_heads.word_classes import WordClasses
from bertviz_core.analyses.surface_patterns.result import sinks
from bertviz_core.heads import DirectedHead, Head, all_heads, highest, ranks


@dataclass(frozen=True)
class Column:
    """One quantity of every head."""

    analysis: str
    quantity: str
    values: np.ndarray  # (layer, head), or NaN
    baseline: float = float("nan")
    baseline_name: str = ""  # empty without one

    @property
    def spec(self) -> HeadColumn:
        return ANALYSES[self.analysis].column(self.quantity)

    @cached_property
    def ranks(self) -> np.ndarray:
        return ranks(self.values)

    def rank(self, head: Head) -> str:
        return f"{self.ranks[head]} of {self.values.size}"


@dataclass(frozen=True)
class Relation:
    """How well a head finds a relation, in its better direction."""

    name: str
    choice: DirectedHead
    accuracy: float  # a fraction
    baseline: float  # of the best fixed offset
    offset: int
    n: int  # words that are counted
    rank: int  # from 1, among all heads
    counted: str = ""  # which words, as "governor earlier"; empty for all


def columns(results: Results) -> list[Column]:
    """Every quantity that the results have of the heads; where the first token is [CLS], only `to_cls`."""
    quantities = []
    for name, analysis in ANALYSES.items():
        if name not in results:
            continue
        result = results[name]
        is_cls = isinstance(result, HeadAverages) and "to_cls" in result
        for column in analysis.columns:
            values = column.read(result) if column.overview else None
            if values is not None and not (is_cls and column.quantity == "to_first"):
                baseline = column.baseline(result) if column.baseline else ()
                quantities.append(Column(name, column.quantity, values, *baseline))
    return quantities


def behavior_labels(results: Results) -> np.ndarray | None:
    """(layer, head) names of behaviors (docs/methods.md, section 9); None without surface patterns and entropy."""
    known: dict[str, np.ndarray] = {}
    for name in ("entropy", "surface_patterns"):
        result = results.get(name)
        if isinstance(result, HeadAverages):
            known |= {quantity: result[quantity] for quantity in QUANTITIES if quantity in result}
    if not known:
        return None
    heads = map(Head.parse, linguistic(results))
    return behaviors(known, Thresholds(), heads)


def behavior_counts(labels: np.ndarray) -> dict[str, int]:
    """Behavior -> how many heads have it, in the order of the legend, without behaviors of no head."""
    order = sorted(BEHAVIORS, key=lambda name: name == OTHER)
    counts = Counter(labels.flat)
    return {name: counts[name] for name in order if counts[name]}


def relations(results: Results, heads: Sequence[Head], count: int = 3) -> list[list[Relation]]:
    """For each of some heads the relations in which it is above the best fixed offset, the furthest above first."""
    if "dependency_heads" not in results:
        return [[] for _ in heads]
    counts = result_of(results, RelationCounts)
    better = counts.better
    accuracy, _, direction = better
    offsets = np.stack([counts.offset_accuracy(index).max(0) for index in range(len(DIRECTIONS))])
    gain = accuracy - offsets[direction, np.arange(len(accuracy))[:, None, None]]
    rows = np.array([row for row, name in enumerate(counts.relations) if name not in NO_RELATION], dtype=np.int64)
    order = rows[np.argsort(-gain[rows], axis=0, kind="stable")[:count]]  # (rank, layer, head)
    head_ranks = {row: ranks(accuracy[row]) for row in np.unique(order).tolist()}
    by_head = []
    for head in heads:
        above = [row for row in order[:, *head] if gain[row, *head] > 0]
        by_head.append([_relation(counts, better, row, head, head_ranks[row]) for row in above])
    return by_head


def relation_heads(counts: RelationCounts, count: int = 3) -> list[Relation]:
    """The best heads of the relations that they find, see `RelationCounts.above`, the clearest ones first."""
    better = counts.better
    best = counts.best()
    is_above = counts.above()
    found = [row for row in counts.by_gain() if is_above[row]][:count]
    heads = [(row, Head(*best[row, 1:].tolist())) for row in found]
    return [_relation(counts, better, row, head, ranks(better[0][row])) for row, head in heads]


def _relation(
    counts: RelationCounts, better: tuple[np.ndarray, ...], row: int, head: Head, head_ranks: np.ndarray
) -> Relation:
    accuracy, n, directions = (values[row][head] for values in better)
    direction = int(directions)
    offsets = counts.offset_accuracy(direction)[:, row]
    return Relation(
        counts.relations[row],
        DirectedHead(direction, head),
        float(accuracy),
        float(offsets.max()),
        int(counts.offsets[offsets.argmax()]),
        int(n),
        int(head_ranks[head]),
        COUNTED.format(SIDES[direction]) if counts.is_causal else "",
    )


def attends_to(results: Results, heads: Sequence[Head]) -> list[list[str]]:
    """For each head the part of speech and the relation whose words it attends to most beyond their share."""
    result = results.get("dependency_heads")
    if not isinstance(result, DependencyHeads):
        return [[] for _ in heads]
    classes = WordClasses(result)
    preferred = [classes.preferred(scheme, heads) for scheme in classes.schemes(DEFAULT_VIEW)]
    return [[text for text in of_head if text] for of_head in zip(*preferred, strict=True)]


def nearest(results: Results, head: Head) -> list[tuple[Head, float]]:
    """The most similar heads (section 6), with their divergences."""
    return result_of(results, Clustering).nearest(head, 3) if "clustering" in results else []


def frame(results: Results) -> pd.DataFrame:
    """A row for each head: its behavior, every quantity, its best relation, what it attends to, and similar heads."""
    known = columns(results)
    table = head_frame({ANALYSES[each.analysis].export_name(each.quantity): each.values for each in known})
    labels = behavior_labels(results)
    if labels is not None:
        table.insert(3, "behavior", labels.reshape(-1))
    heads = all_heads(*known[0].values.shape)
    if "dependency_heads" in results:
        best = relations(results, heads, 1)
        table["best_relation"] = ["".join(relation.name for relation in first) for first in best]
        table["attends_to"] = ["; ".join(texts) for texts in attends_to(results, heads)]
    if "clustering" in results:
        similar = ([other.label() for other, _ in nearest(results, head)] for head in heads)
        table["nearest"] = list(map(" ".join, similar))
    return table


@dataclass(frozen=True)
class Segment:
    """A segment with a high value of a head."""

    number: int  # from 0
    value: float
    where: str
    tokens: list[str]


@dataclass(frozen=True)
class ClearestHead:
    """The head with the highest document average of a quantity."""

    name: str  # what such heads do
    analysis: str
    quantity: str
    head: Head
    value: float
    segments: list[Segment]  # with the highest values of this head

    @property
    def text(self) -> str:
        return ANALYSES[self.analysis].column(self.quantity).text(self.value)


def clearest(results: Results) -> list[ClearestHead]:
    """The clearest head of each behavior that results are stored for; of the special tokens, of the sink alone."""
    examples: list[ClearestHead] = []
    for name in ("surface_patterns", "entropy"):
        result = results.get(name)
        if not isinstance(result, HeadAverages):
            continue
        for quantity in ("next", "previous", *sinks(result)[:1], "to_punct", "entropy"):
            if quantity not in result:
                continue
            values = result[quantity]
            head = highest(values)
            short = ANALYSES[name].column(quantity).short
            role = "broad attention" if quantity == "entropy" else short.removeprefix("the ")
            top = segments(result, quantity, head)
            examples.append(ClearestHead(role, name, quantity, head, float(values[head]), top))
    return examples


def clearest_head(results: Results) -> Head | None:
    """The head with the largest share of attention of any behavior; without shares the broadest; None without both."""
    examples = clearest(results)
    shares = [example for example in examples if example.quantity != "entropy"] or examples
    return max(shares, key=lambda example: example.value).head if shares else None


def segments(result: HeadAverages, quantity: str, head: Head) -> list[Segment]:
    """The segments in which a head's value is highest, the highest first."""
    at = (result.quantities.index(quantity), *head)
    top = []
    for number, value in zip(result.top[at].tolist(), result.top_values[at].tolist(), strict=True):
        if number >= 0:
            text = result.texts[str(number)]
            top.append(Segment(number, value, text["where"], text["tokens"]))
    return top
