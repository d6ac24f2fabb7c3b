"""What stays on disk beside a result because it grows with the corpus, part by part; the limit drops it first."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from io import BytesIO
from typing import Any, Generic, Protocol, TypeVar

from bertviz_core.corpora.source import Source
from bertviz_core.engine.packing import pack, unpack_rows
from bertviz_core.engine.store import Store
from bertviz_core.errors import StoreError

COUNT = "parts"


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
    """Note that the parts beside the result with this key are `count`, and complete."""
    with suppress(StoreError):
        if store is not None:
            store.write(f"detail/{key}/{COUNT}", str(count).encode())


@dataclass(frozen=True, slots=True)
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
    """What is beside the result with this key; None where the store does not have all parts (any more)."""
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
        """Those of these numbers."""
        wanted = set(numbers)
        chosen = {number: self._last[number] for number in wanted & self._last.keys()}
        while len(chosen) < len(wanted) and (each := next(self._corpus, None)) is not None:
            if each.number in wanted:
                chosen[each.number] = each
        self._last = chosen
        return chosen
