"""The store's files: opened, swept of what no row names, and their errors in few words."""

import os
import sqlite3
import tempfile
import time
from contextlib import closing, suppress
from pathlib import Path

from diskcache import Cache, Timeout

from bertviz_core.engine.diskcache_internals import DATABASE, POLICY, BytesDisk, CacheReader, value_files
from bertviz_core.errors import StoreError

ERRORS = (OSError, sqlite3.Error, Timeout)
WRITE_TIMEOUT_S = 10  # seconds that a write waits for another process
OLD = 3600  # seconds that a file may lack a row


def open_cache(folder: Path, limit: int, patience: float) -> Cache:
    """The cache in a folder, created where there is none; `patience` is in seconds, for a process that has locked it
    (diskcache waits for a minute). Raises one of ERRORS."""
    folder.mkdir(0o700, parents=True, exist_ok=True)
    (folder / DATABASE).touch(0o600)  # the files that SQLite puts beside it get its mode
    with closing(sqlite3.connect(folder / DATABASE, timeout=patience, isolation_level=None)) as database:
        database.execute("BEGIN IMMEDIATE")
        database.execute("ROLLBACK")
    return Cache(
        str(folder),
        timeout=WRITE_TIMEOUT_S,
        disk=BytesDisk,
        eviction_policy=POLICY,
        size_limit=limit,
        cull_limit=0,
        disk_min_file_size=1 << 16,
    )


def sweep(folder: Path, old: float = OLD) -> int:
    """Remove files without a row that a killed process left, `old` seconds ago or earlier; returns their number."""
    before = time.time() - old
    count = 0
    paths = value_files(folder)
    with closing(CacheReader(folder)) as reader:
        known = reader.files()
    if known is None:  # It is not known which files have a row.
        return 0
    for path in paths:
        if str(path.relative_to(folder)) not in known:
            with suppress(FileNotFoundError):
                if path.stat().st_mtime < before:
                    path.unlink()
                    count += 1
    return count


def file_of(folder: Path) -> tuple[int, int] | None:
    """A database's (device, inode), if any."""
    with suppress(OSError):
        file = (folder / DATABASE).stat()
        return file.st_dev, file.st_ino
    return None


def reason(error: BaseException, folder: Path) -> str:
    """An error in few words, without paths."""
    if isinstance(error, StoreError):
        return error.what
    if isinstance(error, OSError):
        return os.strerror(error.errno) if error.errno else type(error).__name__
    try:
        with tempfile.TemporaryFile(dir=folder) as stream:  # Where the disk is full or read-only, the error says so.
            stream.write(bytes(1 << 16))
    except OSError as plain:
        return reason(plain, folder)
    return str(error) or str(error.__context__ or "it is locked")  # diskcache's Timeout says nothing itself
