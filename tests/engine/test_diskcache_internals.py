"""Each name that is used of diskcache beyond its documented interface still does what the store expects of it."""

import errno
import os
import sqlite3
import time
from contextlib import closing
from pathlib import Path

import pytest
from diskcache import EVICTION_POLICY, Cache, Disk

from bertviz_core.engine.diskcache_internals import (
    DATABASE,
    POLICY,
    RECENT,
    BytesDisk,
    CacheReader,
    note_use,
    value_files,
)
from bertviz_core.errors import StoreError

LARGE = bytes(100_000)  # lies in a file of its own


@pytest.fixture
def cache(tmp_path: Path) -> Cache:
    return Cache(str(tmp_path), disk=BytesDisk, eviction_policy=POLICY, cull_limit=0, disk_min_file_size=1 << 16)


def test_a_reader_finds_what_diskcache_has_stored(cache: Cache, tmp_path: Path) -> None:
    began = time.time()
    cache.set("name/a", b"first")
    cache.set("name/b", b"second")
    cache.set("result/c", LARGE)
    cache.set("gone", b"x", expire=-1)
    with closing(CacheReader(tmp_path)) as reader:
        assert (reader.get("name/a"), reader.get("result/c"), reader.get("gone")) == (b"first", LARGE, None)
        with reader.get("result/c", read=True) as stream:
            assert stream.read(5) == LARGE[:5]
        assert "name/a" in reader and "gone" not in reader and "name" not in reader
        assert [(name, size) for name, size, _ in reader.entries()] == [
            ("name/a", 5),
            ("name/b", 6),
            ("result/c", 100_000),
        ]
        assert all(began <= stored <= time.time() for _, _, stored in reader.entries())
        assert reader.latest("name/") == [b"second", b"first"]
        (file,) = value_files(tmp_path)
        assert str(file.relative_to(tmp_path)) in reader.files() and (tmp_path / DATABASE).is_file()
    (tmp_path / DATABASE).write_bytes(b"no database")
    with closing(CacheReader(tmp_path)) as reader:
        assert reader.files() is None and reader.entries() == []


def test_nothing_but_bytes_is_read(cache: Cache, tmp_path: Path) -> None:
    cache.set("text", "no bytes")
    cache.set("pickle", {"no": "bytes"})
    with closing(CacheReader(tmp_path)) as reader:
        assert "pickle" not in reader and "pickle" not in [name for name, _, _ in reader.entries()]
        for name in ("text", "pickle"):
            with pytest.raises(StoreError, match="not bytes"):
                cache.get(name)
        with pytest.raises(StoreError, match="not bytes"):
            reader.get("text")


def test_a_file_is_the_owners_alone_and_whole_or_not_there(
    cache: Cache, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cache.set("result/c", LARGE)
    (file,) = value_files(tmp_path)
    assert file.stat().st_mode & 0o777 == 0o600

    def full(self: Disk, path: str, iterator: object, mode: str, encoding: str | None = None) -> int:
        Path(path).parent.mkdir(parents=True, exist_ok=True)
        Path(path).write_bytes(b"a part")
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(Disk, "_write", full)
    with pytest.raises(OSError, match="No space"):
        cache.set("result/d", LARGE)
    assert value_files(tmp_path) == [file]


def test_uploads_stay_and_of_results_the_one_unused_for_longest_goes(cache: Cache, tmp_path: Path) -> None:
    assert POLICY in EVICTION_POLICY
    for name in ("upload/x", "result/old", "result/used", "result/new"):
        cache.set(name, LARGE)
    with closing(sqlite3.connect(tmp_path / DATABASE)) as database:
        query = "UPDATE Cache SET access_time = access_time - ? WHERE key <> 'result/new'"
        database.execute(query, (2 * RECENT,))
        database.commit()
    note_use(tmp_path, "result/used", time.time())
    cache.reset("size_limit", 1)
    cache.cull()
    assert sorted(cache.iterkeys()) == ["result/new", "result/used", "upload/x"]
