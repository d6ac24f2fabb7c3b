"""Uploads: opened by a random token alone, deleted by their owner alone, within limits, gone after their days."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest

from bertviz_core.access import Access
from bertviz_core.engine import uploads as uploads_module
from bertviz_core.engine.store import Store
from bertviz_core.engine.uploads import MINIMUM, Uploads, owner_of
from bertviz_core.errors import InputError

ANN, BEN = owner_of("ann's secret"), owner_of("ben's secret")


@pytest.fixture
def uploads(store: Store) -> Uploads:
    return Uploads(store)


def test_an_upload_is_opened_by_its_token_and_by_nothing_else(uploads: Uploads) -> None:
    data = "Grüße.\nZwei.\n".encode()
    kept = uploads.keep(data, "grüße.txt", "text", ANN)
    digest = hashlib.sha256(data).hexdigest()
    source = Uploads(Store(uploads.store.folder)).source(kept.token)
    assert (source.name, source.digest, source.size) == ("grüße.txt", digest, len(data))
    assert [line for _, line in source.lines()] == ["Grüße.", "Zwei."]
    assert [line for _, line in source.lines()] == ["Grüße.", "Zwei."]  # the opener gives the bytes anew
    for other in (digest, digest[:43], kept.token[:-1], kept.token + "A", "", "grüße.txt", "../" + kept.token, ANN):
        assert uploads.find(other) is None
        with pytest.raises(InputError, match="not on this server"):
            uploads.source(other)


def test_the_store_knows_no_upload_by_its_digest_and_no_owner_by_the_secret(uploads: Uploads) -> None:
    kept = uploads.keep(b"private\n", "p.txt", "text", ANN)
    assert not any(kept.digest in key for key in uploads.store.cache.iterkeys())
    assert b"ann's secret" not in uploads.store.cache.get(f"name/{kept.token}")


def test_tokens_are_random_and_long(uploads: Uploads) -> None:
    tokens = {uploads.keep(b"x\n", f"{number}.txt", "text", ANN).token for number in range(20)}
    assert len(tokens) == 20 and all(len(token) == 43 for token in tokens)


def test_equal_bytes_of_two_readers_are_two_uploads(uploads: Uploads) -> None:
    first = uploads.keep(b"same\n", "ann.txt", "text", ANN)
    second = uploads.keep(b"same\n", "ben.txt", "text", BEN)
    third = uploads.keep(b"same\n", "again.txt", "text", ANN)
    assert len({first.token, second.token, third.token}) == 3 and first.digest == second.digest
    assert [uploads.source(upload.token).name for upload in (first, second, third)] == [
        "ann.txt", "ben.txt", "again.txt",
    ]  # fmt: skip
    uploads.delete(second.token, BEN)
    assert uploads.find(first.token) == first and uploads.find(second.token) is None
    assert set(uploads.of(ANN)) == {first, third} and uploads.of(BEN) == []


def test_the_same_file_of_the_same_owner_is_stored_once(uploads: Uploads) -> None:
    first = uploads.keep(b"same\n", "a.txt", "text", ANN)
    assert uploads.keep(b"same\n", "a.txt", "text", ANN) == first
    assert list(uploads) == [first]


def test_a_guest_deletes_nothing(uploads: Uploads) -> None:
    kept = uploads.keep(b"line\n", "x.txt", "text", ANN)
    for owner in (BEN, "", kept.token, kept.digest):
        uploads.delete(kept.token, owner)
    assert uploads.find(kept.token) == kept


def test_a_deleted_upload_is_gone_even_for_those_who_have_its_source(uploads: Uploads) -> None:
    kept = uploads.keep(b"line\n", "x.txt", "text", ANN)
    source = uploads.source(kept.token)
    uploads.delete(kept.token, ANN)
    assert list(uploads) == [] and list(uploads.store.cache.iterkeys()) == []
    with pytest.raises(InputError, match="not on this server"):
        list(source.lines())


def test_an_upload_expires_and_results_stay(store: Store) -> None:
    store.put("r", b"result")
    uploads = Uploads(store, Access(upload_days=0))
    kept = uploads.keep(b"line\n", "x.txt", "text", ANN)
    assert uploads.find(kept.token) is None and list(uploads) == []
    assert store.get("r") == b"result"


def test_one_reader_has_so_much_room_and_may_make_more(store: Store) -> None:
    uploads = Uploads(store, Access(reader_uploads=3 * MINIMUM))
    kept = [uploads.keep(b"x", f"{number}.txt", "text", ANN) for number in range(3)]
    for data in (b"x", bytes(4 * MINIMUM)):
        with pytest.raises(InputError, match="Your uploads would take more than 2 MB"):
            uploads.keep(data, "more.txt", "text", ANN)
    uploads.keep(b"x", "other.txt", "text", BEN)
    uploads.delete(kept[0].token, ANN)
    with pytest.raises(InputError, match="Your uploads"):
        uploads.keep(bytes(MINIMUM + 1), "large.txt", "text", ANN)
    uploads.keep(b"x", "more.txt", "text", ANN)


def test_all_readers_together_have_so_much_room(store: Store) -> None:
    uploads = Uploads(store, Access(uploads=2 * MINIMUM))
    uploads.keep(b"x", "x.txt", "text", ANN)
    uploads.keep(b"x", "x.txt", "text", BEN)
    with pytest.raises(InputError, match="no space for more uploads") as caught:
        uploads.keep(b"x", "x.txt", "text", owner_of("a third"))
    assert "BERTVIZ_UPLOADS" in caught.value.hint
    uploads.keep(b"x", "x.txt", "text", ANN)  # the same again takes no further room
    assert len(list(uploads)) == 2


def test_what_an_older_version_stored_opens_nothing(uploads: Uploads) -> None:
    cache, digest = uploads.store.cache, "0" * 64
    for token in (digest, "A" * 43):
        cache.set(f"upload/{token}", b"old\n")
        cache.set(f"name/{token}", b"old.txt")
        assert uploads.find(token) is None
    assert list(uploads) == []


def test_tokens_come_from_the_systems_random_numbers(uploads: Uploads, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[int] = []
    monkeypatch.setattr(uploads_module.secrets, "token_urlsafe", lambda size: asked.append(size) or "A" * 43)
    assert uploads.keep(b"x", "x", "text", ANN).token == "A" * 43
    assert asked == [32]


def test_the_bytes_are_there_before_the_record_that_opens_them(uploads: Uploads, monkeypatch) -> None:
    order: list[str] = []
    write = uploads.store.write
    monkeypatch.setattr(
        uploads.store, "write", lambda key, *a, **k: (order.append(key.partition("/")[0]), write(key, *a, **k))
    )
    uploads.keep(b"x", "x", "text", ANN)
    assert order == ["upload", "name"]
    assert not list(Path(uploads.store.folder).rglob("*ann*"))
