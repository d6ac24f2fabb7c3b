"""Results and uploads on disk, a file for each, never unpickled; past its limit the least recently used results go.

An entry "result/KEY" is the file `result/KEY.entry`. The time of the file is that of the entry's last use or, if it
expires, of its end. Files are written in `new/` and moved to their place when they are whole, so that any number of
processes may use a store at once, and be killed at any moment.
"""

import hashlib
import logging
import os
import secrets
import tempfile
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, nullcontext, suppress
from copy import copy
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO
from urllib.parse import quote, unquote

from bertviz_core.errors import StoreError
from bertviz_core.settings import default_folder, default_limit

SHIPPED = Path(__file__).parent.parent / "assets" / "results"
KINDS = ("detail", "result", "upload", "work")  # that are listed
DROPPED = ("detail", "result")  # for room, the first before any of the second
LASTS = {"models": 0, "name": 0, "upload": 0, "work": 0, "new": 3600}  # seconds past its time until an entry is over
SUFFIX = ".entry"
LONGEST = 200  # characters of a file's name
MAX_HEADER = 100_000_000  # bytes; safetensors allows no more
WORK_DAYS = 30
DAY = 86_400  # seconds
RECENT = 3600  # seconds for which what was stored or used is safe from the limit
RETRY = 10  # seconds for which the folder is known to be writable, or not to be
HINT = "Set BERTVIZ_STORE to name another folder (or use --store on the command line)."
log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Entry:
    """One entry of the store: its kind, one of KINDS; its key or token; its size in bytes; and the time at which it was
    last used or, of an upload and of work, expires, in seconds since 1970."""

    kind: str
    key: str
    size: int
    time: float


class Store:
    """Results by key, uploads by token; what ships with the project is read beside it. Safe across processes.

    Opening never fails: of a store that cannot be written, what can be read is read, and writing is tried again every
    few seconds. Each error of the system leaves a method as StoreError.

    Args:
        folder: Its folder; by default `default_folder()`.
        shipped: Folder of the results that ship.
        limit: Bytes on disk over which the results longest unused are dropped; `default_limit()` where none is given.
    """

    def __init__(self, folder: Path | None = None, shipped: Path = SHIPPED, limit: int | None = None) -> None:
        self.folder = Path(os.path.expandvars(folder or default_folder())).expanduser()
        self.shipped = shipped
        self.limit = default_limit() if limit is None else limit
        self._problem: StoreError | None = None
        self._retry = 0.0

    @property
    def problem(self) -> StoreError | None:
        """Why nothing can be written, or None; tried with a small file, every RETRY seconds."""
        if time.monotonic() > self._retry:
            with suppress(StoreError), self._writing():
                self.folder.mkdir(0o700, parents=True, exist_ok=True)
                with tempfile.TemporaryFile(dir=self.folder) as stream:
                    stream.write(bytes(1 << 16))
        return copy(self._problem)  # one that is raised keeps its frames alive, and their bytes

    def check(self) -> None:
        """Raise StoreError where nothing can be written."""
        if problem := self.problem:
            raise problem

    def get(self, key: str) -> bytes | None:
        """A result's bytes, from the store or from what ships with the project."""
        self.mark_used(key)
        data, shipped = self.read(f"result/{key}"), self.shipped / f"{key}.safetensors"
        return shipped.read_bytes() if data is None and shipped.exists() else data

    def has(self, key: str) -> bool:
        """Whether a result is stored or shipped; it is marked as used."""
        self.mark_used(key)
        return f"result/{key}" in self or (self.shipped / f"{key}.safetensors").exists()

    def put(self, key: str, data: bytes) -> None:
        """Store a result."""
        self.write(f"result/{key}", data)

    def __contains__(self, name: str) -> bool:
        with suppress(OSError):
            return not _is_over(name.partition("/")[0], self._path(name).stat().st_mtime)
        return False

    def read(self, name: str) -> bytes | None:
        """The bytes of any entry ("work/..."), or None."""
        with self._reading(), self.open(name) or nullcontext() as stream:
            return stream.read() if stream else None

    def open(self, name: str) -> BinaryIO | None:
        """Open an entry ("upload/...") as stream, which the caller closes; None where there is none to be read."""
        with self._reading(), suppress(FileNotFoundError, NotADirectoryError, PermissionError):
            return self._path(name).open("rb") if name in self else None
        return None

    def header(self, name: str) -> bytes | None:
        """The safetensors header of an entry, without its arrays; None where there is no entry."""
        stream = self.open(name)
        return _header(stream) if stream else None

    def write(self, name: str, data: bytes, expire: float | None = None) -> None:
        """Write an entry that expires after so many seconds; past the limit the results longest unused go."""
        path, new = self._path(name), self._path(f"new/{secrets.token_hex(16)}")
        with self._writing():
            for folder in (self.folder, new.parent, path.parent):
                folder.mkdir(0o700, parents=True, exist_ok=True)
            try:
                new.touch(0o600)
                new.write_bytes(data)
                if expire is not None:
                    os.utime(new, (time.time() + expire,) * 2)
                new.replace(path)
            finally:
                new.unlink(missing_ok=True)
            self._make_room()

    def delete(self, *names: str) -> None:
        """Delete entries; nothing happens where there is none."""
        with self._writing():
            for name in names:
                self._path(name).unlink(missing_ok=True)

    def put_work(self, name: str, data: bytes) -> None:
        """Store unfinished work for a job that goes on, or for the next one."""
        self.write(f"work/{name}", data, expire=WORK_DAYS * DAY)

    def drop_work(self, names: Iterable[str]) -> None:
        """Delete unfinished work by name."""
        with suppress(StoreError):
            self.delete(*(f"work/{name}" for name in names))

    def mark_used(self, key: str) -> None:
        """Note that a result was shown, wherever it was read from: the limit drops first what was not."""
        path = self._path(f"result/{key}")
        with suppress(OSError):
            if time.time() - path.stat().st_mtime > RECENT:
                os.utime(path)

    def entries(self, *kinds: str) -> Iterator[Entry]:
        """What is stored of some kinds, by default of KINDS; the results that ship are not counted."""
        for _, entry in (each for kind in kinds or KINDS for each in sorted(self._files(kind))):
            if not _is_over(entry.kind, entry.time):
                yield entry

    def heads(self) -> Iterator[tuple[str, bytes]]:
        """(key, safetensors header) of every result, stored or shipped, without its arrays."""
        for entry in self.entries("result"):
            if header := self.header(f"result/{entry.key}"):
                yield entry.key, header
        for path in sorted(self.shipped.glob("*.safetensors")):
            yield path.stem, _header(path.open("rb"))

    def size(self) -> int:
        """Bytes of all entries."""
        return sum(entry.size for _, entry in self._files())

    def clear(self) -> int:
        """Delete everything; returns the number of deleted entries."""
        self.check()
        count = sum(1 for _ in self.entries())  # an upload's name is an entry of its own
        with self._writing():
            for path, _ in self._files():
                path.unlink(missing_ok=True)
        return count

    def _path(self, name: str) -> Path:
        kind, _, key = name.partition("/")
        file = quote(key, safe="")
        file = file if len(file) <= LONGEST else hashlib.sha256(key.encode()).hexdigest()
        return self.folder / kind / (file + SUFFIX)

    def _files(self, kind: str = "*") -> Iterator[tuple[Path, Entry]]:
        for path in self.folder.glob(f"{kind}/*{SUFFIX}"):
            with suppress(OSError):  # it has just gone
                status = path.stat()
                key = unquote(path.name.removesuffix(SUFFIX))
                yield path, Entry(path.parent.name, key, status.st_size, status.st_mtime)

    def _make_room(self) -> None:
        """Remove what has expired and, past the limit, what was not used for the longest time, details first."""
        files = sorted(self._files(), key=lambda each: (each[1].kind, each[1].time))
        total = sum(entry.size for _, entry in files if not _is_over(entry.kind, entry.time))
        for path, entry in files:
            if _is_over(entry.kind, entry.time):
                path.unlink(missing_ok=True)
            elif total > self.limit and entry.kind in DROPPED and time.time() - entry.time > RECENT:
                path.unlink(missing_ok=True)
                total -= entry.size

    @contextmanager
    def _reading(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            raise self._error(f"The store cannot be read ({error.strerror}).") from error

    @contextmanager
    def _writing(self) -> Iterator[None]:
        """Raises StoreError where nothing can be written, and notes it until the folder is tried again."""
        self._retry, known = time.monotonic() + RETRY, str(self._problem)
        try:
            yield
            self._problem = None
        except OSError as error:
            why = f"({error.strerror}): nothing new is stored, what can be read is shown."
            self._problem = self._error(f"The store cannot be written {why}")
            if str(self._problem) != known:
                log.warning("%s", self._problem)
            raise copy(self._problem) from error

    def _error(self, what: str) -> StoreError:
        return StoreError(what, where=str(self.folder), hint=HINT)


@contextmanager
def temporary_store() -> Iterator[Store]:
    """An empty store in a folder that is deleted at the end; it does not have the results that ship either."""
    with tempfile.TemporaryDirectory() as folder:
        yield Store(Path(folder, "store"), shipped=Path(folder, "nothing"))


def _is_over(kind: str, at: float) -> bool:
    """Whether an entry with this time has expired."""
    return kind in LASTS and at + LASTS[kind] <= time.time()


def _header(stream: BinaryIO) -> bytes:
    with stream:
        return stream.read(min(int.from_bytes(stream.read(8), "little"), MAX_HEADER))
