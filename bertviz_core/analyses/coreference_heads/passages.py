"""A document cut into passages of whole sentences, each a document of its own."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from typing import Any

from bertviz_core.analyses.coreference_heads.documents import Guess

LONGEST = 4  # passages long may a sentence be before it is cut


def passages(sentences: Sequence[int], words: int, length: int = 160) -> list[tuple[int, int]]:
    """A document's words in runs of whole sentences of about `length` words, as (first, one past the last).

    Args:
        sentences: The first word of each.
        words: How many there are.
        length: Words of a passage, about.
    """
    starts = [*sentences, words]
    edges = [edge for start, end in pairwise(starts) for edge in (*range(start + LONGEST * length, end, length), end)]
    runs: list[tuple[int, int]] = []
    first, last = 0, 0
    for edge in edges:
        if edge - first > length and last > first:
            runs.append((first, last))
            first = last
        last = edge
    return [*runs, (first, last)]


def cut(
    document: Mapping[str, Any], guesses: Iterable[Guess], passage: tuple[int, int]
) -> tuple[dict[str, Any], list[Guess]]:
    """One passage as a document of its own, and the guesses between mentions whose head words stand in it."""
    first, end = passage
    inside = [index for index, mention in enumerate(document["mentions"]) if first <= mention[3] < end]
    new = {index: i for i, index in enumerate(inside)}
    mentions = []
    for index in inside:
        start, stop, cluster, head, kind = document["mentions"][index]
        mentions.append([max(start, first) - first, min(stop, end) - first, cluster, head - first, kind])
    part = {
        "name": document["name"],
        "words": document["words"][first:end],
        "sentences": [start - first for start in document["sentences"] if first <= start < end],
        "mentions": mentions,
    }
    selected = [g for g in guesses if g.mention in new and g.guessed in new]
    return part, [Guess(new[g.mention], new[g.guessed], g.weight, g.right) for g in selected]
