"""`python -m bertviz_core store ...`: size, list, trim, clear."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path
from typing import Annotated

import typer

from bertviz_core.analyses.results import origin, read_header
from bertviz_core.engine.store import Store
from bertviz_core.engine.store_disk import Entry
from bertviz_core.engine.uploads import Uploads
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
    """Every result and upload: what it is, of which model and corpus, with what settings, from when, how large."""
    import pandas as pd

    opened = _opened(store)
    heads = dict(opened.heads())
    rows = [_described(opened, entry, heads.get(entry.key, b"")) | _location(entry) for entry in opened.entries()]
    print(pd.DataFrame(rows).fillna("").to_string(index=False) if rows else "The store is empty.")


def _described(store: Store, entry: Entry, head: bytes) -> dict[str, str]:
    """Row of the list for one entry of the store."""
    if entry.kind == "upload":
        upload = Uploads(store).find(entry.key)
        return {"what": "upload", "corpus": upload.name, "settings": upload.kind} if upload else {"what": "upload"}
    if entry.kind == "work":  # an index of a corpus, or the chunks of an unfinished job
        return {"what": f"work: {entry.key.partition('/')[0]}" if "/" in entry.key else "work"}
    if entry.kind == "detail":
        return {"what": "guesses of a result"}
    try:
        return _of_result(head)
    except (KeyError, TypeError, ValueError, AttributeError, RecursionError):
        return {"what": "unreadable"}


def _of_result(head: bytes) -> dict[str, str]:
    header = read_header(head)
    if header is None:
        return {"what": "unreadable"}
    about, options = origin(header[1]), header[1]["options"]
    settings = [about["mode"], f"{about['max_length']} tokens", about["dtype"], f"seed {about['seed']}"]
    settings += [f"limit {about['limit']}"] if about["limit"] else []
    settings += [f"{name} {value}" for name, value in options.items() if isinstance(value, str | int | float)]
    model = Path(about["model"]).name
    return {"what": header[0], "model": model, "corpus": about["corpus"], "settings": ", ".join(settings)}


def _location(entry: Entry) -> dict[str, str]:
    date = datetime.fromtimestamp(entry.stored).strftime("%Y-%m-%d %H:%M")
    return {"stored": date, "size": f"{entry.size / 1e6:,.2f} MB", "key": entry.key[:12]}


@store_app.command("trim")
def store_trim(store: Folder = None, limit: Limit = None) -> None:
    """Remove leftovers of killed processes, and the results longest unused until the store is within its limit."""
    print(f"{_opened(store, limit).trim():,} entries removed")


@store_app.command("clear")
def store_clear(store: Folder = None) -> None:
    """Delete all results and uploads."""
    print(f"{_opened(store).clear():,} entries cleared")


def _opened(folder: Path | None, limit: float | None = None) -> Store:
    if limit is not None and not 0 < limit < float("inf"):
        raise SettingsError("--limit must be above 0.", hint="Give a number of gigabytes, such as 10 or 0.5.")
    return Store(folder, limit=None if limit is None else int(limit * 1e9))
