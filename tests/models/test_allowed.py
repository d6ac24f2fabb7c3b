"""Models and trainings on a server that limits its folders: names are looked up, and every miss has one answer."""

import shutil
from pathlib import Path

import pytest

from bertviz_core.emergence.training_folder import find_training
from bertviz_core.errors import BertvizError
from bertviz_core.models import allowed, checkpoint, hub
from bertviz_core.settings import Access
from tests import trainings


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
    trainings.save(root / "mine", steps=(3, 30))
    allowed._scan.cache_clear()
    monkeypatch.setattr(allowed, "SECONDS", 10**9)  # no test runs into a new look at the folders
    return root.resolve()


def limited(*folders: Path, downloads: int = 0) -> Access:
    return Access(public=True, folders=folders, downloads=downloads, hub_token=False)


def test_models_and_trainings_of_allowed_folders_are_offered_by_name(folder: Path) -> None:
    names = set(allowed.models(limited(folder)))
    assert {"bert-2", "deep/inner", "alias"} <= names and "outside" not in names
    assert not any("step-" in name for name in names)
    assert "mine" in allowed.trainings(limited(folder))
    found = checkpoint.find("deep/inner", access=limited(folder))
    assert (found.name, found.layers) == ("deep/inner", 2)
    assert find_training("mine", limited(folder)).steps == (3, 30)


def test_an_allowed_folder_may_be_a_model_itself(folder: Path) -> None:
    assert set(allowed.models(limited(folder / "bert-2"))) == {"bert-2"}
    assert checkpoint.find("demo", access=limited()).name == "demo"


NAMES = [
    "~root", "/nope", "..", "../elsewhere", "outside", "bert-2/../bert-2", "missing", "owner/model", "", "\0",
]  # fmt: skip


@pytest.mark.parametrize("name", NAMES)
def test_every_miss_has_the_same_answer_and_reads_nothing(folder: Path, name: str, monkeypatch) -> None:
    access = limited(folder)
    allowed.models(access)  # the folders are looked through once, whatever is asked for
    for reader in ("is_dir", "exists", "iterdir", "expanduser", "resolve", "open", "stat"):
        monkeypatch.setattr(Path, reader, lambda *_, **__: pytest.fail("looked at the disk"))
    monkeypatch.setattr(hub, "cached", lambda *_: pytest.fail("asked the hub"))
    answers = {"model": "No model with this name is available.", "training": "No training with this name is available."}
    for kind, find in (("model", checkpoint.find), ("training", find_training)):
        with pytest.raises(BertvizError) as caught:
            find(name, access=access)
        assert (caught.value.what, caught.value.where, caught.value.hint) == (answers[kind], "", allowed.HINT)


@pytest.mark.parametrize("name", ["~root", "/nope", "/etc", "../elsewhere", ""])
def test_where_downloads_are_allowed_paths_still_have_that_answer(folder: Path, name: str, monkeypatch) -> None:
    monkeypatch.setattr(hub, "cached", lambda *_: pytest.fail("asked the hub"))
    with pytest.raises(BertvizError, match="No model with this name"):
        checkpoint.find(name, access=limited(folder, downloads=10**9))


def test_where_downloads_are_allowed_the_hub_is_asked(folder: Path, monkeypatch) -> None:
    monkeypatch.setattr(hub, "cached", lambda *_: folder / "bert-2")
    assert checkpoint.find("owner/model", access=limited(folder, downloads=10**9)).layers == 2
