"""Short descriptions of heads, shown beside the map of heads."""

from dataclasses import dataclass

from bertviz_core.analyses.behaviors import OTHER, Thresholds, linguistic
from bertviz_core.analyses.results import Results
from bertviz_core.heads import all_heads, ranks
from bertviz_core.overview.head_summary import Relation, attends_to, behavior_labels, columns, relations
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


def _strongest(relations: list[Relation]) -> str:
    """The relation that a head finds best, against the best fixed offset."""
    if not relations:
        return ""
    best = relations[0]
    of = f"{best.n:,} with the {best.counted}" if best.counted else f"{best.n:,}"
    return f"Strongest relation: {best.name}, {best.accuracy:.1%} of {of} (best fixed offset {best.baseline:.1%})"
