"""Stores whose folder is read-only, full, locked, of another version or damaged, for real."""

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
OPEN = """
import os, sys
from pathlib import Path
from bertviz_core.engine.store import Store
from bertviz_core.engine.uploads import Uploads
from bertviz_core.errors import StoreError
s = Store(Path(sys.argv[1]))
"""


def run(folder: Path, code: str, check: bool = False) -> int:
    """Run code in a process of its own, `s` being the store in the folder."""
    return subprocess.run([sys.executable, "-c", OPEN + code, folder], cwd=ROOT, check=check).returncode


def filled(folder: Path) -> Path:
    """A store with two results and one upload, written and closed by a process of its own."""
    results = "s.put('small', b'small')\ns.put('large', bytes(range(256)) * 1000)\n"
    run(folder, f"{results}Uploads(s).keep(b'An upload.\\n', 'upload.txt', 'text')\n", check=True)
    return folder


def mount(*arguments: str | Path) -> None:
    if os.geteuid() != 0 or subprocess.run(["mount", *arguments], check=False, capture_output=True).returncode:
        pytest.skip("nothing can be mounted here")


@contextmanager
def read_only(folder: Path, point: Path) -> Iterator[Path]:
    """The folder as nobody can write it: permissions do not stop root, so for root it is mounted elsewhere."""
    if os.geteuid() != 0:
        paths = [folder, *folder.rglob("*")]
        modes = {path: path.stat().st_mode for path in paths}
        for path in paths:
            path.chmod(modes[path] & ~0o222)
        yield folder
        for path in paths:
            path.chmod(modes[path])
        return
    point.mkdir()
    mount("--bind", folder, point)
    try:
        mount("-o", "remount,bind,ro", point)
        yield point
    finally:
        subprocess.run(["umount", "-l", point], check=True)


@contextmanager
def tiny_disk(point: Path, size: str) -> Iterator[Path]:
    """A disk of so many bytes, in memory."""
    point.mkdir()
    mount("-t", "tmpfs", "-o", f"size={size}", "tmpfs", point)
    try:
        yield point
    finally:
        subprocess.run(["umount", "-l", point], check=True)


def fill(path: Path) -> None:
    """Take all the room that is left."""
    with path.open("wb", buffering=0) as stream:
        try:
            while True:
                stream.write(bytes(4096))
        except OSError:
            return


@contextmanager
def locked(folder: Path, exclusive: bool = False) -> Iterator[None]:
    """Another process is in the midst of a write; an exclusive one does not even let others read."""
    code = (
        "import sqlite3, sys; c = sqlite3.connect(sys.argv[1], isolation_level=None)\n"
        + ("c.execute('PRAGMA locking_mode = EXCLUSIVE')\n" if exclusive else "")
        + "c.execute('BEGIN IMMEDIATE'); c.execute('UPDATE Settings SET value = value')\n"
        "print('locked', flush=True); sys.stdin.read()"
    )
    command = [sys.executable, "-c", code, folder / "results" / "cache.db"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as holder:
        assert holder.stdout.readline() == "locked\n"
        try:
            yield
        finally:
            holder.stdin.close()
            holder.wait(10)
