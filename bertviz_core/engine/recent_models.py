"""The recently opened models of an app on one's own machine, by name, in the store."""

import json
from contextlib import suppress

from bertviz_core.engine.store import DAY, Store
from bertviz_core.errors import StoreError

NAME = "models/latest"  # name of the entry in the store
MAX_MODELS = 8  # names that are remembered


def recent_models(store: Store) -> list[str]:
    """Names of the recently opened models, the latest first; none where the store cannot be read."""
    with suppress(StoreError, ValueError):
        return [name for name in json.loads(store.read(NAME) or b"[]") if isinstance(name, str)]
    return []


def remember_model(store: Store, name: str) -> None:
    """Put a model first among the latest; nothing happens where the store cannot be written."""
    latest = [name, *(other for other in recent_models(store) if other != name)][:MAX_MODELS]
    with suppress(StoreError):
        store.write(NAME, json.dumps(latest).encode(), expire=30 * DAY)
