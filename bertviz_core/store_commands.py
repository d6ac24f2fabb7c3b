"""`python -m bertviz_core store ...`: size, list, clear."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from bertviz_core.engine.store import Store

store_app = typer.Typer(no_args_is_help=True, help="The store of results and uploads: size, list, clear.")
Folder = Annotated[Path | None, typer.Option("--store", help="Folder of the store.")]


@store_app.command("size")
def store_size(store: Folder = None) -> None:
    """Bytes on disk, and where."""
    held = Store(store)
    print(f"{held.size():,} bytes in {held.folder}")


@store_app.command("list")
def store_list(store: Folder = None) -> None:
    """Every entry: kind, key, bytes."""
    for entry in Store(store).entries():
        print(f"{entry.kind}\t{entry.key}\t{entry.size}")


@store_app.command("clear")
def store_clear(store: Folder = None) -> None:
    """Forget all results and uploads."""
    print(f"{Store(store).clear():,} entries cleared")
