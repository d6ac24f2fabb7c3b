"""Lists of a head's guesses, which grow with the corpus. They are stored beside a result, evicted before it, and read a
page at a time."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import islice
from typing import Protocol, TypeVar

from bertviz_core.corpora import Skipped
from bertviz_core.corpora.source import Source
from bertviz_core.engine import packing
from bertviz_core.engine.store import Store
from bertviz_core.errors import StoreError

# The entry of this name has the number of parts; the parts themselves are named by their numbers, from 0.
COUNT = "parts"


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


def picked(read: Callable[[Skipped], Iterable[Numbered]], numbers: Iterable[int]) -> Iterator[Numbered]:
    """The sentences or documents with these numbers, in the order of the corpus, which is read no further."""
    wanted = set(numbers)
    items = (item for item in read(Skipped()) if item.number in wanted)
    return islice(items, len(wanted))
