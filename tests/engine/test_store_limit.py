import os
import sqlite3
import time
from contextlib import closing
from pathlib import Path

import pytest

from bertviz_core.analyses.base import guess_lists
from bertviz_core.corpora.source import from_bytes
from bertviz_core.engine.store import Store
from bertviz_core.engine.store_disk import sweep
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


def age(store: Store, name: str, hours: float) -> None:
    """As if the entry had been used so long ago."""
    with closing(sqlite3.connect(store.folder / "cache.db")) as database:
        database.execute("UPDATE Cache SET access_time = access_time - ? WHERE key = ?", (HOUR * hours, name))
        database.commit()


def three(store: Store) -> None:
    """Results 0, 1 and 2 of 1 MB each, of which 0 is unused for the longest time."""
    for number in range(3):
        store.put(str(number), os.urandom(MB))
        age(store, f"result/{number}", 9 - number)


def test_the_results_longest_unused_go_first(small):
    three(small)
    assert results(small) == {"0", "1", "2"}
    small.put("new", os.urandom(MB))
    assert results(small) == {"1", "2", "new"}
    small.put("newer", os.urandom(2 * MB))
    assert results(small) == {"new", "newer"}
    assert small.size() <= small.limit


def test_small_results_count_too(small):
    """They lie in the database itself."""
    for number in range(120):
        small.put(f"{number:03}", os.urandom(60_000))
        age(small, f"result/{number:03}", 300 - number)
    left = sorted(results(small))
    assert 40 < len(left) < 70
    assert left == [f"{number:03}" for number in range(120 - len(left), 120)]


@pytest.mark.parametrize("use", [Store.get, Store.mark_used])
def test_a_result_that_is_read_or_shown_from_memory_is_used(small, use):
    three(small)
    use(Store(small.folder, limit=4 * MB), "0")
    small.put("new", os.urandom(MB))
    assert results(small) == {"0", "2", "new"}


def test_what_was_stored_or_used_within_the_hour_stays(small):
    """A job needs what it has just computed or found, however small the limit."""
    three(small)
    assert small.has("0")
    for number in range(3):
        small.put(f"new {number}", os.urandom(5 * MB))
    assert results(small) == {"0", "new 0", "new 1", "new 2"}


def test_uploads_are_never_dropped_for_room_but_make_room_and_go_when_they_expire(small):
    small.put("old", os.urandom(MB // 2))
    age(small, "result/old", 2)
    token = Uploads(small, Access(upload_days=1)).keep(os.urandom(int(3.6 * MB)), "upload.bin", "text").token
    assert results(small) == set()
    age(small, f"upload/{token}", 1000)
    small.put("large", os.urandom(3 * MB))
    assert Uploads(small).source(token).size == int(3.6 * MB)
    with closing(sqlite3.connect(small.folder / "cache.db")) as database:
        database.execute("UPDATE Cache SET expire_time = 1 WHERE key NOT LIKE 'result/%'")
        database.commit()
    small.put("new", os.urandom(MB))
    assert small.size() < 5 * MB and results(small) == {"large", "new"}


def test_details_go_before_any_result(small):
    small.put("old", os.urandom(MB))
    age(small, "result/old", 1000)
    for number in range(2):
        small.write(f"detail/old/{number}", os.urandom(MB))
        age(small, f"detail/old/{number}", 10 - number)
    small.put("new", os.urandom(int(1.5 * MB)))
    assert results(small) == {"old", "new"}
    assert [f"detail/old/{number}" in small for number in range(2)] == [False, True]
    assert guess_lists.stored_parts(small, "old", from_bytes(b"", "empty")) is None
    small.put("large", os.urandom(2 * MB))
    assert results(small) == {"new", "large"} and "detail/old/1" not in small


def test_old_files_without_a_row_are_swept_at_opening_and_young_ones_are_not(small):
    small.put("large", os.urandom(MB))
    (written,) = small.folder.glob("??/??/*.val")
    folder = small.folder / "ab" / "cd"
    folder.mkdir(parents=True, exist_ok=True)
    for path, hours in ((folder / "old.val", 2), (folder / "young.val", 0), (written, 9)):
        if path != written:
            path.write_bytes(bytes(1000))
        os.utime(path, (time.time() - HOUR * hours,) * 2)  # the young one may be a write under way
    again = Store(small.folder)
    assert [path.name for path in folder.iterdir() if path != written] == ["young.val"]
    assert len(again.get("large")) == MB
    assert sweep(small.folder, old=0) == 1


def test_the_limit_can_be_set(monkeypatch, tmp_path):
    monkeypatch.delenv("BERTVIZ_STORE_LIMIT", raising=False)
    assert Store(tmp_path / "store").limit == 10 * 10**9
    monkeypatch.setenv("BERTVIZ_STORE_LIMIT", "0.5")
    assert Store(tmp_path / "store").limit == 5 * 10**8
    for bad in ("-1", "nan", "inf", "10 GB", "9" * 500):
        monkeypatch.setenv("BERTVIZ_STORE_LIMIT", bad)
        with pytest.raises(SettingsError, match="BERTVIZ_STORE_LIMIT"):
            Store(tmp_path / "store")
