"""Lists that grow with the corpus: kept on disk beside a result, part by part (the store drops them first), and read a
page at a time in an order, with one block of entries in memory.

An entry ranks by its step: its confidence in steps of 1/255, or nothing where the list has the file's order. Entries of
equal steps are in file order.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from io import BytesIO
from typing import Any, Generic, Protocol, TypeVar

import numpy as np

from bertviz_core.corpora.source import Source
from bertviz_core.engine.packing import pack, unpack_rows
from bertviz_core.engine.store import Store
from bertviz_core.errors import StoreError
from bertviz_core.heads import DirectedHead

COUNT = "parts"
ORDERS = ("most confident first", "least confident first", "file order")
STEPS = 256
Entry = TypeVar("Entry")
Ranked = tuple[np.ndarray, np.ndarray]  # (chosen,) places of the entries of a block that are listed; their steps


class Numbered(Protocol):
    """A sentence or a document."""

    @property
    def number(self) -> int: ...


N = TypeVar("N", bound=Numbered)


def put(store: Store | None, key: str, number: int, detail: Mapping[str, Any]) -> None:
    """Store part `number`, from 0, beside the result with this key, where there is room."""
    with suppress(StoreError):  # the result may still find room
        if store is not None:
            store.write(f"detail/{key}/{number}", pack(detail))


def finish(store: Store | None, key: str, count: int) -> None:
    """Record that the parts beside the result with this key are complete, and their number."""
    with suppress(StoreError):
        if store is not None:
            store.write(f"detail/{key}/{COUNT}", str(count).encode())


@dataclass(frozen=True)
class StoredParts:
    """All parts beside the result with this key; `source` has the words, which are not stored."""

    store: Store
    key: str
    source: Source
    count: int

    def read(self, names: Sequence[str] = (), row: Sequence[int] = ()) -> Iterator[dict[str, Any]]:
        """One part after another; of the arrays in `names` only a row, see `unpack_rows`. Raises StoreError where one
        is gone."""
        for number in range(self.count):
            stream = self.store.open(f"detail/{self.key}/{number}")
            if stream is None:
                raise StoreError("The store has just dropped a part of these sentences.", hint="Reload the page.")
            with stream:
                values = unpack_rows(stream, dict.fromkeys(names, row))
            yield values


def stored_parts(store: Store, key: str, source: Source) -> StoredParts | None:
    """The parts beside the result with this key; None if the store does not have all of them."""
    with suppress(StoreError, ValueError), store.open(f"detail/{key}/{COUNT}") or BytesIO(b"0") as stream:
        count = int(stream.read())
        if count and all(f"detail/{key}/{number}" in store for number in range(count)):
            return StoredParts(store, key, source, count)
    return None


class InOrder(Generic[N]):
    """Sentences or documents by their numbers, from one reading of their corpus: no call asks for a lower number than
    the calls before, but for those that the last one gave."""

    def __init__(self, corpus: Iterator[N]) -> None:
        self._corpus, self._last = corpus, dict[int, N]()

    def take(self, numbers: Iterable[int]) -> dict[int, N]:
        """Read the sentences or documents with these numbers."""
        wanted = set(numbers)
        chosen = {number: self._last[number] for number in wanted & self._last.keys()}
        while len(chosen) < len(wanted) and (each := next(self._corpus, None)) is not None:
            if each.number in wanted:
                chosen[each.number] = each
        self._last = chosen
        return chosen


@dataclass(frozen=True)
class GuessQuery(ABC, Generic[Entry]):
    """A selection of entries (sentences, passages) with the guesses of a head in one direction, and their order.

    Attributes:
        which: "right" for entries with a right guess, "wrong" for those with a wrong one, or "all".
        minimum: Minimum weight of a guess.
        searched: Consecutive words that an entry must contain.
        order: One of ORDERS; an entry is as confident as its guess with the highest weight.
    """

    choice: DirectedHead
    which: str = "all"
    minimum: float = 0.0
    searched: tuple[str, ...] = ()
    order: str = ORDERS[0]

    @abstractmethod
    def blocks(self, collection: Any) -> Iterator[Any]:
        """The blocks of a collection of entries, in file order."""

    @abstractmethod
    def ranked(self, block: Any) -> Ranked:
        """Which of a block's entries are listed, and their steps."""

    @abstractmethod
    def entry(self, block: Any, index: int) -> Entry:
        """An entry of a block by its place."""

    def confidence_bins(self, confidence: np.ndarray) -> np.ndarray:
        """(entry,) the step of each, from its confidence in steps of 1/255."""
        return {ORDERS[0]: 255 - confidence, ORDERS[1]: confidence, ORDERS[2]: np.zeros_like(confidence)}[self.order]


def tally(collection: Any, query: GuessQuery[Any]) -> np.ndarray:
    """(step, block) how many listed entries each block has of each step; their sum is the number of listed entries."""
    each = [np.bincount(query.ranked(block)[1], minlength=STEPS) for block in query.blocks(collection)]
    return np.array(each, dtype=np.int64).reshape(-1, STEPS).T


def page(collection: Any, query: GuessQuery[Entry], counts: np.ndarray, first: int, count: int) -> list[Entry]:
    """The listed entries from number `first`, from 0, in their order, at most `count`; `counts` are the query's
    `tally`, from which the blocks of the page follow."""
    last = first + count
    ends = counts.cumsum().reshape(counts.shape)
    starts = ends - counts
    on_page = (counts > 0) & (starts < last) & (ends > first)
    entries: dict[int, Entry] = {}
    for number, block in enumerate(query.blocks(collection)):
        if not on_page[:, number].any():
            continue
        indices, ranks = query.ranked(block)
        for step in np.flatnonzero(on_page[:, number]):
            start = int(starts[step, number])
            inside = indices[ranks == step][max(0, first - start) : last - start].tolist()
            entries |= {max(first, start) + i: query.entry(block, index) for i, index in enumerate(inside)}
    return [entries[rank] for rank in sorted(entries)]
