"""Writers killed in the midst of a write, many times: nothing that was stored is lost or torn (BERTVIZ_KILLS=20
is the long form)."""

import hashlib
import os
import random
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from bertviz_core.engine.store import Store
from bertviz_core.engine.uploads import Uploads

pytestmark = pytest.mark.slow

KILLS = int(os.environ.get("BERTVIZ_KILLS", "4"))
ROOT = Path(__file__).parents[2]
WRITER = """
import sys
from pathlib import Path
from bertviz_core.settings import Access
from bertviz_core.engine.store import Store
from bertviz_core.engine.uploads import Uploads
from tests.engine.test_store_kills import content
store, name = Store(Path(sys.argv[1])), sys.argv[2]
uploads = Uploads(store, Access(uploads=10**12))
for number in range(10**6):
    key = f"{name}-{number}"
    store.put(key, content(key))
    print("result", key, flush=True)
    store.put(f"shared-{number % 7}", content(f"shared-{number % 7}"))  # as the other writer does
    if number % 5 == 0:
        print("upload", uploads.keep(content(key), key, "text").token, flush=True)
    if number % 10 == 0:
        token = uploads.keep(content(key) + b"!", key, "text").token
        uploads.delete(token)
        print("deleted", token, flush=True)
"""


def content(key: str) -> bytes:
    """What is stored under a key: up to 2 MB in files, a third of them small enough for the database itself."""
    seed = hashlib.sha256(key.encode()).digest()
    size = (100, 200_000, 2_000_000)[seed[0] % 3] + seed[1]
    return (seed * (size // len(seed) + 1))[:size]


def writers(folder: Path, kill: int) -> list[str]:
    """Two processes write until they are killed; the lines that they printed after each write, but one cut off."""
    command = [sys.executable, "-c", WRITER, str(folder)]
    both = [
        subprocess.Popen([*command, f"{kill}.{name}"], cwd=ROOT, stdout=subprocess.PIPE, text=True) for name in "ab"
    ]
    lines: list[str] = []
    begun = threading.Barrier(3)

    def listen(writer: subprocess.Popen[str]) -> None:
        lines.append(writer.stdout.readline())
        begun.wait(60)
        lines.extend(writer.stdout)

    listeners = [threading.Thread(target=listen, args=(writer,)) for writer in both]
    for listener in listeners:
        listener.start()
    begun.wait(60)
    time.sleep(random.Random(kill).uniform(0.05, 0.4))
    for writer in both:
        writer.kill()
    for listener, writer in zip(listeners, both, strict=True):
        listener.join()
        writer.wait()
    return [line for line in lines if line.endswith("\n")]


def test_killed_writers_lose_nothing_and_what_they_leave_is_cleared(tmp_path: Path) -> None:
    folder, lines = tmp_path / "store", []
    for kill in range(KILLS):
        lines += writers(folder, kill)
        store = Store(folder)
        assert store.problem is None, store.problem
    done = [line.split() for line in lines]
    for kind, key in done:
        if kind == "result":
            assert store.get(key) == content(key), key
        elif kind == "upload":
            source = Uploads(store).source(key)
            assert hashlib.sha256(b"".join(source.opener())).hexdigest() == source.digest
    assert not any(Uploads(store).find(key) for kind, key in done if kind == "deleted")
    for entry in store.entries():  # what was stored and not printed any more is whole too
        if entry.kind == "result":
            assert store.get(entry.key) == content(entry.key), entry.key
    store.clear()
    assert not list(folder.rglob("*.val"))
    assert len(done) > KILLS
