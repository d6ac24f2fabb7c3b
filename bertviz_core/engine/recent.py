"""The models that a reader has opened lately, stored beside that reader's uploads and shown to no other reader."""

from __future__ import annotations

import json
from contextlib import suppress

from bertviz_core.engine.store import DAY, Store
from bertviz_core.errors import StoreError

MAX_MODELS = 8
DAYS = 30


def models(store: Store, owner: str) -> list[str]:
    """Names of models, the latest first; none where the store cannot be read.

    Args:
        store: Where they are kept.
        owner: From `uploads.owner_of`.
    """
    try:
        with store.reading() as cache:
            names = json.loads(cache.get(f"models/{owner}") or b"[]")
    except (StoreError, ValueError):
        return []
    return [name for name in names if isinstance(name, str)]


def remember(store: Store, owner: str, name: str) -> None:
    """Put a model first among a reader's own, for DAYS days; nothing happens where the store cannot be written."""
    latest = [name, *(other for other in models(store, owner) if other != name)][:MAX_MODELS]
    with suppress(StoreError):
        store.write(f"models/{owner}", json.dumps(latest).encode(), expire=DAYS * DAY)
