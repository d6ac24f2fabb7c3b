"""Sets of heads that are removed together: heads by name, or those that stored results name for a relation; and random
sets of the same layers (docs/methods.md, section 19)."""

from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import suppress
from itertools import chain, combinations, product
from math import comb, prod
from typing import Any, NamedTuple

import numpy as np

from bertviz_core.analyses.base.found_heads import ChosenHeads
from bertviz_core.analyses.base.registry import ANALYSES
from bertviz_core.analyses.base.request import FindStored
from bertviz_core.corpora.source import Source
from bertviz_core.errors import SettingsError
from bertviz_core.heads import Head

RELATIONS = "relations"  # the choice of the heads of every relation
DRAWS = 20  # random sets
BY_NAME = "Or name the heads, counted from 1, as in 3-1,4-2."


class HeadSet(NamedTuple):
    """Heads that are removed together.

    Attributes:
        name: The relation that they are chosen for; empty where they are named one by one.
        heads: The heads, in the order of layers.
    """

    name: str
    heads: tuple[Head, ...]


def listed_heads(text: str) -> tuple[Head, ...]:
    """The heads of a list, each once, in the order of layers; none of a text that names no head, as a relation.

    >>> listed_heads("4-2, 3-1"), listed_heads("nsubj")
    ((Head(layer=2, head=0), Head(layer=3, head=1)), ())

    Raises:
        SettingsError: A part of a list is no head.
    """
    parts = text.split(",")
    heads = set()
    for part in parts:
        with suppress(SettingsError):
            heads.add(Head.parse(part))
    return tuple(sorted({Head.parse(part) for part in parts})) if heads else ()


def sets_of(options: Mapping[str, Any]) -> list[HeadSet]:
    """The sets of a request's options, which are completed."""
    if "heads" not in options:
        return []
    if "sets" not in options:
        heads = listed_heads(options["heads"])
        assert heads, "heads of relations are among the completed options"
        return [HeadSet("", heads)]
    parts = (text.rpartition(": ") for text in options["sets"])
    return [HeadSet(name, tuple(map(Head.parse, keys.split(" ")))) for name, _, keys in parts]


def as_text(chosen: ChosenHeads) -> str:
    """A set as the options have it, as "nsubj: 3-9 5-7"."""
    return f"{chosen.name}: {' '.join(head.key() for head in chosen.heads)}"


class StoredSets(NamedTuple):
    """The sets that the stored results of a model name.

    Attributes:
        sets: By their names, those of the analysis that comes first where two have one.
        corpora: From the name of a set to the kind of the corpus on whose halves it is chosen, and that corpus.
    """

    sets: dict[str, ChosenHeads]
    corpora: dict[str, tuple[str, Source]]

    def find(self, name: str) -> list[ChosenHeads]:
        """The set of a relation, or all of them.

        Raises:
            SettingsError: No stored result names it; the message says how to get it.
        """
        if not self.sets:
            raise SettingsError(f"No stored result of this model names heads for {name!r}.", hint=_how_to_get())
        if name == RELATIONS:
            return [*self.sets.values()]
        if name not in self.sets:
            where = ", ".join(sorted({source.name for _, source in self.corpora.values()}))
            what = f"The stored results of this model, on {where}, name no heads for {name!r}."
            raise SettingsError(what, hint=f"Choose one of {', '.join(self.sets)}. {BY_NAME}")
        return [self.sets[name]]


def stored_sets(find: FindStored) -> StoredSets:
    """The sets that stored results name."""
    found = StoredSets({}, {})
    for analysis in ANALYSES.values():
        if analysis.names_heads and (stored := find(analysis.name)):
            result, source = stored
            for chosen in analysis.chosen_heads(result):
                if chosen.name not in found.sets:
                    found.sets[chosen.name] = chosen
                    found.corpora[chosen.name] = (analysis.corpus, source)
    return found


def _how_to_get() -> str:
    naming = [analysis for analysis in ANALYSES.values() if analysis.names_heads]
    pages = " or ".join(f"“{analysis.title}”" for analysis in naming)
    commands = " or ".join(f"`bertviz-core {analysis.command} FILE`" for analysis in naming)
    return f"Analyze the model on the page {pages} first, or run {commands}. {BY_NAME}"


def random_sets(heads: Sequence[Head], width: int, seed: int) -> list[tuple[Head, ...]]:
    """Different sets with as many heads of each layer as a set has, of the heads that are not in it.

    Args:
        heads: Those of the set.
        width: The heads of a layer.
        seed: The seed of the draws.

    Returns:
        DRAWS sets, or all where there are not as many; none where a layer has not enough other heads.
    """
    counts = sorted(Counter(head.layer for head in heads).items())
    pools = [([Head(layer, n) for n in range(width) if Head(layer, n) not in heads], n) for layer, n in counts]
    possible = prod(comb(len(others), count) for others, count in pools)
    if possible <= DRAWS:
        choices = product(*(combinations(others, count) for others, count in pools))
        return [tuple(chain(*parts)) for parts in choices]
    return _draw(pools, np.random.default_rng(seed % 2**64))


def _draw(pools: list[tuple[list[Head], int]], random: np.random.Generator) -> list[tuple[Head, ...]]:
    """DRAWS different sets with so many heads of each pool."""
    drawn = dict[tuple[Head, ...], None]()
    while len(drawn) < DRAWS:
        places = [random.permutation(len(others))[:count] for others, count in pools]
        heads = (others[place] for (others, _), chosen in zip(pools, places, strict=True) for place in chosen)
        drawn.setdefault(tuple(sorted(heads)))
    return list(drawn)


def masks(sets: Sequence[Sequence[Head]], layers: int, width: int) -> np.ndarray:
    """(set, layer, head) bool, the heads of each set."""
    removed = np.zeros((len(sets), layers, width), dtype=bool)
    for number, heads in enumerate(sets):
        removed[number, [head.layer for head in heads], [head.head for head in heads]] = True
    return removed


def head_names(heads: Sequence[Head]) -> str:
    """Heads in words, as "3-1 and 4-2"."""
    *others, last = (head.label() for head in heads)
    return f"{', '.join(others)} and {last}" if others else last
