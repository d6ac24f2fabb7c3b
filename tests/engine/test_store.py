"""The store: bytes only, nothing unpickled, nothing lost."""

import os
import pickle
import subprocess
import sys
from pathlib import Path

from bertviz_core.analyses import requests
from bertviz_core.analyses.request import Request
from bertviz_core.corpora.files import sample
from bertviz_core.engine.store import Store
from bertviz_core.engine.uploads import Uploads
from bertviz_core.models.checkpoint import DEMO, find
from bertviz_core.settings import Settings, default_folder


class Mark:
    """Unpickling one creates a file: the proof that something was unpickled."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self):
        return (os.mkdir, (str(self.path),))


def test_a_result_comes_back_byte_for_byte_and_survives_reopening(store):
    small, large = os.urandom(100), os.urandom(200_000)
    store.put("small", small)
    store.put("large", large)
    again = Store(store.folder, shipped=store.shipped)
    assert again.get("small") == small
    assert again.get("large") == large
    assert again.get("other") is None


def test_what_ships_is_found_beside_the_store_and_a_stored_result_goes_first(store):
    store.shipped.mkdir()
    (store.shipped / "abc.safetensors").write_bytes(b"shipped")
    assert store.get("abc") == b"shipped"
    store.put("abc", b"own")
    assert store.get("abc") == b"own"


def test_a_planted_pickle_is_no_result_and_is_not_opened(store, tmp_path):
    request = Request("entropy", find(DEMO), sample("encyclopedia"), Settings(seed=99))
    store.put(request.key(), pickle.dumps(Mark(tmp_path / "unpickled")))
    assert requests.find(store, request) is None
    assert [head for _, head in store.heads()] and not (tmp_path / "unpickled").exists()


def test_entries_size_and_clear(store):
    store.put("a", bytes(10))
    upload = Uploads(store).keep(b"hello", "h.txt", "text")
    found = {(entry.kind, entry.key): entry.size for entry in store.entries()}
    assert found == {("result", "a"): 10, ("upload", upload.token): 5}
    assert store.size() > 0
    assert store.clear() == 2
    assert list(store.entries()) == []
    assert store.get("a") is None


def test_names_of_any_characters_and_length_are_entries_inside_the_folder(store):
    names = ("../outside", "a/b", ".", "..", "ü" * 100, "%2F", "x" * 500, "")
    for name in names:
        store.put_work(name, name.encode())
    assert [store.read(f"work/{name}") for name in names] == [name.encode() for name in names]
    assert {path.parent.name for path in store.folder.parent.rglob("*.entry")} == {"work"}


def test_the_default_folder_can_be_named(monkeypatch, tmp_path):
    monkeypatch.setenv("BERTVIZ_STORE", str(tmp_path / "named"))
    assert default_folder() == tmp_path / "named"
    monkeypatch.delenv("BERTVIZ_STORE")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert default_folder() == tmp_path / "bertviz_core"


def test_many_processes_open_and_write_a_new_store_at_once(tmp_path):
    code = (
        "import os, sys; from pathlib import Path; from bertviz_core.engine.store import Store\n"
        "s = Store(Path(sys.argv[1])); assert s.problem is None, s.problem\n"
        "for n in range(20): s.put(f'{sys.argv[2]}-{n}', bytes([n]) * (n * 10_000)); s.put('shared', bytes(90_000))\n"
        "assert s.problem is None, s.problem"
    )
    command = [sys.executable, "-c", code, str(tmp_path / "store")]
    root = Path(__file__).parents[2]
    writers = [subprocess.Popen([*command, str(number)], cwd=root) for number in range(4)]
    assert [writer.wait(120) for writer in writers] == [0] * 4
    store = Store(tmp_path / "store")
    for writer in range(4):
        for n in range(20):
            assert store.get(f"{writer}-{n}") == bytes([n]) * (n * 10_000)
    assert not list((store.folder / "new").iterdir())


def test_nobody_else_on_the_machine_reads_the_store(tmp_path):
    store = Store(tmp_path / "new")
    store.put("small", b"small")
    store.put("large", bytes(1 << 20))
    assert (tmp_path / "new").stat().st_mode & 0o777 == 0o700
    files = [path for path in (tmp_path / "new").rglob("*") if path.is_file()]
    assert len(files) == 2 and {path.stat().st_mode & 0o777 for path in files} == {0o600}
