"""The map of all heads colored by what they do; one head's numbers from every analysis; short descriptions of heads."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from bertviz_core.analyses.behaviors import OTHER, Thresholds, linguistic
from bertviz_core.analyses.results import Results
from bertviz_core.corpora.treebank import meaning
from bertviz_core.heads import Head, all_heads, ranks
from bertviz_core.numbers import quantity
from bertviz_core.overview.head_summary import (
    Column,
    Relation,
    attends_to,
    behavior_counts,
    behavior_labels,
    columns,
    relations,
)
from bertviz_core.plotting.head_map import HeadMap, MarkerGroup
from bertviz_core.plotting.style import BEHAVIORS

DIRECTIONS = ("dependent → governor", "governor → dependent")


def behavior_map(
    labels: np.ndarray, columns: list[Column], named: Mapping[str, str], base: int = 1, shown: Iterable[str] = ()
) -> HeadMap:
    """The map of all heads by what they do, from `labels` (layer, head), names of behaviors; `columns` are in hover
    texts, `named` says what linguistic heads find, and `shown` behaviors are in the legend, by default those that
    some head has."""
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


NONE = "no named behavior"


@dataclass(frozen=True)
class HeadCard:
    """One head in a few words.

    Attributes:
        title: The head.
        behavior: What it does.
        numbers: (quantity, value, rank as "3 of 72") of the quantities in which it ranks highest.
        relation: The relation that it is the furthest above the best fixed offset in; empty for none.
        attended: What words it attends to beyond their share; empty where that is not known.
    """

    title: str
    behavior: str
    numbers: tuple[tuple[str, str, str], ...]
    relation: str
    attended: str


def head_cards(results: Results, thresholds: Thresholds, base: int, count: int = 3) -> tuple[HeadCard, ...]:
    """A card for each head, layer by layer."""
    named = linguistic(results)
    labels, quantities = behavior_labels(results, thresholds, named), columns(results)
    assert labels is not None, "surface patterns or entropy is stored"
    places = [ranks(column.values) for column in quantities]
    heads, cards = all_heads(*labels.shape), []
    for head, strongest, words in zip(heads, relations(results, heads, 1), attends_to(results, heads), strict=True):
        first = sorted(range(len(quantities)), key=lambda number: places[number][head])[:count]
        numbers = tuple(
            (
                quantities[number].spec.label,
                quantities[number].spec.text(quantities[number].values[head]),
                f"{places[number][head]} of {labels.size}",
            )
            for number in first
        )
        behavior = named.get(head.label()) or (NONE if labels[head] == OTHER else BEHAVIORS[str(labels[head])][-1])
        attended = "".join(f"Attends to {text}" for text in words[:1])
        cards.append(HeadCard(f"Head {head.label(base)}", behavior, numbers, _strongest(strongest), attended))
    return tuple(cards)


def encoded_cards(results: Results, thresholds: Thresholds, base: int) -> bytes:
    """All cards as JSON, as the browser draws them."""
    return json.dumps({"cards": [vars(card) for card in head_cards(results, thresholds, base)]}).encode()


def _strongest(relations: list[Relation]) -> str:
    """The relation that a head finds best, against the best fixed offset."""
    if not relations:
        return ""
    best = relations[0]
    of = f"{best.n:,} with the {best.counted}" if best.counted else f"{best.n:,}"
    return f"Strongest relation: {best.name}, {best.accuracy:.1%} of {of} (best fixed offset {best.baseline:.1%})"
