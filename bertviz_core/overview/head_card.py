"""Each head in a few words, beside the map of heads."""

from dataclasses import dataclass

from bertviz_core.analyses.behaviors import OTHER, Thresholds, linguistic
from bertviz_core.analyses.results import Results
from bertviz_core.heads import Head, all_heads, ranks
from bertviz_core.overview.head_summary import behavior_labels, columns, relations
from bertviz_core.plotting.style import BEHAVIORS

NONE = "no named behavior"


@dataclass(frozen=True)
class HeadCard:
    """One head in a few words.

    Attributes:
        title: The head.
        behavior: What it does.
        numbers: (quantity, value, rank as "3 of 72") of the quantities in which it ranks highest.
        relation: The relation that it is the furthest above the best fixed offset in; empty for none.
    """

    title: str
    behavior: str
    numbers: tuple[tuple[str, str, str], ...]
    relation: str


def head_cards(results: Results, thresholds: Thresholds, base: int, count: int = 3) -> tuple[HeadCard, ...]:
    """A card for each head, layer by layer."""
    named = linguistic(results)
    labels, quantities = behavior_labels(results, thresholds, named), columns(results)
    assert labels is not None, "surface patterns or entropy is stored"
    places = [ranks(column.values) for column in quantities]
    cards = []
    for head in all_heads(*labels.shape):
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
        cards.append(HeadCard(f"Head {head.label(base)}", behavior, numbers, _strongest(results, head)))
    return tuple(cards)


def _strongest(results: Results, head: Head) -> str:
    """The relation that a head finds best, against the best fixed offset."""
    best = next(iter(relations(results, head, 1)), None)
    if best is None:
        return ""
    return f"Strongest relation: {best.name}, {best.accuracy:.1%} of {best.n:,} (best fixed offset {best.baseline:.1%})"
