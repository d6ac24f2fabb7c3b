"""The limit of the store: the results longest unused go, and nothing else; and what is swept."""

from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path

import pytest

from bertviz_core.access import Access
from bertviz_core.analyses import details, model_pass, requests
from bertviz_core.analyses.request import Request
from bertviz_core.corpora.source import from_bytes
from bertviz_core.engine import store as store_module
from bertviz_core.engine.store import Store
from bertviz_core.engine.store_folder import default_limit
from bertviz_core.engine.uploads import Uploads
from bertviz_core.errors import SettingsError, StoreError
from bertviz_core.settings import Settings

MB = 1_000_000
ROOT = Path(__file__).parents[2]


@pytest.fixture
def small(tmp_path: Path) -> Store:
    """Of 4 MB."""
    return Store(tmp_path / "store", shipped=tmp_path / "shipped", limit=4 * MB)


def results(store: Store) -> set[str]:
    return {entry.key for entry in store.entries() if entry.kind == "result"}


def age(store: Store, key: str, seconds: float) -> None:
    """As if the entry had been used, and every file written, so long ago."""
    with closing(sqlite3.connect(store.folder / "cache.db")) as database:
        database.execute("UPDATE Cache SET access_time = access_time - ? WHERE key = ?", (seconds, key))
        database.commit()


def test_the_results_longest_unused_go_first(small):
    for number in range(3):
        small.put(str(number), os.urandom(MB))
        age(small, f"result/{number}", 100 - number)
    assert results(small) == {"0", "1", "2"}
    age(small, "result/0", -1000)  # used last
    small.put("new", os.urandom(MB))
    assert results(small) == {"0", "2", "new"}
    small.put("newer", os.urandom(2 * MB))
    assert results(small) == {"0", "newer"}
    assert small.size() <= small.limit


def test_small_results_count_too(small):
    """They lie in the database itself, where diskcache counts their size as 0."""
    for number in range(120):
        small.put(f"{number:03}", os.urandom(60_000))
    left = sorted(results(small))
    assert 40 < len(left) < 70
    assert left == [f"{number:03}" for number in range(120 - len(left), 120)]
    small.cache.close()
    assert small.size() <= small.limit


def test_reading_a_result_is_a_use(small):
    for number in range(3):
        small.put(str(number), os.urandom(MB))
        age(small, f"result/{number}", 100 - number)
    Store(small.folder, limit=4 * MB).get("0")
    small.put("new", os.urandom(MB))
    assert results(small) == {"0", "2", "new"}


def test_a_result_that_is_shown_from_memory_is_used(small):
    for number in range(3):
        small.put(str(number), os.urandom(MB))
        age(small, f"result/{number}", 100 - number)
    small.mark_used("0")
    small.put("new", os.urandom(MB))
    assert results(small) == {"0", "2", "new"}


def test_uploads_are_never_dropped_for_room(small):
    token = Uploads(small).keep(os.urandom(3 * MB), "upload.bin", "text").token
    age(small, f"upload/{token}", 10**6)
    for number in range(3):
        small.put(str(number), os.urandom(MB // 2))
    small.put("large", os.urandom(3 * MB))
    assert results(small) == {"large"}
    assert Uploads(small).source(token).size == 3 * MB


def test_an_upload_makes_room_and_goes_when_it_is_deleted_or_expires(small):
    small.put("old", os.urandom(3 * MB))
    Uploads(small, Access(upload_days=0)).keep(os.urandom(3 * MB), "upload.bin", "text")
    assert results(small) == set()
    small.put("new", os.urandom(MB))
    small.trim()
    assert small.size() < 2 * MB


def test_what_a_job_needs_is_not_dropped_in_any_process(small):
    for number in range(3):
        small.put(str(number), os.urandom(MB))
        age(small, f"result/{number}", 100 - number)
    with small.pinned(["0", "1", "not there yet"]):
        other = Store(small.folder, limit=4 * MB)
        other.put("new", os.urandom(3 * MB))
        assert results(small) == {"0", "1", "new"}
        other.put("not there yet", os.urandom(MB))
        age(small, "result/not there yet", 1000)
        other.put("newer", os.urandom(MB))
        assert results(small) == {"0", "1", "not there yet", "newer"}
    small.put("last", os.urandom(MB))
    assert "0" not in results(small)


def test_a_pin_stays_when_another_job_with_the_same_results_ends(small):
    with small.pinned(["0"]):
        with Store(small.folder, limit=4 * MB).pinned(["0"]):
            pass
        assert list(small.cache._pinned()) == ["result/0"]
    assert list(small.cache._pinned()) == []


def test_uses_are_remembered_for_an_hour_only(small):
    small._used["long ago"] = time.monotonic() - store_module.HOUR
    small.mark_used("now")
    assert set(small._used) == {"now"}


def test_a_job_that_was_killed_pins_for_some_days_only(small, monkeypatch):
    small.put("0", os.urandom(3 * MB))
    small.pinned(["0"], days=0).__enter__()
    small.put("new", os.urandom(3 * MB))
    assert results(small) == {"new"}


def test_an_analysis_pins_its_results_and_begins_only_where_it_can_store_them(small, source, tiny, monkeypatch):
    seen = []
    real = model_pass.compute_pass

    def watched(together, *arguments, **options):
        seen.append((sorted(f"result/{one.key()}" for one in together), sorted(small.cache._pinned())))
        return real(together, *arguments, **options)

    monkeypatch.setattr(requests, "compute_pass", watched)
    request = Request("entropy", tiny.checkpoint, source("one two three\n"), Settings(max_length=32))
    requests.compute(request, small, model=tiny)
    ((written, pinned),) = seen
    assert set(written) <= set(pinned)
    assert list(small.cache._pinned()) == []
    (small.folder.parent / "file").write_text("not a folder")
    with pytest.raises(StoreError):
        requests.compute(request, Store(small.folder.parent / "file"), model=tiny)
    assert len(seen) == 1


def test_a_result_over_the_limit_is_stored_all_the_same(small):
    """The job that computed it may have taken hours."""
    small.put("old", os.urandom(MB))
    small.put("huge", os.urandom(5 * MB))
    assert results(small) == {"huge"}
    assert len(small.get("huge")) == 5 * MB


def test_old_files_without_a_row_are_swept_at_opening_and_young_ones_are_not(small):
    small.put("large", os.urandom(MB))
    folder = small.folder / "ab" / "cd"
    folder.mkdir(parents=True, exist_ok=True)
    for name, hours in (("old", 2), ("young", 0)):  # the young one may be a write under way
        (folder / f"{name}.val").write_bytes(bytes(1000))
        os.utime(folder / f"{name}.val", (time.time() - 3600 * hours,) * 2)
    for path in small.folder.glob("??/??/*.val"):
        if path.parent != folder:
            os.utime(path, (0, 0))
    again = Store(small.folder)
    assert sorted(path.name for path in folder.iterdir()) == ["young.val"]
    assert len(again.get("large")) == MB


def test_rows_without_their_whole_file_are_swept_at_opening(small):
    for name in ("gone", "torn", "whole"):
        small.put(name, os.urandom(MB))
        (path,) = (p for p in small.folder.glob("??/??/*.val") if p.stat().st_mtime > 1000)
        if name == "torn":
            path.write_bytes(path.read_bytes()[:1000])
        os.utime(path, (0, 0))
        if name == "gone":
            path.unlink()
    again = Store(small.folder)
    assert results(again) == {"whole"}
    assert again.cache.volume() < 1.5 * MB
    assert again.cache.sweep(old=0) == 1  # the torn file itself, once nothing refers to it
    assert [p.stat().st_size for p in small.folder.glob("??/??/*.val")] == [MB]


def test_a_long_lived_server_sweeps_too(small, monkeypatch):
    monkeypatch.setattr(store_module, "HOUR", 0)
    (small.folder / "ab" / "cd").mkdir(parents=True)
    orphan = small.folder / "ab" / "cd" / "orphan.val"
    orphan.write_bytes(bytes(1000))
    os.utime(orphan, (0, 0))
    small.put("any", b"any")
    assert not orphan.exists()


def test_the_limit_can_be_set(monkeypatch, tmp_path):
    monkeypatch.delenv("BERTVIZ_STORE_LIMIT", raising=False)
    assert default_limit() == 10 * 10**9
    monkeypatch.setenv("BERTVIZ_STORE_LIMIT", "0.5")
    assert Store(tmp_path / "store").limit == 5 * 10**8
    for bad in ("", "-1", "0", "nan", "inf", "10 GB", "9" * 500):
        monkeypatch.setenv("BERTVIZ_STORE_LIMIT", bad)
        with pytest.raises(SettingsError, match="BERTVIZ_STORE_LIMIT"):
            default_limit()


def test_the_command_line_trims(small):
    for number in range(3):
        small.put(str(number), os.urandom(MB))
        age(small, f"result/{number}", 100 - number)

    def run(*arguments: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "bertviz_core", "store", *arguments, "--store", str(small.folder)]
        return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)

    assert run("trim", "--limit", "0.002").stdout == "2 entries removed\n"
    assert results(small) == {"2"}
    assert "(limit: 2,000,000)" in run("size", "--limit", "0.002").stdout
    assert run("trim", "--limit", "0").returncode == 2


def test_details_go_before_any_result(small):
    small.put("old", os.urandom(MB))
    age(small, "result/old", 1000)
    for number in range(2):
        small.keep_detail(f"old/{number}", os.urandom(MB))
        age(small, f"detail/old/{number}", 10 - number)
    small.put("new", os.urandom(int(1.5 * MB)))
    assert results(small) == {"old", "new"}
    assert [small.has_detail(f"old/{number}") for number in range(2)] == [False, True]
    assert details.stored_parts(small, "old", from_bytes(b"", "empty")) is None
    small.put("large", os.urandom(2 * MB))
    assert results(small) == {"new", "large"} and not small.has_detail("old/1")


def test_a_detail_drops_no_result_and_none_of_its_own(small):
    small.put("other", os.urandom(2 * MB))
    small.keep_detail("old/0", os.urandom(MB))
    age(small, "detail/old/0", 10)
    small.keep_detail("new/0", os.urandom(MB))
    with pytest.raises(StoreError, match="no room"):
        small.keep_detail("new/1", os.urandom(2 * MB))
    assert results(small) == {"other"} and small.has_detail("new/0") and not small.has_detail("old/0")
