"""The store's files: diskcache restricted to bytes, and a reader for stores that cannot be written."""

import os
import sqlite3
import tempfile
import time
from collections.abc import Iterator
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

from diskcache import Cache, Disk, Timeout
from diskcache.core import DBNAME, EVICTION_POLICY, MODE_BINARY, MODE_RAW

from bertviz_core.errors import StoreError

ERRORS = (OSError, sqlite3.Error, Timeout)
VERSION = 1  # the database's user_version; raise it when earlier releases could not write it
PATIENCE = 10  # seconds that a write waits for another process
BRIEF = 0.5  # seconds that a read waits
OLD = 3600  # seconds that a file may lack a row
RECENT = 3600  # seconds in which a result is not dropped once it was stored or used
SIZE = "CAST(MAX(COALESCE(size, 0), COALESCE(LENGTH(value), 0)) AS INTEGER)"  # of a damaged row it may be text
FRESH = "raw = 1 AND (expire_time IS NULL OR expire_time > ?)"
BYTES = f"mode IN ({MODE_RAW}, {MODE_BINARY}) AND {FRESH}"
POLICY = "results-unused"
# One at a time, details first; diskcache's own policies know no entries that must stay, and wait for a lock to read.
EVICTION_POLICY[POLICY] = {
    "init": "CREATE INDEX IF NOT EXISTS Cache_access_time ON Cache (access_time)",
    "get": None,
    "cull": "SELECT {fields} FROM Cache WHERE (key GLOB 'detail/*' OR key GLOB 'result/*')"
    f" AND access_time < {{now}} - {RECENT} ORDER BY key >= 'result/', access_time LIMIT MIN(1, ?)",
}


class BytesDisk(Disk):
    """diskcache's own Disk unpickles what it does not know (CVE-2025-69872); this one reads nothing but bytes."""

    def get(self, key: Any, raw: bool) -> str:
        return str(key)

    def fetch(self, mode: int, filename: str | None, value: Any, read: bool) -> Any:
        if mode not in (MODE_RAW, MODE_BINARY) or (mode == MODE_RAW and not isinstance(value, bytes)):
            raise StoreError("A store entry is not bytes; it was not opened.", hint="Clear the store.")
        return super().fetch(mode, filename, value, read)

    def _write(self, full_path: str, iterator: Iterator[bytes], mode: str, encoding: str | None = None) -> int:
        """Write a file; one that cannot be completed (the disk is full) is removed."""
        try:
            size: int = super()._write(full_path, iterator, mode, encoding)
            Path(full_path).chmod(0o600)
            return size
        except BaseException:
            Path(full_path).unlink(missing_ok=True)
            raise


def open_cache(folder: Path, limit: int, patience: float) -> Cache:
    """The cache in a folder, created where there is none; `patience` is in seconds, for a process that has locked it
    (diskcache waits for a minute). Raises one of ERRORS, or StoreError for a newer version."""
    folder.mkdir(0o700, parents=True, exist_ok=True)
    (folder / DBNAME).touch(0o600)  # the files that SQLite puts beside it get its mode
    with closing(sqlite3.connect(folder / DBNAME, timeout=patience, isolation_level=None)) as database:
        if database.execute("PRAGMA user_version").fetchone()[0] > VERSION:
            raise StoreError("a newer version of the project wrote it")
        database.execute("BEGIN IMMEDIATE")
        database.execute("ROLLBACK")
        cache = Cache(
            str(folder),
            timeout=PATIENCE,
            disk=BytesDisk,
            eviction_policy=POLICY,
            size_limit=limit,
            cull_limit=0,
            disk_min_file_size=1 << 16,
        )
        database.execute(f"PRAGMA user_version = {VERSION}")
    return cache


def sweep(folder: Path, old: float = OLD) -> int:
    """Remove files without a row that a killed process left, `old` seconds ago or earlier; returns their number."""
    before = time.time() - old
    count = 0
    paths = list(folder.glob("??/??/*.val"))
    with closing(Reader(folder)) as reader:
        if not reader.sql("SELECT COUNT(*) FROM Cache"):
            return 0  # the database cannot be read: each file may have a row
        known = {name for (name,) in reader.sql("SELECT filename FROM Cache")}
    for path in paths:
        if str(path.relative_to(folder)) not in known:
            with suppress(FileNotFoundError):
                if path.stat().st_mtime < before:
                    path.unlink()
                    count += 1
    return count


class Reader:
    """Reads the entries of a folder, none where it cannot be read; raises sqlite3.OperationalError if it is locked."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._database: sqlite3.Connection | None = None
        address = (folder / DBNAME).absolute().as_uri()
        for options in ("mode=ro", "mode=ro&immutable=1"):  # the second where no file can be created beside it
            try:
                self._database = sqlite3.connect(f"{address}?{options}", timeout=BRIEF, isolation_level=None, uri=True)
                self.sql("SELECT key, raw, expire_time, mode, filename, value FROM Cache LIMIT 1")
                return
            except sqlite3.Error as error:
                self.close()
                if getattr(error, "sqlite_errorcode", None) == sqlite3.SQLITE_BUSY:
                    raise

    def close(self) -> None:
        if self._database:
            self._database.close()
        self._database = None

    def sql(self, query: str, arguments: tuple[object, ...] = ()) -> list[tuple[Any, ...]]:
        return self._database.execute(query, arguments).fetchall() if self._database else []

    def get(self, name: str, read: bool = False) -> Any:
        """The bytes of an entry, or, with `read`, the open file of a large one; None where there is no entry."""
        query = f"SELECT mode, filename, value FROM Cache WHERE key = ? AND {FRESH}"
        with suppress(FileNotFoundError):
            for mode, filename, value in self.sql(query, (name, time.time())):
                return BytesDisk(str(self._folder)).fetch(mode, filename, value, read)
        return None

    def __contains__(self, name: str) -> bool:
        return bool(self.sql(f"SELECT 1 FROM Cache WHERE key = ? AND {BYTES}", (name, time.time())))


def file_of(folder: Path) -> tuple[int, int] | None:
    """A database's (device, inode), if any."""
    with suppress(OSError):
        file = (folder / DBNAME).stat()
        return file.st_dev, file.st_ino
    return None


def reason(error: BaseException, folder: Path) -> str:
    """An error in few words, without paths."""
    if isinstance(error, StoreError):
        return error.what
    if isinstance(error, OSError):
        return os.strerror(error.errno) if error.errno else type(error).__name__
    try:
        with tempfile.TemporaryFile(dir=folder) as stream:  # its error says that a disk is full or read-only
            stream.write(bytes(1 << 16))
    except OSError as plain:
        return reason(plain, folder)
    return str(error) or str(error.__context__ or "it is locked")  # diskcache's Timeout says nothing itself
