"""Each name that is used of diskcache beyond its documented interface still does what the store expects of it."""

import errno
import os
from pathlib import Path

import pytest
from diskcache import Cache, Disk

from bertviz_core.engine.bytes_disk import DATABASE, BytesDisk
from bertviz_core.errors import StoreError

LARGE = bytes(100_000)  # lies in a file of its own


@pytest.fixture
def cache(tmp_path: Path) -> Cache:
    return Cache(str(tmp_path), disk=BytesDisk, disk_min_file_size=1 << 16)


def files(folder: Path) -> list[Path]:
    return list(folder.rglob("*.val"))


def test_bytes_come_back_and_nothing_else_is_read(cache: Cache, tmp_path: Path) -> None:
    cache.set("small", b"small")
    cache.set("large", LARGE)
    assert (cache.get("small"), cache.get("large")) == (b"small", LARGE)
    assert (tmp_path / DATABASE).is_file() and len(files(tmp_path)) == 1
    cache.set("text", "no bytes")
    cache.set("pickle", {"no": "bytes"})
    for name in ("text", "pickle"):
        with pytest.raises(StoreError, match="not bytes"):
            cache.get(name)


def test_a_file_is_the_owners_alone_and_whole_or_not_there(
    cache: Cache, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cache.set("a", LARGE)
    (file,) = files(tmp_path)
    assert file.stat().st_mode & 0o777 == 0o600

    def full(self: Disk, path: str, iterator: object, mode: str, encoding: str | None = None) -> int:
        Path(path).parent.mkdir(parents=True, exist_ok=True)
        Path(path).write_bytes(b"a part")
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(Disk, "_write", full)
    with pytest.raises(OSError, match="No space"):
        cache.set("b", LARGE)
    assert files(tmp_path) == [file]
