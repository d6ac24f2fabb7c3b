"""Lists of a head's guesses, which grow with the corpus. They are stored beside a result, evicted before it, and read a
page at a time."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import islice
from typing import Any, Generic, Literal, Protocol, TypeVar, get_args

import numpy as np

from bertviz_core.corpora import Skipped
from bertviz_core.corpora.source import Source
from bertviz_core.corpora.word_search import searched_words
from bertviz_core.engine import packing
from bertviz_core.engine.store import Store
from bertviz_core.errors import StoreError
from bertviz_core.heads import DirectedHead

# The entry of this name has the number of parts; the parts themselves are named by their numbers, from 0.
COUNT = "parts"
Order = Literal["most confident first", "least confident first", "file order"]
Guesses = Literal["all", "right", "wrong"]
ORDERS: tuple[Order, ...] = get_args(Order)
GUESSES: tuple[Guesses, ...] = get_args(Guesses)
Entry = TypeVar("Entry")
FoundEntry = TypeVar("FoundEntry")


class HasNumber(Protocol):
    """A sentence or document with its number in the corpus, from 0."""

    @property
    def number(self) -> int: ...


Numbered = TypeVar("Numbered", bound=HasNumber)


@dataclass(frozen=True)
class StoredParts:
    """All parts of a list that is stored beside a result.

    Attributes:
        key: The key of the result.
        source: The corpus, which has the words: they are not stored.
    """

    store: Store
    key: str
    source: Source
    count: int

    def read(self, names: Sequence[str], row: Sequence[int]) -> Iterator[packing.PackedValues]:
        """Read part after part, only one `row` of the arrays in `names`; raises StoreError where a part is gone."""
        for number in range(self.count):
            stream = self.store.open(f"detail/{self.key}/{number}")
            if stream is None:
                raise StoreError("The store has just dropped a part of these sentences.", hint="Reload the page.")
            with stream:
                values = packing.unpack_rows(stream, dict.fromkeys(names, row))
            yield values


def stored_parts(store: Store, key: str, source: Source) -> StoredParts | None:
    """The parts beside the result with this key; None if the store does not have all of them."""
    with suppress(StoreError, ValueError):
        count = int(store.read(f"detail/{key}/{COUNT}") or 0)
        if count and all(f"detail/{key}/{number}" in store for number in range(count)):
            return StoredParts(store, key, source, count)
    return None


class Listing(Protocol[FoundEntry]):
    """All entries of a collection with the guesses of one head, in file order."""

    def confidence(self) -> np.ndarray:
        """(entry,) int64 the highest weight of a guess in each, in steps of 1/255; -1 where the entry is not listed."""
        ...

    def having(self, indices: np.ndarray) -> np.ndarray:
        """Those of the (entry,) indices whose entries have the searched words."""
        ...

    def entries(self, indices: Sequence[int]) -> list[FoundEntry]:
        """The entries with these indices."""
        ...


@dataclass(frozen=True)
class GuessQuery(ABC, Generic[Entry]):
    """A selection of entries (sentences, passages) with the guesses of a head in one direction, and their order.

    Attributes:
        choice: The head, and the direction in which it is read.
        guesses: "all"; "right" for entries with a right guess, "wrong" for those with a wrong one.
        least_weight: The lowest weight of a guess, 0 to 1.
        search: Consecutive words that an entry must contain; * matches any ending.
        order: One of ORDERS, by the highest weight of a guess in each entry; those of equal weight are in file order.
    """

    choice: DirectedHead
    guesses: Guesses = "all"
    least_weight: float = 0.0
    search: str = ""
    order: Order = ORDERS[0]

    @property
    def words(self) -> list[str]:
        """The words that are searched, in lower case."""
        return searched_words(self.search)

    @abstractmethod
    def listing(self, collection: Any) -> Listing[Entry]:
        """The entries of a collection, a result or StoredParts, with the guesses of the head."""


def page(
    collection: Any, query: GuessQuery[Entry], first: int = 0, count: int | None = None
) -> tuple[int, list[Entry]]:
    """One page of a list.

    Args:
        collection: A result or StoredParts.
        query: Which entries are listed, and in which order.
        first: The number of the first entry of the page, from 0.
        count: The most entries of the page; None for all.

    Returns:
        The number of all listed entries, and those of the page.
    """
    listing = query.listing(collection)
    confidence = listing.confidence()
    indices = np.flatnonzero(confidence >= 0)
    if query.words:
        indices = listing.having(indices)
    ranks = dict(zip(ORDERS, (-confidence, confidence, np.zeros_like(confidence)), strict=True))
    ordered = indices[np.argsort(ranks[query.order][indices], kind="stable")]
    return len(ordered), listing.entries(ordered[first:][:count].tolist())


def picked(read: Callable[[Skipped], Iterable[Numbered]], numbers: Iterable[int]) -> Iterator[Numbered]:
    """The sentences or documents with these numbers, in the order of the corpus, which is read no further."""
    wanted = set(numbers)
    items = (item for item in read(Skipped()) if item.number in wanted)
    return islice(items, len(wanted))
