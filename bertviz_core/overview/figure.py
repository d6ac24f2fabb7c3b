"""The map of all heads colored by what they do, and one head's numbers from every analysis as rows."""

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from bertviz_core.corpora.treebank.glossary import meaning
from bertviz_core.heads import Head, all_heads, ranks
from bertviz_core.numbers import quantity
from bertviz_core.overview.head_summary import Column, Relation, behavior_counts
from bertviz_core.plotting.head_map import HeadMap, MarkerGroup
from bertviz_core.plotting.style import BEHAVIORS

DIRECTIONS = ("dependent → governor", "governor → dependent")


def behavior_map(
    labels: np.ndarray, columns: list[Column], named: Mapping[str, str], base: int = 1, shown: Iterable[str] = ()
) -> HeadMap:
    """The map of all heads by what they do.

    Args:
        labels: (layer, head) names of behaviors.
        columns: Quantities of the hover texts.
        named: Label of a linguistic head -> what it finds.
        base: Number of the first layer and head.
        shown: Behaviors in the legend, whether some head has them or not; by default those that some head has.
    """
    layers, heads = labels.shape
    hover = [_hover(labels[at], at, columns, named, base) for at in all_heads(layers, heads)]
    groups = []
    for behavior in shown or behavior_counts(labels):
        color, symbol, letter, name = BEHAVIORS[behavior]
        members = tuple(head.label() for head in all_heads(layers, heads) if labels[head] == behavior)
        groups.append(MarkerGroup(f"{name} ({len(members)})", color, symbol, letter, members, behavior == "other"))
    return HeadMap(tuple(hover), layers, heads, base, groups=tuple(groups))


def head_rows(columns: list[Column], head: Head) -> list[dict[str, str]]:
    """One row for each quantity: its value, beside it the baseline where there is one, and its rank."""
    return [
        {
            "quantity": column.spec.label,
            "value": column.spec.text(column.values[head]),
            "rank": f"{ranks(column.values)[head]} of {column.values.size}",
            "baseline": f"{column.spec.text(column.baseline)} ({column.baseline_name})" if column.baseline_name else "",
        }
        for column in columns
    ]


def relation_rows(relations: list[Relation], heads: int) -> list[dict[str, str]]:
    """One row for each relation: what the head reaches, what the best fixed offset does, and its rank."""
    return [
        {
            "relation": relation.name,
            "meaning": meaning(relation.name),
            "found": f"{relation.accuracy:.1%}",
            "best offset": f"{relation.baseline:.1%} ({relation.offset:+d})",
            "rank": f"{relation.rank} of {heads}",
            "words": f"{relation.n:,}" + (f", {relation.counted}" if relation.counted else ""),
            "direction": DIRECTIONS[relation.choice.direction],
        }
        for relation in relations
    ]


def _hover(behavior: str, head: Head, columns: list[Column], named: Mapping[str, str], base: int) -> str:
    """Hover text of a head, as "8-10: [SEP]; attention to [SEP] 0.87, rank 3 of 48"."""
    name = named.get(head.label(), BEHAVIORS[behavior][-1])
    shows: Any = {"broad": "entropy", "other": "entropy"}.get(behavior, behavior)
    column = next((c for c in columns if c.quantity == shows and c.analysis in ("surface_patterns", "entropy")), None)
    if column is None:
        return f"{head.label(base)}: {name}"
    value = quantity(column.spec.label, column.spec.text(column.values[head]))
    return f"{head.label(base)}: {name}; {value}, rank {ranks(column.values)[head]} of {column.values.size}"
