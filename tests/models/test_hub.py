"""Hub downloads: off, limited, bound by the disk, and never with the server's own token."""

import threading
from collections import namedtuple
from pathlib import Path
from queue import Queue
from types import SimpleNamespace

import huggingface_hub
import pytest

from bertviz_core.errors import DownloadNeeded, ModelError
from bertviz_core.models import checkpoint, hub
from bertviz_core.settings import Access

Usage = namedtuple("Usage", "total used free")
SIZE = 440_000_000


@pytest.fixture
def tokens(monkeypatch, tmp_path: Path) -> list[object]:
    """A hub with one model of 440 MB, an empty cache and a disk with 100 GB left; gives the tokens it is asked with."""
    seen: list[object] = []

    class Api:
        def __init__(self, token: object = None) -> None:
            seen.append(token)

        def model_info(self, *_: object, **__: object) -> SimpleNamespace:
            return SimpleNamespace(siblings=[SimpleNamespace(rfilename="model.safetensors", size=SIZE)])

    def snapshot(*_: object, local_files_only: bool = False, token: object = None, **__: object) -> str:
        seen.append(token)
        if local_files_only:
            raise FileNotFoundError
        return str(checkpoint.DEMO_FOLDER)

    monkeypatch.setattr(huggingface_hub, "HfApi", Api)
    monkeypatch.setattr(huggingface_hub, "snapshot_download", snapshot)
    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_CACHE", str(tmp_path / "hub"))
    monkeypatch.setattr(hub.shutil, "disk_usage", lambda _: Usage(0, 0, 100 * 10**9))
    return seen


@pytest.mark.parametrize("token", [False, None])
def test_the_token_is_what_access_says(tokens: list[object], token: bool | None) -> None:
    access = Access(hub_token=token, downloads=10**9)
    with pytest.raises(DownloadNeeded):
        checkpoint.find("owner/model", access=access)
    checkpoint.download("owner/model", access=access)
    assert len(tokens) == 4 and set(tokens) == {token}


def test_downloads_that_are_off_ask_nobody(tokens: list[object]) -> None:
    with pytest.raises(ModelError, match="downloads are off"):
        checkpoint.find("owner/model", access=Access(downloads=0))
    assert len(tokens) == 1  # the local cache alone


@pytest.mark.parametrize("present", [0, 10**7])
def test_what_is_downloaded_already_counts(tokens: list[object], tmp_path: Path, present: int) -> None:
    blobs = tmp_path / "hub" / "models--a" / "blobs"
    blobs.mkdir(parents=True)
    (blobs / "one").write_bytes(bytes(present))
    (blobs / "two").symlink_to(blobs / "one")
    access = Access(downloads=SIZE + 10**6)
    if present:
        with pytest.raises(ModelError, match="takes 440 MB; 431 MB are left for downloads"):
            checkpoint.find("owner/model", access=access)
        with pytest.raises(ModelError, match="left for downloads"):
            checkpoint.download("owner/model", access=access)
    else:
        with pytest.raises(DownloadNeeded):
            checkpoint.find("owner/model", access=access)


def test_what_arrives_is_reported(tokens: list[object], tmp_path: Path) -> None:
    blobs = tmp_path / "hub" / "models--a" / "blobs"
    blobs.mkdir(parents=True)
    (blobs / "before").write_bytes(bytes(1000))
    sizes: Queue[int] = Queue()
    with hub.arriving(sizes.put, interval=0.01):
        assert sizes.get(timeout=10) == 0
        (blobs / "model.incomplete").write_bytes(bytes(500))
        while sizes.get(timeout=10) != 500:
            pass
    assert not [thread for thread in threading.enumerate() if "watch" in thread.name]


def test_a_download_leaves_room_on_the_disk(tokens: list[object], monkeypatch) -> None:
    monkeypatch.setattr(hub.shutil, "disk_usage", lambda _: Usage(0, 0, hub.SPARE + SIZE - 1))
    with pytest.raises(ModelError, match="left on the disk"):
        checkpoint.find("owner/model")
    monkeypatch.setattr(hub.shutil, "disk_usage", lambda _: Usage(0, 0, hub.SPARE + SIZE))
    with pytest.raises(DownloadNeeded):
        checkpoint.find("owner/model")
