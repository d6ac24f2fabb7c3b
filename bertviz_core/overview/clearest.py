"""The heads that most clearly do one thing, and the segments in which they do it most (Figures 1 and 5)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from bertviz_core.analyses.dependency_heads.relations import RelationCounts
from bertviz_core.analyses.head_averages import HeadAverages
from bertviz_core.heads import Choice, Head, highest
from bertviz_core.overview.head_summary import Results

# behavior -> the analysis and the quantity that show it
SHOWN = {
    "next": ("surface_patterns", "next"),
    "previous": ("surface_patterns", "previous"),
    "to_sep": ("surface_patterns", "to_sep"),
    "to_punct": ("surface_patterns", "to_punct"),
    "broad": ("entropy", "entropy"),
}


@dataclass(frozen=True, slots=True)
class Segment:
    """One segment in which a head does something: its number from 0, its value, where it stands, its tokens."""

    number: int
    value: float
    where: str
    tokens: list[str]


@dataclass(frozen=True, slots=True)
class ClearestHead:
    """The head with the highest document average of a quantity, and its segments, the highest value first."""

    behavior: str
    analysis: str
    quantity: str
    head: Head
    value: float
    segments: list[Segment]


@dataclass(frozen=True, slots=True)
class RelationHead:
    """The best head of one relation, read in its better direction (0: dependent to head); fractions."""

    relation: str
    choice: Choice
    accuracy: float
    baseline: float


def clearest(results: Results) -> list[ClearestHead]:
    """An example of each behavior in SHOWN that the stored results can show."""
    return [
        _example(behavior, results[analysis], quantity)
        for behavior, (analysis, quantity) in SHOWN.items()
        if analysis in results and quantity in results[analysis].present
    ]


def clearest_head(results: Results) -> Head | None:
    """The head with the largest share of attention of any behavior; without shares the broadest; None without both."""
    examples = clearest(results)
    shares = [example for example in examples if example.quantity != "entropy"] or examples
    return max(shares, key=lambda example: example.value).head if shares else None


def relation_heads(result: RelationCounts, count: int = 3) -> list[RelationHead]:
    """The relations whose best head is above the best fixed offset, the furthest above it on held-out text first.

    Args:
        result: The counts of one view.
    """
    names, baseline, accuracy = result.relations, result.offset_accuracy.max(0), result.accuracy.max((0, 2, 3))
    rows = [row for row in result.by_gain() if accuracy[row] > baseline[row]][:count]
    return [
        RelationHead(names[row], result.best_choice(names[row]), float(accuracy[row]), float(baseline[row]))
        for row in rows
    ]


def segments(result: HeadAverages, quantity: str, head: Head) -> Iterator[Segment]:
    """The segments in which a head's value is highest."""
    at = (result.quantities.index(quantity), head.layer, head.head)
    for number, value in zip(result.top[at].tolist(), result.top_values[at].tolist(), strict=True):
        if number >= 0:
            text = result.texts[str(number)]
            yield Segment(number, value, text["where"], text["tokens"])


def _example(behavior: str, result: Any, quantity: str) -> ClearestHead:
    values = result[quantity]
    head = highest(values)
    value = float(values[head])
    return ClearestHead(behavior, result.analysis, quantity, head, value, list(segments(result, quantity, head)))
