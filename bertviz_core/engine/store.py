"""Results and uploads on disk: diskcache with bytes only, nothing ever unpickled, nothing ever evicted for room."""

from __future__ import annotations

import io
import os
import sqlite3
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, cast

import diskcache
from diskcache.core import MODE_BINARY, MODE_RAW

from bertviz_core.corpora.source import Source
from bertviz_core.errors import InputError, StoreError

SHIPPED = Path(__file__).parent.parent / "assets" / "results"
MOST_HEADER = 100_000_000  # bytes; safetensors allows no more
UPLOAD_DAYS = 30  # an upload untouched for so long is forgotten


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
        if mode not in (MODE_RAW, MODE_BINARY):
            raise StoreError("A store entry is not bytes; it was not opened.", hint="Clear the store.")
        return super().fetch(mode, filename, value, read)


def default_folder() -> Path:
    """`BERTVIZ_STORE`, else a folder in the user's cache directory."""
    if named := os.environ.get("BERTVIZ_STORE"):
        return Path(named)
    return Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "bertviz_core"


@dataclass(frozen=True, slots=True)
class Entry:
    """One stored thing: its kind ("result" or "upload"), key and size in bytes."""

    kind: str
    key: str
    size: int


class Store:
    """Results by key, uploads by digest; what ships with the project is read beside it. Safe across processes."""

    def __init__(self, folder: Path | None = None, shipped: Path = SHIPPED) -> None:
        self.folder, self.shipped = folder or default_folder(), shipped
        try:
            self.cache = diskcache.Cache(
                str(self.folder),
                disk=BytesDisk,
                eviction_policy="none",
                size_limit=2**62,
                disk_min_file_size=1 << 16,
            )
        except (OSError, sqlite3.Error) as error:
            raise StoreError(
                f"The store cannot be opened ({error}).",
                where=str(self.folder),
                hint="Name another with --store.",
            ) from error

    def get(self, key: str) -> bytes | None:
        """A result's bytes, from the store or from what ships with the project."""
        try:
            data = self.cache.get(f"result/{key}")
        except (OSError, sqlite3.Error, diskcache.Timeout) as error:
            raise StoreError(
                f"The store cannot be read ({error}).", where=str(self.folder), hint="Name another with --store."
            ) from error
        shipped = self.shipped / f"{key}.safetensors"
        return data if data is not None else shipped.read_bytes() if shipped.exists() else None

    def put(self, key: str, data: bytes) -> None:
        self._set(f"result/{key}", data)

    def keep_upload(self, data: bytes, name: str) -> str:
        """Keep an upload under its digest, which is returned; touching it again starts its days anew."""
        from bertviz_core.corpora.source import from_bytes

        source = from_bytes(data, name)
        seconds = UPLOAD_DAYS * 86_400
        self._set(f"name/{source.digest}", name.encode(), expire=seconds)
        self._set(f"upload/{source.digest}", io.BytesIO(data), expire=seconds, read=True)
        return source.digest

    def upload(self, digest: str) -> Source:
        """An upload by its digest alone; raises InputError when it is not here (any more)."""
        with self._open_upload(digest) as stream:
            size = stream.seek(0, io.SEEK_END)
        name = self.cache.get(f"name/{digest}", b"upload").decode()
        return Source(name, digest, size, lambda: self._open_upload(digest))

    def uploads(self) -> dict[str, str]:
        """digest -> name of every upload still kept."""
        keys = [entry.key for entry in self.entries() if entry.kind == "upload"]
        return {key: self.cache.get(f"name/{key}", b"upload").decode() for key in keys}

    def delete_upload(self, digest: str) -> None:
        self.cache.delete(f"upload/{digest}")
        self.cache.delete(f"name/{digest}")

    def entries(self) -> Iterator[Entry]:
        """What the store holds; the results that ship are not counted, nor what is not bytes."""
        for name in self.cache.iterkeys():
            kind, _, key = name.partition("/")
            try:
                stream = self.cache.get(name, read=True) if kind in ("result", "upload") else None
            except StoreError:
                continue
            if stream is not None:
                size = len(stream) if isinstance(stream, bytes) else stream.seek(0, io.SEEK_END)
                yield Entry(kind, key, size)

    def heads(self) -> Iterator[tuple[str, bytes]]:
        """(key, safetensors header) of every result, stored or shipped, without its arrays."""
        for entry in self.entries():
            if entry.kind == "result":
                held = self.cache.get(f"result/{entry.key}", read=True)
                with io.BytesIO(held) if isinstance(held, bytes) else held as stream:
                    yield entry.key, _header(stream)
        for path in sorted(self.shipped.glob("*.safetensors")):
            with path.open("rb") as stream:
                yield path.stem, _header(stream)

    def size(self) -> int:
        """Bytes on disk."""
        return int(self.cache.volume())

    def clear(self) -> int:
        """Forget results and uploads; returns how many entries went."""
        count = sum(1 for _ in self.entries())  # an upload's name has a row of its own
        self.cache.clear()
        return count

    def _open_upload(self, digest: str) -> BinaryIO:
        """Looked up anew each time: an upload may be deleted, or expire, while a job reads it."""
        stream = self.cache.get(f"upload/{digest}", read=True)
        if stream is None:
            raise InputError(
                "This upload is not on this server (any more).",
                where=f"corpus {digest[:12]}",
                hint="Upload the file again: results that were computed from it are kept.",
            )
        return cast(BinaryIO, stream)

    def _set(self, key: str, value: Any, **options: Any) -> None:
        try:
            self.cache.set(key, value, **options)
        except (OSError, sqlite3.Error, diskcache.Timeout) as error:
            raise StoreError(
                f"The store could not write ({error}); what it holds is unharmed.",
                where=str(self.folder),
                hint="Make room on the disk, or name another folder with --store.",
            ) from error


def _header(stream: BinaryIO) -> bytes:
    return stream.read(min(int.from_bytes(stream.read(8), "little"), MOST_HEADER))
