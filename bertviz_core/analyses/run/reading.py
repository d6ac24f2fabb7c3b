"""Stored results by their keys."""

from bertviz_core.analyses.base.registry import ANALYSES
from bertviz_core.analyses.base.result import Result
from bertviz_core.engine.store import Store
from bertviz_core.errors import StoreError


def read(store: Store, key: str, analysis: str) -> Result | None:
    """The stored result of this key, or None; an entry that cannot be read counts as none and is computed again."""
    try:
        data = store.get(key)
        return ANALYSES[analysis].result_class.from_bytes(data) if data else None
    except (ValueError, KeyError, TypeError, StoreError):
        return None
