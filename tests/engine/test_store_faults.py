"""Folders that cannot be written, read or trusted: the store opens, shows what it can, and says what is wrong."""

import os
import shutil
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import diskcache
import pytest

from bertviz_core.engine import store as store_module
from bertviz_core.engine import store_disk
from bertviz_core.engine.store import Store
from bertviz_core.engine.uploads import Uploads
from bertviz_core.errors import BertvizError, StoreError
from tests import broken_stores

LARGE = bytes(range(256)) * 1000  # lies in a file of its own
ROOT = Path(__file__).parents[2]


@pytest.fixture
def shipped(tmp_path: Path) -> Path:
    (tmp_path / "shipped").mkdir()
    (tmp_path / "shipped" / "ships.safetensors").write_bytes(b"shipped")
    return tmp_path / "shipped"


@pytest.fixture
def filled(tmp_path: Path) -> Path:
    """A store that another process wrote and closed."""
    return broken_stores.filled(tmp_path / "store", {"small": b"small", "large": LARGE})


def check_says_so(store: Store, why: str) -> None:
    """The problem names its reason and the way out, nothing can be written, and what ships is shown."""
    assert store.problem is not None
    assert why in str(store.problem), store.problem
    assert "BERTVIZ_STORE" in store.problem.hint
    assert "--store" in store.problem.hint
    assert str(store.folder) == store.problem.where
    assert store.get("ships") == b"shipped"
    assert "ships" in [key for key, _ in store.heads()]
    assert store.size() >= 0
    for write in WRITES:
        with pytest.raises(StoreError, match="BERTVIZ_STORE"):
            write(store)
    with pytest.raises(StoreError):  # a job must not begin
        store.check()


WRITES: list[Callable[[Store], object]] = [
    lambda store: store.put("new", b"new"),
    lambda store: Uploads(store).keep(b"text\n", "text.txt", "text"),
    lambda store: store.clear(),
    lambda store: store.trim(),
]
READS: list[Callable[[Store], object]] = [
    lambda store: store.get("small"),
    lambda store: Uploads(store).source("A" * 43),
    lambda store: Uploads(store).latest("text"),
    lambda store: list(store.entries()),
]


def check_can_be_read(store: Store) -> None:
    assert store.get("small") == b"small"
    assert store.get("large") == LARGE
    assert {entry.key for entry in store.entries() if entry.kind == "result"} == {"small", "large"}
    assert store.get("absent") is None
    (upload,) = Uploads(store).latest("text")
    assert [line for _, line in Uploads(store).source(upload.token).lines()] == ["An upload."]


@pytest.mark.parametrize("killed", [False, True])
def test_read_only(tmp_path, shipped, filled, killed):
    """Also when a writer was killed, whose last rows are in the write-ahead log still."""
    if killed:
        code = "s.put('late', b'late'); os.kill(os.getpid(), 9)"
        broken_stores.run(filled, code)
        assert (filled / "cache.db-wal").stat().st_size > 0
    with broken_stores.read_only(filled, tmp_path / "mount") as folder:
        store = Store(folder, shipped=shipped)
        check_says_so(store, "Read-only file system" if os.geteuid() == 0 else "Permission denied")
        if killed:
            assert store.get("late") == b"late"
        else:
            check_can_be_read(store)
            (upload,) = Uploads(store).latest("text")
            with pytest.raises(StoreError, match="BERTVIZ_STORE"):
                Uploads(store).delete(upload.token)


def test_read_only_and_empty(tmp_path, shipped):
    (tmp_path / "store").mkdir()
    with broken_stores.read_only(tmp_path / "store", tmp_path / "mount") as folder:
        store = Store(folder, shipped=shipped)
        check_says_so(store, "nothing new is stored")
        assert store.get("small") is None
        assert list(store.entries()) == []


def test_a_path_under_a_file(tmp_path, shipped):
    (tmp_path / "file").write_text("not a folder")
    for path in (tmp_path / "file", tmp_path / "file" / "store"):
        check_says_so(Store(path, shipped=shipped), "nothing new is stored")
    assert (tmp_path / "file").read_text() == "not a folder"


def test_a_path_that_cannot_be_made(shipped):
    check_says_so(Store(Path("/proc/no/store"), shipped=shipped), "nothing new is stored")


def test_a_disk_that_is_full_at_opening_and_has_room_later(tmp_path, shipped, filled, monkeypatch):
    monkeypatch.setattr(store_module, "RETRY", 0)
    with broken_stores.tiny_disk(tmp_path / "mount", "2m") as disk:
        shutil.copytree(filled, disk / "store")
        broken_stores.fill(disk / "filler")
        store = Store(disk / "store", shipped=shipped)
        check_says_so(store, "No space left on device")
        check_can_be_read(store)
        (disk / "filler").unlink()
        store.put("new", LARGE)
        assert store.problem is None
        assert Store(disk / "store").get("new") == LARGE


def test_a_disk_that_fills_up_while_the_store_is_open(tmp_path, shipped):
    with broken_stores.tiny_disk(tmp_path / "mount", "2m") as disk:
        store = Store(disk / "store", shipped=shipped)
        store.put("small", b"small")
        store.put("large", LARGE)
        stored, error = [], None
        while error is None:
            try:
                store.put(f"more-{len(stored)}", os.urandom(300_000))
                stored.append(len(stored))
            except StoreError as raised:
                error = raised
        assert "No space left" in str(error)
        assert "BERTVIZ_STORE" in error.hint
        assert store.problem is not None
        assert 1 <= len(stored) <= 7
        assert all(len(store.get(f"more-{n}") or b"") == 300_000 for n in stored)
        assert store.get(f"more-{len(stored)}") is None
        assert store.get("large") == LARGE
        assert store_disk.sweep(store.folder, old=0) == 0  # no part of the last file stayed
        while True:  # and the database itself finds no room
            try:
                store.put(f"tiny-{time.monotonic_ns()}", os.urandom(20_000))
            except StoreError:
                break
        assert store.get("small") == b"small"
        broken_stores.mount("-o", "remount,size=4m", disk)
        store.put("again", LARGE)
        assert (store.get("again"), store.problem) == (LARGE, None)


def test_a_limit_on_file_sizes_is_an_error_like_any_other(tmp_path):
    """As a full disk, for machines where nothing can be mounted."""
    code = """
import resource, signal
from bertviz_core.engine.store_disk import sweep
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
s.put("old", bytes(90_000))
resource.setrlimit(resource.RLIMIT_FSIZE, (200_000, 200_000))
try:
    s.put("new", bytes(300_000))
except StoreError as error:
    assert "File too large" in str(error) and "BERTVIZ_STORE" in str(error), error
assert s.get("new") is None and s.get("old") == bytes(90_000)
assert sweep(s.folder, old=0) == 0
"""
    broken_stores.run(tmp_path / "store", code, check=True)


@pytest.mark.parametrize("exclusive", [False, True])
def test_locked_by_another_process_and_free_again(shipped, filled, monkeypatch, exclusive):
    monkeypatch.setattr(store_module, "PATIENCE", 0.5)
    monkeypatch.setattr(store_module, "RETRY", 0)
    with broken_stores.locked(filled, exclusive=exclusive):
        began = time.monotonic()
        store = Store(filled, shipped=shipped)
        check_says_so(store, "locked")
        assert time.monotonic() - began < 10
        if not exclusive:
            check_can_be_read(store)
    store.put("new", b"new")
    assert store.problem is None
    check_can_be_read_with_new(store)


def check_can_be_read_with_new(store: Store) -> None:
    assert store.get("new") == b"new"
    assert store.get("large") == LARGE


def test_a_lock_that_comes_later_stops_a_write_but_no_reading(shipped, filled, monkeypatch):
    monkeypatch.setattr(store_disk, "PATIENCE", 0.3)
    store = Store(filled, shipped=shipped)
    with broken_stores.locked(filled):
        with pytest.raises(StoreError, match="locked"):
            store.put("new", LARGE)
        check_can_be_read(store)
    assert store_disk.sweep(store.folder, old=0) == 0
    store.put("new", LARGE)
    assert store.problem is None


def test_removed_while_open(shipped, filled):
    store = Store(filled, shipped=shipped)
    check_can_be_read(store)
    shutil.rmtree(filled)
    assert store.get("small") is None
    assert store.get("ships") == b"shipped"
    store.put("new", LARGE)  # what is said to be stored is there for everyone
    assert Store(filled).get("new") == LARGE
    assert store.problem is None


def test_removed_and_replaced_by_what_is_no_folder(shipped, filled, monkeypatch):
    monkeypatch.setattr(store_module, "RETRY", 0)
    store = Store(filled, shipped=shipped)
    shutil.rmtree(filled)
    filled.write_text("a file")
    check_says_so(store, "nothing new is stored")
    filled.unlink()
    store.put("new", b"new")
    assert Store(filled).get("new") == b"new"


def test_written_by_a_newer_version(shipped, filled):
    broken_stores.set_version(filled, 99)
    before = (filled / "cache.db").read_bytes()
    store = Store(filled, shipped=shipped)
    check_says_so(store, "newer version")
    check_can_be_read(store)
    assert (filled / "cache.db").read_bytes() == before


def test_written_by_an_older_version(tmp_path, shipped):
    """The first release opened diskcache so, and gave the database no version."""
    with diskcache.Cache(str(tmp_path / "store"), disk_min_file_size=1 << 16, eviction_policy="none") as cache:
        cache.set("result/small", b"small")
        cache.set("result/large", LARGE)
    store = Store(tmp_path / "store", shipped=shipped)
    assert store.problem is None
    assert (store.get("small"), store.get("large")) == (b"small", LARGE)
    store.put("new", b"new")
    with closing(sqlite3.connect(store.folder / "cache.db")) as database:
        assert database.execute("PRAGMA user_version").fetchone() == (store_disk.VERSION,)


def test_damaged(tmp_path, shipped):
    for name, content in (("noise", os.urandom(8192)), ("zeros", bytes(8192)), ("text", b"SQLite format 3\0" * 500)):
        folder = tmp_path / name
        folder.mkdir()
        (folder / "cache.db").write_bytes(content)
        store = Store(folder, shipped=shipped)
        check_says_so(store, "nothing new is stored")
        assert (folder / "cache.db").read_bytes() == content  # somebody may still rescue it


def test_damaged_in_the_middle(shipped, filled):
    """Pages of the table are noise: what can be read is shown, and every other method says so."""
    path = filled / "cache.db"
    data = bytearray(path.read_bytes())
    data[8192:] = os.urandom(len(data) - 8192)
    path.write_bytes(data)
    store = Store(filled, shipped=shipped)
    assert store.get("ships") == b"shipped"
    for use in (*READS, *WRITES):
        try:
            use(store)
        except BertvizError as error:
            assert "Error" not in str(error)


@pytest.mark.parametrize("table", ["Cache", "Settings"])
def test_a_table_that_goes_while_the_store_is_open(shipped, filled, table):
    """Every method gives an answer or a StoreError, and never sqlite's own errors."""
    for use in (*READS, *WRITES):
        store = Store(filled, shipped=shipped)
        with closing(sqlite3.connect(filled / "cache.db")) as database:
            database.execute(f"DROP TABLE {table}")
            database.commit()
        try:
            use(store)
        except BertvizError:
            assert store.problem is None or "BERTVIZ_STORE" in str(store.problem)
        assert store.get("ships") == b"shipped"


@pytest.mark.parametrize("error", [sqlite3.DatabaseError("malformed"), OSError(5, "I/O error"), diskcache.Timeout()])
def test_errors_that_cannot_be_provoked(store, monkeypatch, error):
    def broken(*args, **kwargs):
        raise error

    for name in ("get", "set", "delete", "clear", "cull"):
        monkeypatch.setattr(diskcache.Cache, name, broken)
    monkeypatch.setattr(store_disk.Reader, "sql", broken)
    for use in (*READS, *WRITES):
        with pytest.raises(StoreError, match=r"cannot be (read|written) \("):
            use(store)


def test_the_command_line_says_so(tmp_path):
    (tmp_path / "file").write_text("not a folder")
    command = [sys.executable, "-m", "bertviz_core", "store"]
    for action in ("size", "list", "trim", "clear"):
        done = subprocess.run(
            [*command, action, "--store", tmp_path / "file"], cwd=ROOT, capture_output=True, text=True, check=False
        )
        assert "BERTVIZ_STORE" in done.stderr
        assert "Traceback" not in done.stderr
        assert done.returncode == (2 if action in ("trim", "clear") else 0)
