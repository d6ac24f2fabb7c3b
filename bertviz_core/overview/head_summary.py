"""What the stored results say of each head, side by side, and the heads that most clearly do one thing (Figures 1
and 5); nothing is computed from text here.

`results` maps the name of an analysis to its result, for whichever analyses of one model are stored.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import islice

import numpy as np
import pandas as pd

from bertviz_core.analyses.behaviors import BEHAVIORS, LINGUISTIC, OTHER, QUANTITIES, Thresholds, behaviors, linguistic
from bertviz_core.analyses.clustering.result import Clustering
from bertviz_core.analyses.dependency_heads.relations import NO_RELATION, RelationCounts
from bertviz_core.analyses.head_averages import HeadAverages, HeadColumn
from bertviz_core.analyses.registry import ANALYSES
from bertviz_core.analyses.results import Results, head_frame, result_of
from bertviz_core.heads import DirectedHead, Head, all_heads, highest, ranks

# behavior -> the analysis and the quantity that show it
SHOWN = {
    "next": ("surface_patterns", "next"),
    "previous": ("surface_patterns", "previous"),
    "to_sep": ("surface_patterns", "to_sep"),
    "to_punct": ("surface_patterns", "to_punct"),
    "broad": ("entropy", "entropy"),
}


@dataclass(frozen=True)
class Column:
    """One quantity of every head, from one analysis.

    Attributes:
        values: (layer, head), NaN where absent.
        baseline: What is reached without a model, and its name; NaN and "" where there is none.
    """

    analysis: str
    quantity: str
    values: np.ndarray
    baseline: float = float("nan")
    baseline_name: str = ""

    @property
    def spec(self) -> HeadColumn:
        """What the analysis says of the quantity."""
        return ANALYSES[self.analysis].column(self.quantity)


@dataclass(frozen=True)
class Relation:
    """How well one head finds one relation, in its better direction (0: dependent to head); fractions.

    Attributes:
        baseline: Of the best fixed offset, which is `offset`.
        n: Number of words.
        rank: From 1, among all heads.
    """

    name: str
    choice: DirectedHead
    accuracy: float
    baseline: float
    offset: int
    n: int
    rank: int


def columns(results: Results) -> list[Column]:
    """Every quantity of every head that the results have, in the order of the analyses."""
    return [
        Column(name, column.quantity, values, *(column.baseline(results[name]) if column.baseline else ()))
        for name, analysis in ANALYSES.items()
        if name in results
        for column in analysis.columns
        if column.overview and (values := column.read(results[name])) is not None
    ]


def behavior_labels(
    results: Results, thresholds: Thresholds, named: Mapping[str, str] | None = None
) -> np.ndarray | None:
    """(layer, head) names of behaviors; None where neither surface patterns nor entropy is stored.

    Definitions: docs/methods.md, section 9.

    Args:
        results: By analysis.
        thresholds: Above which a head has a behavior.
        named: Labels of the linguistic heads.
    """
    known: dict[str, np.ndarray] = {}
    for name in ("entropy", "surface_patterns"):
        if isinstance(result := results.get(name), HeadAverages):
            known |= {quantity: result[quantity] for quantity in QUANTITIES if quantity in result.present}
    return behaviors(known, thresholds, map(Head.parse, named or {})) if known else None


def relations(results: Results, head: Head, count: int = 3) -> list[Relation]:
    """The relations at which a head is the furthest above the best fixed offset, the furthest first."""
    if "dependency_heads" not in results:
        return []
    counts = result_of(results, RelationCounts)
    gain = counts.accuracy.max(0)[:, *head] - counts.offset_accuracy.max(0)
    rows = [row for row, name in enumerate(counts.relations) if name not in NO_RELATION]
    return [_relation(counts, row, head) for row in sorted(rows, key=lambda row: -gain[row])[:count]]


def relation_heads(counts: RelationCounts, count: int = 3) -> list[Relation]:
    """The best heads of the relations in which they are above the best fixed offset, the furthest above it on held-out
    text first."""
    each = (_relation(counts, row, counts.best_choice(counts.relations[row]).head) for row in counts.by_gain())
    return list(islice((relation for relation in each if relation.accuracy > relation.baseline), count))


def _relation(counts: RelationCounts, row: int, head: Head) -> Relation:
    accuracy, offsets = counts.accuracy[:, row], counts.offset_accuracy[:, row]
    return Relation(
        counts.relations[row],
        DirectedHead(int(accuracy[:, *head].argmax()), head),
        float(accuracy.max(0)[head]),
        float(offsets.max()),
        int(counts.offsets[offsets.argmax()]),
        int(counts.n[:, row].sum()),
        int(ranks(accuracy.max(0))[head]),
    )


def nearest(results: Results, head: Head, count: int = 3) -> list[tuple[Head, float]]:
    """The heads that attend most alike (section 6), with their divergences."""
    return result_of(results, Clustering).nearest(head, count) if "clustering" in results else []


def frame(results: Results, thresholds: Thresholds) -> pd.DataFrame:
    """A row for each head: what it does, a column for each quantity, the relation that it finds furthest above the best
    fixed offset, and the most similar heads."""
    known = columns(results)
    table = head_frame({ANALYSES[c.analysis].export_name(c.quantity): c.values for c in known})
    behavior = behavior_labels(results, thresholds, linguistic(results))
    if behavior is not None:
        table.insert(3, "behavior", behavior.reshape(-1))
    heads = all_heads(*known[0].values.shape)
    if "dependency_heads" in results:
        best = [[r.name for r in relations(results, head, 1) if r.accuracy > r.baseline] for head in heads]
        table["best_relation"] = ["".join(names) for names in best]
    if "clustering" in results:
        table["nearest"] = [" ".join(other.label() for other, _ in nearest(results, head)) for head in heads]
    return table


def behavior_counts(labels: np.ndarray) -> dict[str, int]:
    """Behavior -> how many heads have it, in the order of the legend, without those that none has."""
    order = [name for name in BEHAVIORS if name not in (OTHER, LINGUISTIC)] + [LINGUISTIC, OTHER]
    return {name: count for name in order if (count := int((labels == name).sum()))}


@dataclass(frozen=True)
class Segment:
    """One segment in which a head does something: its number from 0, its value, where it stands, its tokens."""

    number: int
    value: float
    where: str
    tokens: list[str]


@dataclass(frozen=True)
class ClearestHead:
    """The head with the highest document average of a quantity, and its segments, the highest value first."""

    behavior: str
    analysis: str
    quantity: str
    head: Head
    value: float
    segments: list[Segment]

    @property
    def text(self) -> str:
        """The value as it is shown."""
        return ANALYSES[self.analysis].column(self.quantity).text(self.value)


def clearest(results: Results) -> list[ClearestHead]:
    """An example of each behavior in SHOWN that the stored results can show."""
    examples = []
    for behavior, (analysis, quantity) in SHOWN.items():
        result = results.get(analysis)
        if isinstance(result, HeadAverages) and quantity in result.present:
            head = highest(result[quantity])
            value, own = float(result[quantity][head]), list(segments(result, quantity, head))
            examples.append(ClearestHead(behavior, analysis, quantity, head, value, own))
    return examples


def clearest_head(results: Results) -> Head | None:
    """The head with the largest share of attention of any behavior; without shares the broadest; None without both."""
    examples = clearest(results)
    shares = [example for example in examples if example.quantity != "entropy"] or examples
    return max(shares, key=lambda example: example.value).head if shares else None


def segments(result: HeadAverages, quantity: str, head: Head) -> Iterator[Segment]:
    """The segments in which a head's value is highest."""
    at = (result.quantities.index(quantity), *head)
    for number, value in zip(result.top[at].tolist(), result.top_values[at].tolist(), strict=True):
        if number >= 0:
            text = result.texts[str(number)]
            yield Segment(number, value, text["where"], text["tokens"])
