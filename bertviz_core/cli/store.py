"""`python -m bertviz_core store ...`: size, list, trim, clear."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from bertviz_core.engine.store import Store
from bertviz_core.errors import SettingsError

store_app = typer.Typer(no_args_is_help=True, help="The store of results and uploads: size, list, trim, clear.")
Folder = Annotated[Path | None, typer.Option("--store", help="Folder of the store; default: BERTVIZ_STORE.")]
Limit = Annotated[float | None, typer.Option("--limit", help="Gigabytes; default: BERTVIZ_STORE_LIMIT or 10.")]


@store_app.command("size")
def store_size(store: Folder = None, limit: Limit = None) -> None:
    """Bytes on disk, where, and the limit."""
    opened = _opened(store, limit)
    print(f"{opened.size():,} bytes in {opened.folder} (limit: {opened.limit:,})")


@store_app.command("list")
def store_list(store: Folder = None) -> None:
    """Every entry: kind, key, bytes."""
    for entry in _opened(store).entries():
        print(f"{entry.kind}\t{entry.key}\t{entry.size}")


@store_app.command("trim")
def store_trim(store: Folder = None, limit: Limit = None) -> None:
    """Remove leftovers of killed processes, and the results longest unused until the store is within its limit."""
    print(f"{_opened(store, limit).trim():,} entries removed")


@store_app.command("clear")
def store_clear(store: Folder = None) -> None:
    """Forget all results and uploads."""
    print(f"{_opened(store).clear():,} entries cleared")


def _opened(folder: Path | None, limit: float | None = None) -> Store:
    if limit is not None and not 0 < limit < float("inf"):
        raise SettingsError("--limit must be above 0.", hint="Give a number of gigabytes, such as 10 or 0.5.")
    return Store(folder, limit=None if limit is None else int(limit * 1e9))
