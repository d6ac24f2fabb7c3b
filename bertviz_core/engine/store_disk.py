"""How the store lies on disk: diskcache with bytes only, and what it takes to keep its folder clean and small."""

from __future__ import annotations

import contextlib
import os
import sqlite3
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import diskcache
from diskcache.core import DBNAME, MODE_BINARY, MODE_RAW

from bertviz_core.errors import StoreError

ERRORS = (OSError, sqlite3.Error, diskcache.Timeout)
PATIENCE = 10  # seconds that a write waits for another process
OLD = 3600  # seconds after which a file without a row is not a write in progress
SIZE = "CAST(MAX(COALESCE(size, 0), COALESCE(LENGTH(value), 0)) AS INTEGER)"  # of a damaged row it may be text
BYTES = f"raw = 1 AND mode IN ({MODE_RAW}, {MODE_BINARY}) AND (expire_time IS NULL OR expire_time > ?)"
OF_KIND = "raw = 1 AND key >= ? AND key < ?"
EMPTY = "file::memory:"
TABLE = (
    "CREATE TABLE Cache (rowid INTEGER PRIMARY KEY, key, raw, store_time, expire_time, access_time, tag, size, mode,"
    " filename, value)"
)


class BytesDisk(diskcache.Disk):
    """diskcache's own Disk pickles what it does not know (CVE-2025-69872); this one refuses anything but bytes."""

    def put(self, key: Any) -> tuple[str, bool]:
        if not isinstance(key, str):
            raise TypeError("store keys are strings")
        return key, True

    def get(self, key: Any, raw: bool) -> str:
        return str(key)

    def store(self, value: Any, read: bool, key: Any = diskcache.UNKNOWN) -> Any:
        if not read and not isinstance(value, bytes):
            raise TypeError("store values are bytes")
        return super().store(value, read, key=key)

    def fetch(self, mode: int, filename: str | None, value: Any, read: bool) -> Any:
        if mode not in (MODE_RAW, MODE_BINARY) or (mode == MODE_RAW and not isinstance(value, bytes)):
            raise StoreError("A store entry is not bytes; it was not opened.", hint="Clear the store.")
        return super().fetch(mode, filename, value, read)

    def _write(self, full_path: str, iterator: Iterator[bytes], mode: str, encoding: str | None = None) -> int:
        """A file that cannot be written to its end (the disk is full) does not stay."""
        try:
            size: int = super()._write(full_path, iterator, mode, encoding)
            Path(full_path).chmod(0o600)
            return size
        except BaseException:
            Path(full_path).unlink(missing_ok=True)
            raise


class BytesCache(diskcache.Cache):
    """A database that can be written. Nothing goes by diskcache's own rules but what has expired."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir(0o700, parents=True, exist_ok=True)
        (folder / DBNAME).touch(0o600)  # the files that SQLite puts beside it get its mode
        super().__init__(
            str(folder),
            timeout=PATIENCE,
            disk=BytesDisk,
            eviction_policy="none",
            size_limit=2**62,
            disk_min_file_size=1 << 16,
        )

    def sweep(self, old: float = OLD) -> int:
        """Remove what a killed process or a crashed machine left: files without a row that are `old` seconds old, and
        rows without their whole file. Returns how many went."""
        folder, before = Path(self.directory), time.time() - old
        written = ((path, status(path)) for path in folder.glob("??/??/*.val"))
        files = {str(path.relative_to(folder)) for path, file in written if file and file.st_mtime < before}
        rows = self._sql("SELECT rowid, filename, size FROM Cache WHERE filename IS NOT NULL").fetchall()
        orphans = files - {name for _, name, _ in rows}
        for name in orphans:
            self.disk.remove(name)
        lost = [(rowid, name) for rowid, name, size in rows if getattr(status(folder / name), "st_size", None) != size]
        with self._transact() as (sql, _):
            for row in lost:  # by its file too: another process may have rewritten the entry
                sql("DELETE FROM Cache WHERE rowid = ? AND filename = ?", row)
        self.expire()
        return len(orphans) + len(lost)

    def drop_unused(self, excess: int, but: str = "", kind: str = "result") -> int:
        """Drop the entries of a kind longest unused, none pinned, not `but` and none under `but/`, until `excess` bytes
        are free or none is left. Returns how many went."""
        if excess <= 0:
            return 0
        query = f"SELECT rowid, key, filename, {SIZE} FROM Cache WHERE {OF_KIND} ORDER BY access_time"
        with self._transact() as (sql, cleanup):
            needed, dropped = {but, *self._pinned()}, []
            for rowid, key, filename, size in sql(query, _range(kind)).fetchall():
                if excess <= 0:
                    break
                if key not in needed and not key.startswith(f"{but}/"):
                    excess -= size
                    dropped.append((rowid,))
                    cleanup(filename)
            self._con.executemany("DELETE FROM Cache WHERE rowid = ?", dropped)
        return len(dropped)

    def mark_used(self, key: str) -> None:
        """Now is the last use of it. A database that is busy is left alone: this is not worth waiting for."""
        path = Path(self.directory) / DBNAME
        with (
            contextlib.suppress(*ERRORS),
            contextlib.closing(sqlite3.connect(path, timeout=0.1, isolation_level=None)) as database,
        ):
            database.execute("UPDATE Cache SET access_time = ? WHERE key = ? AND raw = 1", (time.time(), key))

    def _pinned(self) -> Iterator[str]:
        names = self._sql(f"SELECT key FROM Cache WHERE {OF_KIND}", _range("pins")).fetchall()
        for (name,) in names:
            yield from self.get(name, b"").decode().splitlines()


def _range(kind: str) -> tuple[str, str]:
    return f"{kind}/", f"{kind}0"  # "0" follows "/"


def status(path: Path) -> os.stat_result | None:
    """The system's record of a file; None where it is gone."""
    with contextlib.suppress(OSError):
        return path.stat()
    return None


class ReadingCache(diskcache.Cache):
    """A database opened for reading alone: diskcache's own constructor would write its settings."""

    def __init__(self, folder: Path, uri: str, patience: float) -> None:
        self._directory, self._uri, self._timeout = str(folder), uri, patience
        self._disk, self._local, self._txn_id = BytesDisk(str(folder)), threading.local(), None
        self.statistics, self.eviction_policy = 0, "none"
        self._sql("SELECT key, raw, expire_time, tag, mode, filename, value FROM Cache LIMIT 1").fetchall()

    @property
    def _con(self) -> sqlite3.Connection:
        if getattr(self._local, "con", None) is None:
            self._local.con = sqlite3.connect(self._uri, timeout=self._timeout, isolation_level=None, uri=True)
            if self._uri == EMPTY:
                self._local.con.execute(TABLE)
        connection: sqlite3.Connection = self._local.con
        return connection
