"""The map of all heads colored by what they do; one head's numbers from every analysis; short descriptions of heads."""

import json
from collections.abc import Iterable, Mapping

import numpy as np

from bertviz_core.analyses.behaviors import OTHER, Thresholds, linguistic
from bertviz_core.analyses.results import Results
from bertviz_core.corpora.treebank import meaning
from bertviz_core.heads import Head, all_heads, ranks
from bertviz_core.numbers import quantity
from bertviz_core.overview import (
    Column,
    Relation,
    attends_to,
    behavior_counts,
    behavior_labels,
    columns,
    relations,
)
from bertviz_core.plotting import BEHAVIORS
from bertviz_core.plotting.head_map import HeadMap, MarkerGroup

DIRECTIONS = ("dependent → governor", "governor → dependent")
NONE = "no named behavior"
ON_CARD = 3  # quantities: those in which a head ranks highest


def behavior_map(
    labels: np.ndarray, columns: list[Column], named: Mapping[str, str], base: int = 1, shown: Iterable[str] = ()
) -> HeadMap:
    """The map of all heads by what they do, from `labels` (layer, head), names of behaviors; `columns` are in hover
    texts, `named` says what linguistic heads find, and `shown` behaviors are in the legend, by default those that
    some head has."""
    layers, heads = labels.shape
    known = {c.quantity: c for c in columns if c.analysis in ("surface_patterns", "entropy")}
    head_ranks, hover = {name: ranks(column.values) for name, column in known.items()}, []
    for head in all_heads(layers, heads):
        behavior = str(labels[head])
        shows = "entropy" if behavior in ("broad", OTHER) else behavior
        text = f"{head.label(base)}: {named.get(head.label(), BEHAVIORS[behavior][-1])}"
        if column := known.get(shows):
            value = quantity(column.spec.label, column.spec.text(column.values[head]))
            text += f"; {value}, rank {head_ranks[shows][head]} of {column.values.size}"
        hover.append(text)
    groups = []
    for behavior in shown or behavior_counts(labels):
        color, symbol, letter, name = BEHAVIORS[behavior]
        members = tuple(head.label() for head in all_heads(layers, heads) if labels[head] == behavior)
        groups.append(MarkerGroup(f"{name} ({len(members)})", color, symbol, letter, members, behavior == OTHER))
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


def encoded_cards(results: Results, thresholds: Thresholds, base: int) -> bytes:
    """A card for each head, layer by layer, as JSON for the browser: what it does, its highest ranks, the relation
    that it is the furthest above the best fixed offset in, and what words it attends to beyond their share."""
    named = linguistic(results)
    labels, quantities = behavior_labels(results, thresholds, named), columns(results)
    assert labels is not None, "surface patterns or entropy is stored"
    ranked = [(column, ranks(column.values)) for column in quantities]
    heads, cards = all_heads(*labels.shape), []
    for head, strongest, words in zip(heads, relations(results, heads, 1), attends_to(results, heads), strict=True):
        first = sorted(ranked, key=lambda each: each[1][head])[:ON_CARD]
        found = ""
        if strongest:
            best = strongest[0]
            of = f"{best.n:,} with the {best.counted}" if best.counted else f"{best.n:,}"
            found = (
                f"Strongest relation: {best.name}, {best.accuracy:.1%} of {of} (best fixed offset {best.baseline:.1%})"
            )
        does = NONE if labels[head] == OTHER else BEHAVIORS[str(labels[head])][-1]
        cards.append(
            {
                "title": f"Head {head.label(base)}",
                "behavior": named.get(head.label()) or does,
                "numbers": [
                    (column.spec.label, column.spec.text(column.values[head]), f"{places[head]} of {labels.size}")
                    for column, places in first
                ],
                "relation": found,
                "attended": "".join(f"Attends to {text}" for text in words[:1]),
            }
        )
    return json.dumps({"cards": cards}).encode()
