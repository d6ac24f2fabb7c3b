"""Opening the store: for writing, else for reading, else as an empty one; and one wrapper for everything that fails."""

from __future__ import annotations

import contextlib
import logging
import math
import os
import sqlite3
import tempfile
import threading
import time
from collections.abc import Iterator
from copy import copy
from pathlib import Path

import diskcache
from diskcache.core import DBNAME

from bertviz_core.engine.store_disk import EMPTY, ERRORS, BytesCache, ReadingCache, status
from bertviz_core.errors import SettingsError, StoreError

UNUSABLE = (*ERRORS, TypeError, ValueError)  # the latter two for settings that diskcache cannot read
VERSION = 1  # the database's user_version; raise it when earlier releases could not write it
PATIENCE = 5  # seconds that opening waits for a process that has locked the store
RETRY = 10  # seconds until a store that could not be written is tried again
NOTICE = 600  # seconds for which a reader is shown that everything is gone
HINT = "Set BERTVIZ_STORE to name another folder (or use --store on the command line)."
LIMIT_GB = 10
log = logging.getLogger(__name__)


def default_limit() -> int:
    """`BERTVIZ_STORE_LIMIT`, in GB, as bytes; else 10 GB. Raises SettingsError for anything but a positive number."""
    named = os.environ.get("BERTVIZ_STORE_LIMIT", str(LIMIT_GB))
    with contextlib.suppress(ValueError):
        if 0 < float(named) < math.inf:
            return int(float(named) * 1e9)
    raise SettingsError(
        f"BERTVIZ_STORE_LIMIT is {named[:40]!r}.", hint="Give it a number of gigabytes, such as 10 or 0.5."
    )


class StoreFolder:
    """The store's folder, with its cache open as well as can be.

    A folder that could not be used is tried again every few seconds; one that was removed or replaced while it was
    open is opened again.

    Attributes:
        cache: A BytesCache where it can be written, else a ReadingCache.
    """

    def __init__(self, folder: Path) -> None:
        self.folder, self._lock = folder, threading.Lock()
        self._problem: StoreError | None = None
        self._until = 0.0
        self._file: tuple[int, int] | None = None
        self._open(PATIENCE)

    @property
    def problem(self) -> StoreError | None:
        """The present problem of the store, or None."""
        self._current()
        return self._problem

    def reading(self) -> contextlib.AbstractContextManager[diskcache.Cache]:
        """The cache for reading; errors of sqlite and the system become StoreError."""
        return self._guarded("cannot be read ({})")

    @contextlib.contextmanager
    def writing(self) -> Iterator[BytesCache]:
        """The cache for writing; raises StoreError where nothing can be written."""
        with self._guarded("cannot be written ({}): nothing new was stored") as cache:
            if not isinstance(cache, BytesCache):
                raise copy(self._problem or _problem("cannot be written now.", self.folder))
            yield cache
            if _file(self.folder) != self._file:
                raise _problem("was removed while it was written: nothing new was stored.", self.folder)
        self._problem = None

    @contextlib.contextmanager
    def _guarded(self, what: str) -> Iterator[diskcache.Cache]:
        cache = self._current()
        try:
            yield cache
        except ERRORS as error:
            with contextlib.suppress(*ERRORS):
                cache.close()  # a transaction that failed half-way must not keep its lock
            problem = _problem(f"{what.format(_reason(error, self.folder))}.", self.folder)
            if isinstance(cache, BytesCache):
                self._note(copy(problem), RETRY)  # one that is raised keeps its frames alive, and their bytes
            raise problem from error

    def _current(self) -> diskcache.Cache:
        with self._lock:
            again = self._problem and time.monotonic() > self._until
            if again or _file(self.folder) != self._file:
                self._open(0.1)
            return self.cache

    def _open(self, patience: float) -> None:
        before = self._file
        self.cache, problem = opened(self.folder, patience)
        self._file = _file(self.folder)
        if problem:
            self._note(problem, RETRY)
        elif before not in (None, self._file):
            replaced = "was removed or replaced while it was open: its contents are gone."
            self._note(_problem(replaced, self.folder), NOTICE)
        else:
            self._problem = None
        if isinstance(self.cache, BytesCache):
            with contextlib.suppress(*ERRORS):
                self.cache.sweep()

    def _note(self, problem: StoreError, seconds: float) -> None:
        """Report a problem for some time; then the folder is opened again, which shows whether the problem is
        solved."""
        if str(problem) != str(self._problem):
            log.warning("%s", problem)
        self._problem, self._until = problem, time.monotonic() + seconds


def opened(folder: Path, patience: float) -> tuple[diskcache.Cache, StoreError | None]:
    """The cache in a folder, and what is wrong with it where it cannot be written.

    Args:
        folder: Where the store lies; made where there is none.
        patience: Seconds to wait for a process that has locked it.
    """
    try:
        return _to_write(folder, patience), None
    except UNUSABLE as error:
        why, locked = _reason(error, folder), getattr(error, "sqlite_errorcode", None) == sqlite3.SQLITE_BUSY
    except StoreError as error:
        why, locked = error.what, False
    address = (folder / DBNAME).absolute().as_uri()
    for options in ("mode=ro",) if locked else ("mode=ro", "mode=ro&immutable=1"):  # the second needs no -shm file
        try:
            reading = ReadingCache(folder, f"{address}?{options}", patience)
        except ERRORS:
            continue
        return reading, _problem(
            f"cannot be written ({why}): stored results can be read, nothing new is stored.", folder
        )
    return ReadingCache(folder, EMPTY, patience), _problem(
        f"cannot be used ({why}): only shipped results are shown.", folder
    )


def _to_write(folder: Path, patience: float) -> BytesCache:
    """Asks first, because diskcache's constructor waits a minute for a lock and writes to whatever it finds."""
    database, version = folder / DBNAME, 0
    if database.exists():
        with contextlib.closing(sqlite3.connect(database, timeout=patience, isolation_level=None)) as connection:
            version = connection.execute("PRAGMA user_version").fetchone()[0]
            if version > VERSION:
                raise StoreError("a newer version of the project wrote it")
            connection.execute("BEGIN IMMEDIATE")
            connection.execute("ROLLBACK")
    cache = BytesCache(folder)
    if version < VERSION:
        cache._sql(f"PRAGMA user_version = {VERSION}")
    return cache


def _reason(error: BaseException, folder: Path) -> str:
    """An error of sqlite or the system in a few words, without paths. sqlite says "disk I/O error" of a full disk and
    "unable to open" of a read-only one: what the folder itself says to a new file is clearer."""
    if isinstance(error, OSError):
        return os.strerror(error.errno) if error.errno else type(error).__name__
    try:
        with tempfile.TemporaryFile(dir=folder) as stream:
            stream.write(bytes(1 << 16))
    except OSError as plain:
        return _reason(plain, folder)
    return str(error) or str(error.__context__ or "it is locked")  # diskcache's Timeout says nothing itself


def _problem(what: str, folder: Path) -> StoreError:
    return StoreError(f"The store {what}", where=str(folder), hint=HINT)


def _file(folder: Path) -> tuple[int, int] | None:
    """(device, inode) of the database file; None where there is none."""
    file = status(folder / DBNAME)
    return (file.st_dev, file.st_ino) if file else None
