"""Results and uploads on disk: bytes by key, nothing ever unpickled; past its limit the results longest unused go."""

from __future__ import annotations

import io
import os
import tempfile
import time
import uuid
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, cast

from bertviz_core.engine.store_disk import BYTES, SIZE, BytesCache, status
from bertviz_core.engine.store_folder import StoreFolder, default_limit
from bertviz_core.errors import StoreError
from bertviz_core.settings import default_folder

SHIPPED = Path(__file__).parent.parent / "assets" / "results"
MAX_HEADER = 100_000_000  # bytes; safetensors allows no more
PIN_DAYS = 7  # after which the pin of a killed job expires
WORK_DAYS = 30
HOUR, DAY = 3600, 86_400  # seconds; an hour is between two sweeps, and between two marks that a result was used


@dataclass(frozen=True, slots=True)
class Entry:
    """One stored thing.

    Attributes:
        kind: "result", "upload", "detail" of a result, or "work" of unfinished jobs.
        key: Its key or token.
        size: In bytes.
        stored: When, in seconds since 1970.
    """

    kind: str
    key: str
    size: int
    stored: float


class Store(StoreFolder):
    """Results by key, uploads by token; what ships with the project is read beside it. Safe across processes.

    Opening never fails: a store that cannot be written is read, one that cannot be read counts as empty, and both are
    tried again every few seconds. Each error of sqlite or the system leaves a method as StoreError.

    Args:
        folder: Where it lies; `default_folder()` where none is given.
        shipped: Folder of the results that ship.
        limit: Bytes on disk over which the results longest unused are dropped; `default_limit()` where none is given.
    """

    def __init__(self, folder: Path | None = None, shipped: Path = SHIPPED, limit: int | None = None) -> None:
        named = os.path.expandvars(folder or default_folder())  # as diskcache will read it
        self.shipped, self.limit = shipped, default_limit() if limit is None else limit
        self._swept, self._used = time.monotonic(), dict[str, float]()
        super().__init__(Path(named).expanduser())

    def get(self, key: str) -> bytes | None:
        """A result's bytes, from the store or from what ships with the project."""
        shipped = self.shipped / f"{key}.safetensors"
        try:
            with self.reading() as cache:
                data: bytes | None = cache.get(f"result/{key}")
        except StoreError:
            if not shipped.exists():
                raise
            data = None
        if data is not None:
            self.mark_used(key)
            return data
        return shipped.read_bytes() if shipped.exists() else None

    def has(self, key: str) -> bool:
        """Whether a result is stored or ships; one that is counts as used."""
        with suppress(StoreError), self.reading() as cache:
            if f"result/{key}" in cache:
                self.mark_used(key)
                return True
        return (self.shipped / f"{key}.safetensors").exists()

    def put(self, key: str, data: bytes) -> None:
        self.write(f"result/{key}", data)

    def write(self, name: str, data: bytes, expire: float | None = None) -> None:
        """Write an entry that expires after so many seconds. Past the limit the results longest unused make room."""
        with self.writing() as cache:
            if time.monotonic() - self._swept > HOUR:
                self._swept = time.monotonic()
                cache.sweep()
            self._make_room(cache, len(data), but=name)
            cache.set(name, data, expire=expire)

    def work(self, name: str) -> bytes | None:
        """Unfinished work that a job stored under this name, or None."""
        with self.reading() as cache:
            data: bytes | None = cache.get(f"work/{name}")
        return data

    def work_header(self, name: str) -> bytes | None:
        """The start of unfinished work, as far as `metadata_of` reads it, or None."""
        if (stream := self.open(f"work/{name}")) is None:
            return None
        with stream:
            size = stream.read(8)
            return size + stream.read(min(int.from_bytes(size, "little"), MAX_HEADER))

    def keep_detail(self, name: str, data: bytes) -> None:
        """Keep a part of what a result was made from, which grows with the corpus; the limit drops it before any
        result. `name` begins with the result's key and a slash. Only details of other results make room for it.

        Raises:
            StoreError: there is no room.
        """
        key, size = f"detail/{name}", len(data)
        with self.writing() as cache:
            cache.drop_unused(cache.volume() + size - self.limit, key.rpartition("/")[0], "detail")
            if cache.volume() + size > self.limit:
                raise StoreError("The store has no room for a detail of a result.", hint="Raise BERTVIZ_STORE_LIMIT.")
            cache.set(key, data)

    def has_detail(self, name: str) -> bool:
        """Whether the store has this detail of a result."""
        with self.reading() as cache:
            return f"detail/{name}" in cache

    def keep_work(self, name: str, data: bytes) -> None:
        """Store unfinished work for a job that goes on, or for the next one; the limit drops results before it."""
        self.write(f"work/{name}", data, expire=WORK_DAYS * DAY)

    def drop_work(self, names: Iterable[str]) -> None:
        """Delete unfinished work by name."""
        with suppress(StoreError), self.writing() as cache:
            for name in names:
                cache.delete(f"work/{name}")

    def mark_used(self, key: str) -> None:
        """Say that a result was shown, wherever it was read from: the limit drops first what was not."""
        now, cache = time.monotonic(), self.cache
        if isinstance(cache, BytesCache) and now - self._used.get(key, -HOUR) >= HOUR:
            marked = list(self._used.items())  # in one step: other threads mark too
            self._used = {name: used for name, used in marked if now - used < HOUR} | {key: now}
            cache.mark_used(f"result/{key}")

    @contextmanager
    def pinned(self, keys: Iterable[str], days: float = PIN_DAYS) -> Iterator[None]:
        """Keep the limit from dropping these results in a job; the pin of one that is killed expires. Each pin has its
        own name: several jobs may need the same results. Raises StoreError where nothing can be stored."""
        name = f"pins/{uuid.uuid4().hex}"
        self.write(name, "\n".join(f"result/{key}" for key in keys).encode(), expire=days * DAY)
        try:
            yield
        finally:
            with suppress(StoreError), self.writing() as cache:
                cache.delete(name)

    def entries(self) -> Iterator[Entry]:
        """What the store holds; the results that ship are not counted, nor what is not bytes."""
        with self.reading() as cache:
            query = f"SELECT key, {SIZE}, CAST(store_time AS REAL) FROM Cache WHERE {BYTES} ORDER BY key"
            rows = cache._sql(query, (time.time(),)).fetchall()
        for name, size, stored in rows:
            kind, _, key = name.partition("/")
            if kind in ("result", "upload", "work", "detail"):
                yield Entry(kind, key, size, stored)

    def open(self, name: str) -> BinaryIO | None:
        """An entry ("upload/...") as a stream, to be closed; None where there is none, or one that is not bytes."""
        with self.reading() as cache:
            try:
                value = cache.get(name, read=True)
            except StoreError:
                return None
        return io.BytesIO(value) if isinstance(value, bytes) else cast("BinaryIO | None", value)

    def heads(self) -> Iterator[tuple[str, bytes]]:
        """(key, safetensors header) of every result, stored or shipped, without its arrays."""
        with suppress(StoreError):  # `problem` says so
            for entry in self.entries():
                if entry.kind == "result" and (stream := self.open(f"result/{entry.key}")) is not None:
                    with stream:
                        yield entry.key, _header(stream)
        for path in sorted(self.shipped.glob("*.safetensors")):
            with path.open("rb") as stream:
                yield path.stem, _header(stream)

    def size(self) -> int:
        """Bytes of all files in its folder."""
        files = (status(Path(folder, name)) for folder, _, names in os.walk(self.folder) for name in names)
        return sum(file.st_size for file in files if file)

    def trim(self) -> int:
        """Sweep orphans, and drop details, then results, until the store keeps its limit; returns how many went."""
        with self.writing() as cache:
            return cache.sweep() + self._make_room(cache, 0)

    def clear(self) -> int:
        """Delete everything; returns the number of deleted entries."""
        count = sum(1 for _ in self.entries())  # an upload's name has a separate row
        with self.writing() as cache:
            cache.clear()
        return count

    def _make_room(self, cache: BytesCache, size: int, but: str = "") -> int:
        """Drop details, then results, until so many bytes more keep the limit; returns how many entries went."""
        kinds = ("detail", "result")
        return sum(cache.drop_unused(cache.volume() + size - self.limit, but, kind) for kind in kinds)


@contextmanager
def temporary_store() -> Iterator[Store]:
    """An empty store in a folder that is deleted at the end; it does not have the results that ship either."""
    with tempfile.TemporaryDirectory() as folder:
        yield Store(Path(folder, "store"), shipped=Path(folder, "nothing"))


def _header(stream: BinaryIO) -> bytes:
    return stream.read(min(int.from_bytes(stream.read(8), "little"), MAX_HEADER))
