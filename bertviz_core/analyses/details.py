"""What stays on disk beside a result because it grows with the corpus, part by part; the limit drops it first."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from io import BytesIO
from typing import Any

from bertviz_core.corpora.source import Source, Start
from bertviz_core.engine.packing import pack, unpack_rows
from bertviz_core.engine.store import Store
from bertviz_core.errors import StoreError
from bertviz_core.models.reading import Slices, part_of

COUNT = "parts"


def keep(store: Store | None, key: str, number: int, count: int, detail: Mapping[str, Any]) -> None:
    """Keep part `number`, from 0, of `count` beside the result with this key, where there is room."""
    with suppress(StoreError):  # the result may still find room
        if store is not None:
            store.keep_detail(f"{key}/{number}", pack(detail))
            store.keep_detail(f"{key}/{COUNT}", str(count).encode())


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

    def read_with_words(
        self, names: Sequence[str], row: Sequence[int]
    ) -> Iterator[tuple[dict[str, Any], Callable[[], Source]]]:
        """As `read`, each with what opens its part of the corpus."""
        slices = Slices(self.source)
        for values in self.read(names, row):
            yield values, partial(_opened, self.source, slices, Start(*values["start"]), values["end"])


def stored_parts(store: Store, key: str, source: Source) -> StoredParts | None:
    """What is beside the result with this key; None where the store does not have all parts (any more)."""
    with suppress(StoreError, ValueError), store.open(f"detail/{key}/{COUNT}") or BytesIO(b"0") as stream:
        count = int(stream.read())
        if count and all(store.has_detail(f"{key}/{number}") for number in range(count)):
            return StoredParts(store, key, source, count)
    return None


def _opened(source: Source, slices: Slices, start: Start, end: int) -> Source:
    return part_of(source, start, slices.read(start.offset, end))
