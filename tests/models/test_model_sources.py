import shutil
from collections import namedtuple
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace

import huggingface_hub
import pytest
from huggingface_hub.errors import GatedRepoError, OfflineModeIsEnabled, RepositoryNotFoundError

from bertviz_core.emergence.training import find_training
from bertviz_core.errors import BertvizError, DownloadNeeded, ModelError
from bertviz_core.models import checkpoint, model_sources
from bertviz_core.settings import Access
from tests.support import families

Usage = namedtuple("Usage", "total used free")
SIZE = 440_000_000


@dataclass
class Hub:
    """A hub with one model, whose files have these names and sizes; the tokens it is asked with."""

    files: list[tuple[str, int]]
    error: Exception | None = None
    tokens: list[object] = field(default_factory=list)

    def model_info(self, *_: object, **__: object) -> SimpleNamespace:
        if self.error:
            raise self.error
        return SimpleNamespace(siblings=[SimpleNamespace(rfilename=name, size=size) for name, size in self.files])

    def snapshot(self, *_: object, local_files_only: bool = False, token: object = None, **__: object) -> str:
        self.tokens.append(token)
        if local_files_only or self.error:
            raise self.error or FileNotFoundError
        return str(checkpoint.DEMO_FOLDER)


@pytest.fixture
def hub(monkeypatch, tmp_path: Path) -> Hub:
    """With a model of 440 MB; an empty cache, and a disk with 100 GB left."""
    fake = Hub([("model.safetensors", SIZE)])
    model_sources._files.cache_clear()
    monkeypatch.setattr(huggingface_hub, "HfApi", lambda token=None: fake.tokens.append(token) or fake)
    monkeypatch.setattr(huggingface_hub, "snapshot_download", fake.snapshot)
    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_CACHE", str(tmp_path / "hub"))
    monkeypatch.setattr(model_sources.shutil, "disk_usage", lambda _: Usage(0, 0, 100 * 10**9))
    return fake


RESPONSE = SimpleNamespace(headers={}, request=None, status_code=404)


@pytest.mark.parametrize(
    ("error", "message"),
    [
        (RepositoryNotFoundError("404", response=RESPONSE), "Check the spelling"),
        (GatedRepoError("403", response=RESPONSE), "only to those who have accepted its license"),
        (OSError(28, "No space left on device"), r"the download failed \(No space left on device\)"),
        (OfflineModeIsEnabled(), r"the hub cannot be reached \(OfflineModeIsEnabled\)"),
    ],
)
def test_each_failure_of_the_hub_has_a_message_of_its_own(hub: Hub, error: Exception, message: str) -> None:
    hub.error = error
    for open_model in (checkpoint.find_checkpoint, checkpoint.download):
        with pytest.raises(ModelError, match=message):
            open_model("owner/model")


def test_a_download_is_announced_with_the_size_of_the_files_it_takes(hub):
    hub.files += [("pytorch_model.bin", 450_000_000), ("config.json", 600)]
    with pytest.raises(DownloadNeeded) as caught:
        checkpoint.find_checkpoint("owner/model-that-is-not-here")
    assert caught.value.size == SIZE + 600
    hub.files.pop(0)  # what is left is pickled
    model_sources._files.cache_clear()
    with pytest.raises(ModelError, match="never opened"):
        checkpoint.find_checkpoint("owner/model-that-is-not-here")


@pytest.mark.parametrize("token", [False, None])
def test_the_token_is_what_access_says(hub: Hub, token: bool | None) -> None:
    access = Access(hub_token=token, downloads=10**9)
    with pytest.raises(DownloadNeeded):
        checkpoint.find_checkpoint("owner/model", access=access)
    checkpoint.download("owner/model", access=access)
    assert len(hub.tokens) == 3 and set(hub.tokens) == {token}


def test_downloads_that_are_off_ask_nobody(hub: Hub) -> None:
    with pytest.raises(ModelError, match="downloads are off"):
        checkpoint.find_checkpoint("owner/model", access=Access(downloads=0))
    assert len(hub.tokens) == 1  # the local cache alone


def test_what_is_downloaded_already_counts(hub: Hub, tmp_path: Path) -> None:
    blobs = tmp_path / "hub" / "models--a" / "blobs"
    blobs.mkdir(parents=True)
    access = Access(downloads=SIZE + 10**6)
    with pytest.raises(DownloadNeeded):
        checkpoint.find_checkpoint("owner/model", access=access)
    (blobs / "one").write_bytes(bytes(10**7))
    (blobs / "two").symlink_to(blobs / "one")
    with pytest.raises(ModelError, match="takes 440 MB; 431 MB are left for downloads"):
        checkpoint.find_checkpoint("owner/model", access=access)


def test_a_download_leaves_room_on_the_disk(hub: Hub, monkeypatch) -> None:
    monkeypatch.setattr(model_sources.shutil, "disk_usage", lambda _: Usage(0, 0, model_sources.SPARE + SIZE - 1))
    with pytest.raises(ModelError, match="left on the disk"):
        checkpoint.find_checkpoint("owner/model")
    monkeypatch.setattr(model_sources.shutil, "disk_usage", lambda _: Usage(0, 0, model_sources.SPARE + SIZE))
    with pytest.raises(DownloadNeeded):
        checkpoint.find_checkpoint("owner/model")


@pytest.fixture
def folder(tmp_path: Path, tiny_folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """models/{bert-2, deep/inner, outside -> elsewhere, alias -> bert-2, mine/step-3, mine/step-30}; elsewhere is a
    model too."""
    root = tmp_path / "models"
    for path in (root / "bert-2", root / "deep" / "inner", tmp_path / "elsewhere"):
        shutil.copytree(tiny_folder, path)
    (root / "outside").symlink_to(tmp_path / "elsewhere")
    (root / "alias").symlink_to(root / "bert-2")
    (root / "round").symlink_to(root)
    families.save_training(root / "mine", steps=(3, 30))
    model_sources._scan.cache_clear()
    monkeypatch.setattr(model_sources, "SECONDS", 10**9)  # no test runs into a new look at the folders
    return root.resolve()


def limited(*folders: Path, downloads: int = 0) -> Access:
    return Access(public=True, folders=folders, downloads=downloads, hub_token=False)


def test_allowed_models_and_trainings_are_offered_by_name(folder):
    names = set(model_sources.models(limited(folder)))
    assert {"bert-2", "deep/inner", "alias"} <= names and "outside" not in names
    assert not any("step-" in name for name in names)
    assert "mine" in model_sources.trainings(limited(folder))
    found = checkpoint.find_checkpoint("deep/inner", access=limited(folder))
    assert (found.name, found.layers) == ("deep/inner", 2)
    assert find_training("mine", limited(folder)).steps == (3, 30)
    assert set(model_sources.models(limited(folder / "bert-2"))) == {"bert-2"}
    for name in checkpoint.SHIPPED_MODELS:
        assert checkpoint.find_checkpoint(name, access=limited()).name == name


NAMES = ("~root", "/nope", "..", "../elsewhere", "outside", "bert-2/../bert-2", "missing", "owner/model", "", "\0")


@pytest.mark.parametrize("name", NAMES)
def test_every_miss_has_the_same_answer_and_reads_nothing(folder: Path, name: str, monkeypatch) -> None:
    access = limited(folder)
    model_sources.models(access)  # the folders are looked through once, whatever is asked for
    for reader in ("is_dir", "exists", "iterdir", "expanduser", "resolve", "open", "stat"):
        monkeypatch.setattr(Path, reader, lambda *_, **__: pytest.fail("looked at the disk"))
    monkeypatch.setattr(model_sources, "snapshot", lambda *_: pytest.fail("asked the hub"))
    answers = {"model": "No model with this name is available.", "training": "No training with this name is available."}
    for kind, find in (("model", checkpoint.find_checkpoint), ("training", find_training)):
        with pytest.raises(BertvizError) as caught:
            find(name, access=access)
        assert (caught.value.what, caught.value.where, caught.value.hint) == (answers[kind], "", model_sources.HINT)


def test_where_downloads_are_allowed_the_hub_is_asked_but_not_for_paths(folder, monkeypatch):
    asked, access = [], limited(folder, downloads=10**9)
    monkeypatch.setattr(model_sources, "snapshot", lambda *name: asked.append(name) or folder / "bert-2")
    for path in ("~root", "/nope", "/etc", "../elsewhere", ""):
        with pytest.raises(BertvizError, match="No model with this name"):
            checkpoint.find_checkpoint(path, access=access)
    assert not asked
    assert checkpoint.find_checkpoint("owner/model", access=access).layers == 2
