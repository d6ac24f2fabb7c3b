"""diskcache's values as bytes: nothing is pickled or unpickled, and files are whole and their owner's alone.

tests/engine/test_bytes_disk.py has a test for each name here that diskcache does not document; tests/test_imports.py
fails where another module uses one.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from diskcache import Disk
from diskcache.core import DBNAME, MODE_BINARY, MODE_RAW

from bertviz_core.errors import StoreError

DATABASE = DBNAME  # the database's file in the folder of a cache


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
