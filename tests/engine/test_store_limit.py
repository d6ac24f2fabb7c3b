import os
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from bertviz_core.analyses.base import guess_lists
from bertviz_core.corpora.source import from_bytes
from bertviz_core.engine.store import Store
from bertviz_core.engine.uploads import Uploads
from bertviz_core.errors import SettingsError
from bertviz_core.settings import Access

MB = 1_000_000
HOUR = 3600


@pytest.fixture
def small(tmp_path: Path) -> Store:
    """Of 4 MB."""
    return Store(tmp_path / "store", shipped=tmp_path / "shipped", limit=4 * MB)


def results(store: Store) -> set[str]:
    return {entry.key for entry in store.entries() if entry.kind == "result"}


def fill(store: Store, count: int, size: int) -> None:
    for number in range(count):
        store.put(f"{number:03}", os.urandom(size))


@pytest.mark.parametrize("size", [MB, 60_000], ids=["in files", "in the database itself"])
def test_the_results_stored_longest_ago_go_first(small: Store, size: int) -> None:
    count = 16 * MB // size
    fill(small, count, size)
    left = sorted(results(small))
    assert MB < len(left) * size < 5 * MB
    assert left == [f"{number:03}" for number in range(count - len(left), count)]
    assert small.size() < 10 * MB  # SQLite's write-ahead log takes up to 4 MB


def test_what_a_job_has_just_stored_stays(small: Store) -> None:
    fill(small, 3, MB)
    small.put("large", os.urandom(5 * MB))
    assert "large" in results(small)


def test_uploads_and_unfinished_work_are_never_dropped_for_room_and_go_when_they_expire(small: Store) -> None:
    token = Uploads(small, Access(upload_days=1)).keep(os.urandom(5 * MB), "upload.bin", "text").token
    small.write("work/x", b"sums", expire=30 * HOUR)
    fill(small, 8, MB)
    assert Uploads(small).source(token).size == 5 * MB and small.read("work/x") == b"sums"
    with closing(sqlite3.connect(small.folder / "uploads" / "cache.db")) as database:
        database.execute("UPDATE Cache SET expire_time = 1")
        database.commit()
    assert [*small.entries("upload", "work")] == []
    small.write("work/y", b"sums")  # a write removes what has expired
    assert small.size() < 6 * MB


def test_a_list_that_has_lost_a_part_is_not_used(small: Store) -> None:
    for number in range(2):
        small.write(f"detail/old/{number}", os.urandom(MB))
    small.write(f"detail/old/{guess_lists.COUNT}", b"2")
    assert guess_lists.stored_parts(small, "old", from_bytes(b"", "empty")) is not None
    fill(small, 4, MB)
    assert guess_lists.stored_parts(small, "old", from_bytes(b"", "empty")) is None


def test_the_limit_can_be_set(monkeypatch, tmp_path):
    monkeypatch.delenv("BERTVIZ_STORE_LIMIT", raising=False)
    assert Store(tmp_path / "store").limit == 10 * 10**9
    monkeypatch.setenv("BERTVIZ_STORE_LIMIT", "0.5")
    assert Store(tmp_path / "store").limit == 5 * 10**8
    for bad in ("-1", "nan", "inf", "10 GB", "9" * 500):
        monkeypatch.setenv("BERTVIZ_STORE_LIMIT", bad)
        with pytest.raises(SettingsError, match="BERTVIZ_STORE_LIMIT"):
            Store(tmp_path / "store")
