"""What stays on disk beside a result because it grows with the corpus, part by part; the limit drops it first."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from io import BytesIO
from typing import Any

from bertviz_core.engine.packing import pack, unpack_rows
from bertviz_core.engine.store import Store
from bertviz_core.errors import StoreError

COUNT = "parts"


def keep(store: Store | None, key: str, number: int, count: int, detail: Mapping[str, Any]) -> None:
    """Keep part `number`, from 0, of `count` beside the result with this key, where there is room."""
    with suppress(StoreError):  # the result may still find room
        if store is not None:
            store.keep_detail(f"{key}/{number}", pack(detail))
            store.keep_detail(f"{key}/{COUNT}", str(count).encode())


def parts(store: Store, key: str) -> int:
    """How many parts there are beside a result; 0 where the store does not have them all (any more)."""
    with suppress(StoreError, ValueError), store.detail(f"{key}/{COUNT}") or BytesIO(b"0") as stream:
        count = int(stream.read())
        return count if all(store.has_detail(f"{key}/{number}") for number in range(count)) else 0
    return 0


def read(store: Store, key: str, number: int, rows: Mapping[str, Sequence[int]]) -> dict[str, Any]:
    """One part; of the arrays named in `rows` only a row, see `unpack_rows`. Raises StoreError where it is gone."""
    stream = store.detail(f"{key}/{number}")
    if stream is None:
        raise StoreError("The store has just dropped a part of these sentences.", hint="Reload the page.")
    with stream:
        return unpack_rows(stream, rows)
