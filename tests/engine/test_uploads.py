"""Uploads: opened by a random token alone, listed on one's own machine, within a limit, gone after their days."""

import hashlib

import pytest

from bertviz_core.engine.store import Store
from bertviz_core.engine.uploads import MINIMUM, Uploads
from bertviz_core.errors import InputError
from bertviz_core.settings import Access


@pytest.fixture
def uploads(store: Store) -> Uploads:
    return Uploads(store)


def test_an_upload_is_opened_by_its_token_and_by_nothing_else(uploads: Uploads) -> None:
    data = "Grüße.\nZwei.\n".encode()
    kept = uploads.keep(data, "grüße.txt", "text")
    digest = hashlib.sha256(data).hexdigest()
    with uploads.store.writing() as cache:
        assert not any(digest in key for key in cache.iterkeys())
    source = Uploads(Store(uploads.store.folder)).source(kept.token)
    assert (source.name, source.digest, source.size) == ("grüße.txt", digest, len(data))
    assert [line for _, line in source.lines()] == ["Grüße.", "Zwei."]
    assert [line for _, line in source.lines()] == ["Grüße.", "Zwei."]  # the opener gives the bytes anew
    for other in (digest, digest[:43], kept.token[:-1], kept.token + "A", "", "grüße.txt", "../" + kept.token):
        assert uploads.find(other) is None
        with pytest.raises(InputError, match="not on this server"):
            uploads.source(other)


def test_a_deleted_upload_is_gone_even_for_those_who_have_its_source(uploads: Uploads) -> None:
    kept = uploads.keep(b"line\n", "x.txt", "text")
    source = uploads.source(kept.token)
    uploads.delete(kept.token)
    assert uploads.latest("text") == [] and list(uploads.store.entries()) == []
    with pytest.raises(InputError, match="not on this server"):
        list(source.lines())


def test_an_upload_expires_and_results_stay(store: Store) -> None:
    store.put("r", b"result")
    uploads = Uploads(store, Access(upload_days=0))
    kept = uploads.keep(b"line\n", "x.txt", "text")
    assert uploads.find(kept.token) is None and uploads.latest("text") == []
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
    kept = [uploads.keep(b"x", f"{number}.txt", "text") for number in range(2)]
    with pytest.raises(InputError, match="no space for more uploads") as caught:
        uploads.keep(b"x", "more.txt", "text")
    assert "BERTVIZ_UPLOADS" in caught.value.hint
    uploads.keep(b"x", "1.txt", "text")  # the same again takes no further room
    uploads.delete(kept[0].token)
    uploads.keep(b"x", "more.txt", "text")
