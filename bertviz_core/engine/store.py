"""Results and uploads on disk: bytes by key, nothing ever unpickled, the least recently used dropped past a limit."""

import io
import logging
import os
import threading
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import BinaryIO, NamedTuple

from diskcache import Cache

from bertviz_core.engine.diskcache_internals import RECENT, CacheReader, note_use
from bertviz_core.engine.packing import read_header
from bertviz_core.engine.store_disk import ERRORS, file_of, open_cache, reason, sweep
from bertviz_core.errors import StoreError
from bertviz_core.settings import gigabytes

SHIPPED = Path(__file__).parent.parent / "assets" / "results"
KINDS = ("result", "upload", "work", "detail")
LIMIT = 10 * 10**9  # bytes of the store
DAY = 86_400  # seconds
LOCK_TIMEOUT_S = 5  # seconds to await a locked store
RETRY = 10  # seconds between tries to write
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

    Opening never fails: a store that cannot be written is read, and writing is tried again every few seconds. Errors of
    SQLite and the system become StoreError. The folder is that of `BERTVIZ_STORE`, else the user's cache; past `limit`
    bytes (`BERTVIZ_STORE_LIMIT`, in GB, or SettingsError is raised) the results longest unused are dropped.
    """

    def __init__(self, folder: Path | None = None, shipped: Path = SHIPPED, limit: int | None = None) -> None:
        default = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "bertviz_core"
        # Diskcache expands variables too.
        named = os.path.expandvars(folder or os.environ.get("BERTVIZ_STORE") or default)
        self.folder = Path(named).expanduser()
        self.shipped = shipped
        self.limit = gigabytes(os.environ, "BERTVIZ_STORE_LIMIT", LIMIT) if limit is None else limit
        self._lock = threading.Lock()
        self._used: dict[str, float] = {}  # keys of results -> when their use was last noted
        self._problem = ""  # why nothing can be written, until the folder is opened again
        self._retry = 0.0
        self._open(LOCK_TIMEOUT_S)

    @property
    def problem(self) -> StoreError | None:
        """Why nothing can be written, or None."""
        self._current()
        return self._error(self._problem) if self._problem else None

    def check(self) -> None:
        """Raise StoreError where nothing can be written."""
        if problem := self.problem:
            raise problem

    def get(self, key: str) -> bytes | None:
        """A result's bytes, shipped or stored; a stored one is marked as used."""
        if (shipped := self.shipped / f"{key}.safetensors").exists():
            return shipped.read_bytes()
        if (data := self.read(f"result/{key}")) is not None:
            self.mark_used(key)
        return data

    def has(self, key: str) -> bool:
        """Whether a result is shipped or stored; a stored one is marked as used."""
        with suppress(StoreError):
            if f"result/{key}" in self:
                self.mark_used(key)
                return True
        return (self.shipped / f"{key}.safetensors").exists()

    def put(self, key: str, data: bytes) -> None:
        """Store the bytes of a result."""
        self.write(f"result/{key}", data)

    def __contains__(self, name: str) -> bool:
        with self.reading() as reader:
            return name in reader

    def read(self, name: str) -> bytes | None:
        """Any entry ("work/..."), or None."""
        with self.reading() as reader:
            return reader.get(name)

    def open(self, name: str) -> BinaryIO | None:
        """An entry ("upload/...") as a stream, which the caller closes; None where it is missing or not bytes."""
        with self.reading() as reader, suppress(StoreError):
            value = reader.get(name, read=True)
            return io.BytesIO(value) if isinstance(value, bytes) else value
        return None

    def header(self, name: str) -> bytes | None:
        """The safetensors header of an entry; None where there is no entry."""
        with self.open(name) or io.BytesIO() as stream:
            return read_header(stream) or None

    def write(self, name: str, data: bytes, expire: float | None = None) -> None:
        """Write an entry, which expires after so many seconds; results are dropped past the limit."""
        with self.writing() as cache:
            cache.set(name, data, expire=expire)
            cache.cull()

    def delete(self, *names: str) -> None:
        """Delete entries, where they exist."""
        with self.writing() as cache:
            for name in names:
                cache.delete(name)

    def mark_used(self, key: str) -> None:
        """Note once an hour that a result was used: the limit drops others first. A busy database is not waited for."""
        now = time.time()
        if now - self._used.get(key, 0.0) <= RECENT:
            return
        self._used[key] = now
        with suppress(*ERRORS):
            note_use(self.folder, f"result/{key}", now)

    def entries(self) -> Iterator[StoreEntry]:
        """All entries that are bytes, without the results that ship."""
        with self.reading() as reader:
            rows = reader.entries()
        for name, size, stored in rows:
            kind, _, key = name.partition("/")
            if kind in KINDS:
                yield StoreEntry(kind, key, size, stored)

    def headers(self) -> Iterator[tuple[str, bytes]]:
        """(key, safetensors header) of every result, stored or shipped."""
        with suppress(StoreError):  # `problem` says what is wrong.
            for entry in self.entries():
                if entry.kind == "result" and (header := self.header(f"result/{entry.key}")):
                    yield entry.key, header
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
        """Delete all; returns how many."""
        count = len(list(self.entries()))  # The name of an upload has a row of its own, which does not count.
        with self.writing() as cache:
            cache.clear()
        return count

    @contextmanager
    def reading(self) -> Iterator[CacheReader]:
        """The entries for reading; raises StoreError where they cannot be read."""
        try:
            with closing(CacheReader(self.folder)) as reader:
                yield reader
        except ERRORS as error:
            raise self._error(f"cannot be read ({reason(error, self.folder)}).") from error

    @contextmanager
    def writing(self) -> Iterator[Cache]:
        """The cache for writing.

        Raises:
            StoreError: Nothing can be written.
        """
        cache = self._current()
        if cache is None:
            raise self._error(self._problem)
        try:
            yield cache
        except ERRORS as error:
            with suppress(*ERRORS):
                cache.close()  # a transaction that failed half-way must not keep its lock
            raise self._note(error, "nothing new was stored") from error
        if file_of(self.folder) != self._file:
            raise self._error("was removed while it was written: nothing new was stored.")
        self._problem = ""

    def _current(self) -> Cache | None:
        """The cache, opened again where its folder has been replaced, or could not be written for some seconds."""
        with self._lock:
            again = self._problem and time.monotonic() > self._retry
            if again or file_of(self.folder) != self._file:
                self._open(0.1)
            return self._cache

    def _open(self, patience: float) -> None:
        self._cache: Cache | None = None
        try:
            self._cache = open_cache(self.folder, self.limit, patience)
            self._problem = ""
        except (*ERRORS, StoreError, TypeError, ValueError) as error:  # the last two for settings that cannot be read
            self._note(error, "nothing new is stored, what can be read is shown")
        self._file = file_of(self.folder)
        with suppress(*ERRORS):  # Another process may sweep at the same time.
            sweep(self.folder)

    def _note(self, error: BaseException, effect: str) -> StoreError:
        """Log what cannot be written, where it is new; writing is tried again after some seconds."""
        problem = f"cannot be written ({reason(error, self.folder)}): {effect}."
        if problem != self._problem:
            log.warning(self._error(problem))
        self._problem = problem
        self._retry = time.monotonic() + RETRY
        return self._error(problem)

    def _error(self, what: str) -> StoreError:
        return StoreError(f"The store {what}", where=str(self.folder), hint=HINT)


@contextmanager
def temporary_store() -> Iterator[Store]:
    """An empty store, without the results that ship, in a folder that is deleted at the end."""
    with TemporaryDirectory() as folder:
        yield Store(Path(folder, "store"), shipped=Path(folder, "nothing"))
