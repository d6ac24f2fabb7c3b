import hashlib
import os
import pickle
import sqlite3
from pathlib import Path

import pytest

from bertviz_core.engine.store import Store
from bertviz_core.engine.uploads import MINIMUM, Uploads
from bertviz_core.errors import InputError, StoreError
from bertviz_core.settings import Access

PICKLE_MODE = 4  # diskcache's mark for a pickled value


class Mark:
    """Unpickling one creates a file: the proof that something was unpickled."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self):
        return (os.mkdir, (str(self.path),))


def test_a_result_comes_back_byte_for_byte_and_what_ships_goes_before_it(store):
    small, large = os.urandom(100), os.urandom(200_000)
    store.shipped.mkdir()
    (store.shipped / "shipped.safetensors").write_bytes(b"shipped")
    store.put("shipped", b"stored")
    assert store.get("shipped") == b"shipped"
    store.put("small", small)
    store.put("large", large)
    again = Store(store.folder, shipped=store.shipped)
    assert (again.get("small"), again.get("large"), again.get("other")) == (small, large, None)


def test_nothing_pickled_is_opened_by_reading_or_listing(store, tmp_path):
    """Rows put into the database behind the store's back, as an attacker or another program might."""
    proof = tmp_path / "unpickled"
    pickled = sqlite3.Binary(pickle.dumps(Mark(proof)))
    store.put("evil", b"harmless")
    with sqlite3.connect(store.folder / "results" / "cache.db") as database:
        database.execute("UPDATE Cache SET mode = ?, value = ?", (PICKLE_MODE, pickled))
    with pytest.raises(StoreError, match="not bytes"):
        store.get("evil")
    store.clear()
    store.put("fine", b"x")
    with sqlite3.connect(store.folder / "results" / "cache.db") as database:
        database.execute("UPDATE Cache SET key = ?, raw = 0", (pickled,))
    assert list(store.entries()) == []
    assert not proof.exists()


def test_entries_size_clear_and_a_missing_value_file(store):
    store.put("a", bytes(10))
    upload = Uploads(store).keep(b"hello", "h.txt", "text")
    found = {(entry.kind, entry.key): entry.size for entry in store.entries()}
    assert found == {("result", "a"): 10, ("upload", upload.token): 5}
    assert store.size() > 0
    assert store.clear() == 2
    assert list(store.entries()) == []
    assert store.get("a") is None
    store.put("large", os.urandom(200_000))
    (value,) = store.folder.rglob("*.val")
    value.unlink()
    assert store.get("large") is None
    value.with_name("left.val").write_bytes(b"by a process that was killed")
    store.clear()
    assert not list(store.folder.rglob("*.val"))


def test_the_default_folder_can_be_named(monkeypatch, tmp_path):
    monkeypatch.setenv("BERTVIZ_STORE", str(tmp_path / "named"))
    assert Store().folder == tmp_path / "named"
    monkeypatch.delenv("BERTVIZ_STORE")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert Store().folder == tmp_path / "bertviz_core"


def test_nobody_else_on_the_machine_reads_the_store(tmp_path):
    store = Store(tmp_path / "new")
    store.put("small", b"small")
    store.put("large", bytes(1 << 20))
    assert (tmp_path / "new").stat().st_mode & 0o777 == 0o700
    files = [path for path in (tmp_path / "new").rglob("*") if path.is_file()]
    assert len(files) >= 2 and {path.stat().st_mode & 0o777 for path in files} == {0o600}


def test_an_upload_is_opened_by_its_token_and_by_nothing_else(store):
    uploads, data = Uploads(store), "Grüße.\nZwei.\n".encode()
    upload = uploads.keep(data, "grüße.txt", "text")
    digest = hashlib.sha256(data).hexdigest()
    assert not any(digest in name for kind in ("upload", "name") for name in store.names(kind))
    source = Uploads(Store(store.folder)).source(upload.token)
    assert (source.name, source.digest, source.size) == ("grüße.txt", digest, len(data))
    assert [line for _, line in source.lines()] == ["Grüße.", "Zwei."]
    assert [line for _, line in source.lines()] == ["Grüße.", "Zwei."]  # the opener gives the bytes anew
    for other in (digest, digest[:43], upload.token[:-1], upload.token + "A", "", "grüße.txt", "../" + upload.token):
        assert uploads.find(other) is None
        with pytest.raises(InputError, match="not on this server"):
            uploads.source(other)


def test_deleted_and_expired_uploads_are_gone_even_for_those_who_have_their_source(store):
    uploads = Uploads(store)
    upload = uploads.keep(b"line\n", "x.txt", "text")
    source = uploads.source(upload.token)
    uploads.delete(upload.token)
    assert uploads.latest("text") == [] and list(store.entries()) == []
    with pytest.raises(InputError, match="not on this server"):
        list(source.lines())
    store.put("r", b"result")
    uploads = Uploads(store, Access(upload_days=0))
    upload = uploads.keep(b"line\n", "x.txt", "text")
    assert uploads.find(upload.token) is None and uploads.latest("text") == []
    assert store.get("r") == b"result"


def test_the_same_file_again_is_stored_once_on_ones_own_machine_and_apart_for_strangers(store: Store) -> None:
    uploads, public = Uploads(store), Uploads(store, Access(public=True))
    first = uploads.keep(b"same\n", "a.txt", "text")
    assert uploads.keep(b"same\n", "a.txt", "text") == first
    other = uploads.keep(b"same\n", "b.txt", "text")
    assert uploads.latest("text") == [first, other] and uploads.latest("treebank") == []
    strangers = [public.keep(b"same\n", "a.txt", "text") for _ in range(2)]
    assert len({upload.token for upload in (first, other, *strangers)}) == 4
    uploads.delete(strangers[0].token)
    assert uploads.find(first.token) == first and uploads.find(strangers[1].token) == strangers[1]


def test_all_uploads_together_have_so_much_room(store: Store) -> None:
    uploads = Uploads(store, Access(uploads=2 * MINIMUM))
    both = [uploads.keep(b"x", f"{number}.txt", "text") for number in range(2)]
    with pytest.raises(InputError, match="no space for more uploads") as caught:
        uploads.keep(b"x", "more.txt", "text")
    assert "BERTVIZ_UPLOADS" in caught.value.hint
    uploads.keep(b"x", "1.txt", "text")  # the same again takes no further room
    uploads.delete(both[0].token)
    uploads.keep(b"x", "more.txt", "text")
