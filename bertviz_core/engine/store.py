"""Results and uploads on disk: bytes by name, nothing ever unpickled, the oldest results dropped past a limit."""

import io
import logging
import os
import sqlite3
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import BinaryIO, NamedTuple

from diskcache import Cache, Timeout

from bertviz_core.engine.bytes_disk import DATABASE, BytesDisk
from bertviz_core.engine.packing import read_header
from bertviz_core.errors import StoreError
from bertviz_core.settings import gigabytes

SHIPPED = Path(__file__).parent.parent / "assets" / "results"
KINDS = ("result", "upload", "work", "detail")
DROPPED = ("result", "detail")  # past the limit; other kinds stay until they expire or are deleted
ONE_OF_EACH = ("result", "upload")  # kinds that are in different caches
LIMIT = 10 * 10**9  # bytes of what may be dropped
DAY = 86_400  # seconds
TIMEOUT_S = 10  # seconds that another process is waited for
CULLED = 2  # entries at most that a write past the limit drops: diskcache would drop 10, perhaps the new one too
RETRY = 10  # seconds between tries to open a folder, or to write after an error
ERRORS = (OSError, sqlite3.Error, Timeout)
# Of a database that was overwritten or cut off, or has not diskcache's tables; SQLite names others that pass.
DAMAGED = (sqlite3.SQLITE_ERROR, sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)
FILES = (f"{DATABASE}*", "[0-9a-f][0-9a-f]/[0-9a-f][0-9a-f]/*.val")  # patterns of diskcache's files
CLEAR_HINT = "`python -m bertviz_core store clear` empties it, so that it can be used again."
HINT = "Set BERTVIZ_STORE to name another folder (or use --store on the command line)."
log = logging.getLogger(__name__)


class StoreEntry(NamedTuple):
    """An entry of the store.

    Attributes:
        kind: One of KINDS.
        key: Its key, or the token of an upload.
        size: Its size in bytes.
        stored: When it was stored, in seconds since 1970.
    """

    kind: str
    key: str
    size: int
    stored: float


class Store:
    """Results by key, uploads by token, and the results that ship with the project. Safe across processes.

    Two caches of diskcache: in `results`, past `limit` bytes (`BERTVIZ_STORE_LIMIT`, in GB, or SettingsError is raised)
    a write drops the entries stored longest ago; in `uploads` nothing is dropped. Opening never fails: a folder that
    cannot be opened is tried again every few seconds, and the results that ship are there. Errors of SQLite and the
    system become StoreError. The folder is that of `BERTVIZ_STORE`, else the user's cache.
    """

    def __init__(self, folder: Path | None = None, shipped: Path = SHIPPED, limit: int | None = None) -> None:
        default = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "bertviz_core"
        # Diskcache expands variables too.
        named = os.path.expandvars(folder or os.environ.get("BERTVIZ_STORE") or default)
        self.folder = Path(named).expanduser()
        self.shipped = shipped
        self.limit = gigabytes(os.environ, "BERTVIZ_STORE_LIMIT", LIMIT) if limit is None else limit
        self._lock = threading.Lock()
        self._opened: list[tuple[int, int] | None] = []  # what was opened, see `_databases`
        self._problem = ""  # why nothing can be written, until something is
        self._is_damaged = False  # whether a database was found to be damaged
        self._retry = 0.0
        with suppress(StoreError):  # `problem` says what is wrong.
            self._current()

    @property
    def problem(self) -> StoreError | None:
        """Why nothing can be written, or None. After a failure a write is tried every few seconds."""
        if self._problem and time.monotonic() > self._retry:
            with suppress(StoreError):
                for kind in ONE_OF_EACH:
                    self.write(f"{kind}/trial", b"", expire=0)
        return self._error(self._problem) if self._problem else None

    def check(self) -> None:
        """Raise StoreError where nothing can be written."""
        if problem := self.problem:
            raise problem

    def get(self, key: str) -> bytes | None:
        """A result's bytes, shipped or stored."""
        if (shipped := self.shipped / f"{key}.safetensors").exists():
            return shipped.read_bytes()
        return self.read(f"result/{key}")

    def has(self, key: str) -> bool:
        """Whether a result is shipped or stored."""
        with suppress(StoreError):
            if f"result/{key}" in self:
                return True
        return (self.shipped / f"{key}.safetensors").exists()

    def put(self, key: str, data: bytes) -> None:
        """Store the bytes of a result."""
        self.write(f"result/{key}", data)

    def __contains__(self, name: str) -> bool:
        with self._reading(name) as cache:
            return name in cache

    def read(self, name: str) -> bytes | None:
        """Any entry ("work/..."), or None."""
        with self._reading(name) as cache:
            data: bytes | None = cache.get(name)
            return data

    def open(self, name: str) -> BinaryIO | None:
        """An entry ("upload/...") as a stream, which the caller closes; None where there is none."""
        return self._stream(name)[0]

    def header(self, name: str) -> bytes | None:
        """The safetensors header of an entry; None where there is no entry."""
        with self.open(name) or io.BytesIO() as stream:
            return read_header(stream) or None

    def write(self, name: str, data: bytes, expire: float | None = None) -> None:
        """Write an entry, which expires after so many seconds; the oldest results are dropped past the limit."""
        with self._writing(name) as cache:
            cache.set(name, data, expire=expire, tag=time.time())

    def delete(self, *names: str) -> None:
        """Delete entries, where they exist."""
        for name in names:
            with self._writing(name) as cache:
                cache.delete(name)

    def names(self, kind: str) -> list[str]:
        """The names ("result/...") of the entries of a kind, in order."""
        with self._reading(kind) as cache:
            return sorted(name for name in cache if name.startswith(f"{kind}/") and name in cache)

    def entries(self, *kinds: str) -> Iterator[StoreEntry]:
        """The entries of these kinds, or of all, that are bytes; without the results that ship."""
        for kind in kinds or KINDS:
            for name in self.names(kind):
                with suppress(StoreError):
                    stream, stored = self._stream(name)
                    with stream or io.BytesIO():
                        if stream is not None:
                            yield StoreEntry(kind, name.partition("/")[2], stream.seek(0, io.SEEK_END), stored)

    def headers(self) -> Iterator[tuple[str, bytes]]:
        """(key, safetensors header) of every result, stored or shipped."""
        stored: list[str] = []
        with suppress(StoreError):  # `problem` says what is wrong.
            stored = self.names("result")
        for name in stored:
            with suppress(StoreError):
                if header := self.header(name):
                    yield name.removeprefix("result/"), header
        for path in sorted(self.shipped.glob("*.safetensors")):
            with path.open("rb") as stream:
                yield path.stem, read_header(stream)

    def size(self) -> int:
        """Bytes of all files in its folder."""
        total = 0
        for path in self.folder.rglob("*"):
            with suppress(OSError):  # The file has just gone.
                total += path.stat().st_size if path.is_file() else 0
        return total

    def clear(self) -> int:
        """Delete all, with the files that a killed process left; returns how many entries there were."""
        count = sum(len(self.names(kind)) for kind in KINDS)  # The name of an upload does not count.
        for kind in ONE_OF_EACH:
            with self._writing(kind) as cache:
                cache.clear()
                cache.check(fix=True)
        return count

    def clear_damaged(self) -> bool:
        """Delete all of a store whose databases are damaged, so that it can be used again; returns whether they are."""
        with suppress(StoreError):
            for kind in ONE_OF_EACH:
                self.names(kind)
        if not self._is_damaged:
            return False
        for folder in (self.folder / "results", self.folder / "uploads"):
            for path in [path for pattern in FILES for path in folder.glob(pattern)]:
                path.unlink(missing_ok=True)
        self._problem = ""
        self._is_damaged = False
        self._current()
        return True

    def _stream(self, name: str) -> tuple[BinaryIO | None, float]:
        """An entry as a stream, and when it was stored; (None, 0) where there is none."""
        with self._reading(name) as cache:
            value, stored = cache.get(name, read=True, tag=True)
        stream = io.BytesIO(value) if isinstance(value, bytes) else value
        return stream, stored if isinstance(stored, float) else 0.0

    @contextmanager
    def _reading(self, name: str) -> Iterator[Cache]:
        """The cache of an entry, for reading; raises StoreError where it cannot be read."""
        cache = self._cache(name)
        try:
            yield cache
        except ERRORS as error:
            self._is_damaged = self._is_damaged or _is_damage(error)
            raise self._error(f"cannot be read ({reason(error)}).") from error

    @contextmanager
    def _writing(self, name: str) -> Iterator[Cache]:
        """The cache of an entry, for writing; raises StoreError where nothing can be written."""
        cache = self._cache(name)
        try:
            yield cache
        except ERRORS as error:
            with suppress(*ERRORS):
                cache.close()  # a transaction that failed half-way must not keep its lock
            self._is_damaged = self._is_damaged or _is_damage(error)
            raise self._note(f"cannot be written ({reason(error)}): nothing new is stored.") from error
        self._problem = ""

    def _cache(self, name: str) -> Cache:
        results, uploads = self._current()
        return results if name.partition("/")[0] in DROPPED else uploads

    def _current(self) -> tuple[Cache, Cache]:
        """Both caches, opened again where their folder has been replaced; raises StoreError where they cannot be."""
        with self._lock:
            if self._databases() != self._opened:
                self._open()
            return self._caches

    def _open(self) -> None:
        if self._problem and time.monotonic() <= self._retry:
            raise self._error(self._problem)
        try:
            self.folder.mkdir(0o700, parents=True, exist_ok=True)
            results = open_cache(self.folder / "results", "least-recently-stored", size_limit=self.limit)
            self._caches = results, open_cache(self.folder / "uploads", "none")
        except (*ERRORS, TypeError, ValueError) as error:  # the last two for settings that cannot be read
            self._is_damaged = _is_damage(error)
            problem = f"cannot be opened ({reason(error)}): nothing of it is shown, and nothing new is stored."
            raise self._note(problem) from error
        self._opened = self._databases()
        self._problem = ""
        self._is_damaged = False

    def _databases(self) -> list[tuple[int, int] | None]:
        """(device, inode) of the database of each cache, None where there is none."""
        return [_file_of(self.folder / name / DATABASE) for name in ("results", "uploads")]

    def _note(self, problem: str) -> StoreError:
        """Log why nothing can be written, where it is new; it is tried again after some seconds."""
        if problem != self._problem:
            log.warning(self._error(problem))
        self._problem = problem
        self._retry = time.monotonic() + RETRY
        return self._error(problem)

    def _error(self, what: str) -> StoreError:
        hint = f"{CLEAR_HINT} Or s{HINT[1:]}" if self._is_damaged else HINT
        return StoreError(f"The store {what}", where=str(self.folder), hint=hint)


def open_cache(folder: Path, eviction_policy: str, **settings: int) -> Cache:
    """The cache in a folder, created where there is none, for nobody else on the machine."""
    folder.mkdir(0o700, exist_ok=True)
    (folder / DATABASE).touch(0o600)  # The files that SQLite puts beside it get its mode.
    return Cache(
        str(folder),
        timeout=TIMEOUT_S,
        disk=BytesDisk,
        eviction_policy=eviction_policy,
        cull_limit=CULLED,
        disk_min_file_size=1 << 16,
        **settings,
    )


def reason(error: BaseException) -> str:
    """An error in few words, without paths."""
    if isinstance(error, Timeout):
        return "it is locked, or its disk is full or read-only"
    if isinstance(error, OSError) and error.errno:
        return os.strerror(error.errno)
    return str(error) or type(error).__name__


def _is_damage(error: BaseException) -> bool:
    """Whether an error says that a database cannot be used again as it is."""
    if isinstance(error, sqlite3.Error):
        return getattr(error, "sqlite_errorcode", None) in DAMAGED
    return isinstance(error, TypeError | ValueError)


def _file_of(path: Path) -> tuple[int, int] | None:
    with suppress(OSError):
        file = path.stat()
        return file.st_dev, file.st_ino
    return None


@contextmanager
def temporary_store() -> Iterator[Store]:
    """An empty store, without the results that ship, in a folder that is deleted at the end."""
    with TemporaryDirectory() as folder:
        yield Store(Path(folder, "store"), shipped=Path(folder, "nothing"))
