"""A store for a run that reads nothing stored and leaves nothing behind."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from bertviz_core.engine.store import Store


@contextmanager
def temporary_store() -> Iterator[Store]:
    """An empty store in a folder that is deleted at the end; it does not have the results that ship either."""
    with tempfile.TemporaryDirectory() as folder:
        yield Store(Path(folder, "store"), shipped=Path(folder, "nothing"))
