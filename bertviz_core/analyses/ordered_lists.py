"""Pages of long lists in an order, from blocks of entries of which one is in memory at a time.

What ranks an entry is its step: its confidence in steps of 1/255, or nothing where the list has the file's order.
Entries of equal steps are in file order.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TypeVar

import numpy as np

ORDERS = ("most confident first", "least confident first", "file order")
STEPS = 256

Block = TypeVar("Block")
Entry = TypeVar("Entry")
Ranked = tuple[np.ndarray, np.ndarray]  # (chosen,) places of the entries of a block that are listed; their steps


def steps(confidence: np.ndarray, order: str) -> np.ndarray:
    """(entry,) the step of each in one of ORDERS, from its confidence in steps of 1/255."""
    return {ORDERS[0]: 255 - confidence, ORDERS[1]: confidence, ORDERS[2]: np.zeros_like(confidence)}[order]


def tally(blocks: Iterable[Block], rank: Callable[[Block], Ranked]) -> np.ndarray:
    """(step, block) how many listed entries each block has of each step; the sum of it is how many there are."""
    each = [np.bincount(rank(block)[1], minlength=STEPS) for block in blocks]
    return np.array(each, dtype=np.int64).reshape(-1, STEPS).T


def page(
    blocks: Iterable[Block],
    rank: Callable[[Block], Ranked],
    read: Callable[[Block, int], Entry],
    counts: np.ndarray,
    first: int,
    count: int,
) -> list[Entry]:
    """The listed entries from number `first` on, in their order.

    Args:
        blocks: Blocks of the list, in order.
        rank: Which of a block's entries are listed, and their steps.
        read: An entry of a block by its place.
        counts: Their `tally`, which says what blocks the page is in.
        first: From 0.
        count: How many at most.
    """
    last = first + count
    ends = counts.cumsum().reshape(counts.shape)
    starts = ends - counts
    on_page = (counts > 0) & (starts < last) & (ends > first)
    entries: dict[int, Entry] = {}
    for number, block in enumerate(blocks):
        if not on_page[:, number].any():
            continue
        indices, ranks = rank(block)
        for step in np.flatnonzero(on_page[:, number]):
            start = int(starts[step, number])
            inside = indices[ranks == step][max(0, first - start) : last - start].tolist()
            entries |= {max(first, start) + i: read(block, index) for i, index in enumerate(inside)}
    return [entries[rank] for rank in sorted(entries)]
