import os
import shutil
import sqlite3
import time
from collections.abc import Callable
from pathlib import Path

import diskcache
import pytest

from bertviz_core.engine import store as store_module
from bertviz_core.engine.store import Store
from bertviz_core.engine.uploads import Uploads
from bertviz_core.errors import StoreError
from tests.support import broken_stores
from tests.support.running import run

pytestmark = pytest.mark.slow

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
    return broken_stores.filled(tmp_path / "store")


def check_says_so(store: Store, why: str) -> None:
    """The problem names its reason and the way out, nothing can be written, and what ships is shown."""
    assert store.problem is not None
    assert why in str(store.problem), store.problem
    assert "BERTVIZ_STORE" in store.problem.hint
    assert "--store" in store.problem.hint
    assert str(store.folder) == store.problem.where
    assert store.get("ships") == b"shipped"
    assert "ships" in [key for key, _ in store.headers()]
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


def test_read_only(tmp_path, shipped, filled):
    """Nothing of it is shown: SQLite's write-ahead log needs a folder that can be written."""
    with broken_stores.read_only(filled, tmp_path / "mount") as folder:
        store = Store(folder, shipped=shipped)
        check_says_so(store, "Read-only file system" if os.geteuid() == 0 else "Permission denied")
    check_can_be_read(Store(filled, shipped=shipped))


def test_a_path_under_a_file(tmp_path, shipped):
    (tmp_path / "file").write_text("not a folder")
    for path in (tmp_path / "file", tmp_path / "file" / "store"):
        check_says_so(Store(path, shipped=shipped), "nothing new is stored")
    assert (tmp_path / "file").read_text() == "not a folder"
    for action in ("size", "list", "clear"):
        done = run("store", action, "--store", tmp_path / "file")
        assert done.returncode == 2 and "BERTVIZ_STORE" in done.stderr and not done.stdout


def test_a_disk_that_is_full_at_opening_and_has_room_later(tmp_path, shipped, filled, monkeypatch):
    monkeypatch.setattr(store_module, "RETRY", 0)
    with broken_stores.tiny_disk(tmp_path / "mount", "2m") as disk:
        shutil.copytree(filled, disk / "store")
        broken_stores.fill(disk / "filler")
        store = Store(disk / "store", shipped=shipped)
        check_says_so(store, "full")
        (disk / "filler").unlink()
        check_can_be_read(store)
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
        # No part of the last file stayed.
        assert sum(path.stat().st_size == 300_000 for path in disk.rglob("*.val")) == len(stored)
        while True:  # and the database itself finds no room
            try:
                store.put(f"tiny-{time.monotonic_ns()}", os.urandom(20_000))
            except StoreError:
                break
        assert store.get("small") == b"small"
        broken_stores.mount("-o", "remount,size=4m", disk)
        store.put("again", LARGE)
        assert (store.get("again"), store.problem) == (LARGE, None)


def test_locked_by_another_process_and_free_again(shipped, filled, monkeypatch):
    monkeypatch.setattr(store_module, "TIMEOUT_S", 0.2)
    monkeypatch.setattr(store_module, "RETRY", 0)
    store = Store(filled, shipped=shipped)
    with broken_stores.locked(filled):
        with pytest.raises(StoreError, match="locked"):
            store.put("new", b"new")
        assert "locked" in str(store.problem)
        check_can_be_read(store)
    store.put("new", b"new")
    assert store.problem is None
    assert (store.get("new"), store.get("large")) == (b"new", LARGE)


def test_removed_while_open(shipped, filled):
    store = Store(filled, shipped=shipped)
    check_can_be_read(store)
    shutil.rmtree(filled)
    assert store.get("small") is None
    assert store.get("ships") == b"shipped"
    store.put("new", LARGE)  # what is said to be stored is there for everyone
    assert Store(filled).get("new") == LARGE
    assert store.problem is None


def test_damaged(tmp_path, shipped):
    for name, content in (("noise", os.urandom(8192)), ("zeros", bytes(8192)), ("text", b"SQLite format 3\0" * 500)):
        folder = tmp_path / name / "results"
        folder.mkdir(parents=True)
        (folder / "cache.db").write_bytes(content)
        store = Store(tmp_path / name, shipped=shipped)
        check_says_so(store, "nothing new is stored")
        assert (folder / "cache.db").read_bytes() == content  # somebody may still rescue it


@pytest.mark.parametrize("part", ["results", "uploads"])
@pytest.mark.parametrize("content", [os.urandom(8192), bytes(8192), b"cut"], ids=["noise", "zeros", "cut"])
def test_a_damaged_store_can_be_used_again_when_it_is_cleared(filled, part, content):
    database = filled / part / "cache.db"
    content = database.read_bytes()[:5000] if content == b"cut" else content
    for path in database.parent.glob("cache.db-*"):
        path.unlink()
    database.write_bytes(content)
    beside = filled / "results" / "of mine.txt"
    beside.write_text("kept")
    done = run("store", "list", store=filled)
    assert done.returncode == 2 and "store clear` empties it" in done.stderr and "Traceback" not in done.stderr
    done = run("store", "clear", store=filled)
    assert done.returncode == 0 and "was damaged: all of it" in done.stdout
    store = Store(filled)
    assert store.problem is None and not list(store.entries()) and beside.read_text() == "kept"
    store.put("new", LARGE)
    assert store.get("new") == LARGE


def test_a_store_that_is_overwritten_while_it_is_open_is_cleared(filled):
    store = Store(filled)
    check_can_be_read(store)
    for part in ("results", "uploads"):
        (filled / part / "cache.db").write_bytes(os.urandom(8192))
    assert run("store", "clear", store=filled).returncode == 0
    store.put("new", LARGE)
    assert Store(filled).get("new") == LARGE == store.get("new")


@pytest.mark.parametrize("error", [sqlite3.DatabaseError("malformed"), OSError(5, "I/O error"), diskcache.Timeout()])
def test_errors_that_cannot_be_provoked(store, monkeypatch, error):
    def broken(*args, **kwargs):
        raise error

    for name in ("get", "set", "delete", "clear", "__iter__", "__contains__"):
        monkeypatch.setattr(diskcache.Cache, name, broken)
    for use in (*READS, *WRITES):
        with pytest.raises(StoreError, match=r"cannot be (read|written) \("):
            use(store)
