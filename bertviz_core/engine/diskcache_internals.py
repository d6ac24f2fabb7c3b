"""Everything that is used of diskcache beyond its documented interface: how it names its files, its table, its `Disk`.

The store reads where diskcache cannot (a folder that cannot be written, another process's lock), drops results alone,
and never unpickles; diskcache has no option for these. Its next version may change any of it.
tests/engine/test_diskcache_internals.py has a test for each name here; tests/test_imports.py fails where another module
uses diskcache's table or what it does not document.
"""

import sqlite3
import time
from collections.abc import Iterator
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

from diskcache import EVICTION_POLICY, Disk
from diskcache.core import DBNAME, MODE_BINARY, MODE_RAW

from bertviz_core.errors import StoreError

DATABASE = DBNAME  # the database's file in the folder of a cache
BRIEF = 0.5  # seconds that a read waits for another process
BUSY = 0.1  # seconds that a note of use waits
RECENT = 3600  # seconds in which a result is not dropped once it was stored or used
POLICY = "results-unused"
# One at a time, details first; diskcache's own policies know no entries that must stay, and wait for a lock to read.
EVICTION_POLICY[POLICY] = {
    "init": "CREATE INDEX IF NOT EXISTS Cache_access_time ON Cache (access_time)",
    "get": None,
    "cull": "SELECT {fields} FROM Cache WHERE (key GLOB 'detail/*' OR key GLOB 'result/*')"
    f" AND access_time < {{now}} - {RECENT} ORDER BY key >= 'result/', access_time LIMIT MIN(1, ?)",
}
_SIZE = "CAST(MAX(COALESCE(size, 0), COALESCE(LENGTH(value), 0)) AS INTEGER)"  # In a damaged row the size may be text.
_FRESH = "raw = 1 AND (expire_time IS NULL OR expire_time > ?)"
_BYTES = f"mode IN ({MODE_RAW}, {MODE_BINARY}) AND {_FRESH}"


class BytesDisk(Disk):
    """diskcache's own Disk unpickles what it does not know (CVE-2025-69872); this one reads nothing but bytes."""

    def get(self, key: Any, raw: bool) -> str:
        """A key as it was given; nothing is unpickled."""
        return str(key)

    def fetch(self, mode: int, filename: str | None, value: Any, read: bool) -> Any:
        """The bytes of an entry, or with `read` its open file; raises StoreError for what is not bytes."""
        if mode not in (MODE_RAW, MODE_BINARY) or (mode == MODE_RAW and not isinstance(value, bytes)):
            raise StoreError("A store entry is not bytes; it was not opened.", hint="Clear the store.")
        return super().fetch(mode, filename, value, read)

    def _write(self, full_path: str, iterator: Iterator[bytes], mode: str, encoding: str | None = None) -> int:
        """Write a file that nobody else may read; one that cannot be completed (the disk is full) is removed."""
        try:
            size: int = super()._write(full_path, iterator, mode, encoding)
            Path(full_path).chmod(0o600)
            return size
        except BaseException:
            Path(full_path).unlink(missing_ok=True)
            raise


class CacheReader:
    """Reads the entries of a folder, none where it cannot be read; raises sqlite3.OperationalError if it is locked."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._database: sqlite3.Connection | None = None
        address = (folder / DATABASE).absolute().as_uri()
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
        """Close the database."""
        if self._database:
            self._database.close()
        self._database = None

    def sql(self, query: str, arguments: tuple[object, ...] = ()) -> list[tuple[Any, ...]]:
        """The rows that a query gives."""
        return self._database.execute(query, arguments).fetchall() if self._database else []

    def get(self, name: str, read: bool = False) -> Any:
        """The bytes of an entry, or, with `read`, the open file of a large one; None where there is no entry."""
        query = f"SELECT mode, filename, value FROM Cache WHERE key = ? AND {_FRESH}"
        with suppress(FileNotFoundError):
            for mode, filename, value in self.sql(query, (name, time.time())):
                return BytesDisk(str(self._folder)).fetch(mode, filename, value, read)
        return None

    def __contains__(self, name: str) -> bool:
        return bool(self.sql(f"SELECT 1 FROM Cache WHERE key = ? AND {_BYTES}", (name, time.time())))

    def entries(self) -> list[tuple[str, int, float]]:
        """(name, bytes, seconds since 1970 when it was stored) of all entries that are bytes, by name."""
        query = f"SELECT key, {_SIZE}, CAST(store_time AS REAL) FROM Cache WHERE {_BYTES} ORDER BY key"
        return self.sql(query, (time.time(),))

    def latest(self, beginning: str) -> list[bytes]:
        """The values of the small entries whose names begin so, the latest first."""
        query = f"SELECT value FROM Cache WHERE key GLOB ? AND {_BYTES} ORDER BY store_time DESC"
        return [value for (value,) in self.sql(query, (f"{beginning}*", time.time()))]

    def files(self) -> set[str] | None:
        """The files of large entries, relative to the folder; None where the database cannot be read."""
        if not self.sql("SELECT COUNT(*) FROM Cache"):
            return None
        return {name for (name,) in self.sql("SELECT filename FROM Cache")}


def value_files(folder: Path) -> list[Path]:
    """The files in which a cache keeps large values, those too that no row names."""
    return list(folder.glob("??/??/*.val"))


def note_use(folder: Path, name: str, now: float) -> None:
    """Note that an entry is used, unless that was noted less than RECENT seconds ago; raises sqlite3.Error where a
    busy database would have to be waited for."""
    with closing(sqlite3.connect(folder / DATABASE, timeout=BUSY)) as database, database:
        query = "UPDATE Cache SET access_time = ? WHERE key = ? AND raw = 1 AND access_time < ?"
        database.execute(query, (now, name, now - RECENT))
