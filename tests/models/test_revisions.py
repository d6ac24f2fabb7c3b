"""Revisions of a model on the hub: named with an @, downloaded only when asked, and told apart."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from bertviz_core.errors import DownloadNeeded, ModelError, SettingsError
from bertviz_core.models import checkpoint, model_sources
from bertviz_core.settings import LOCAL, Access
from tests.support import families
from tests.support.hub import NAME, Hub, ask_here, serving


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    root = families.save_training(tmp_path_factory.mktemp("revisions"), steps=(0, 7))
    return {"main": root / "step-0000007", "step0": root / "step-0000000"}


@pytest.fixture
def hub(folders: dict[str, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Hub]:
    with serving(folders) as hub:
        ask_here(hub, tmp_path / "cache", monkeypatch)
        yield hub


def test_a_revision_is_downloaded_only_when_asked_and_is_found_from_then_on(hub, folders):
    name = f"{NAME}@step0"
    with pytest.raises(DownloadNeeded) as caught:
        checkpoint.find_checkpoint(name)
    names = ("config.json", "model.safetensors", "tokenizer.json", "tokenizer_config.json")
    assert caught.value.size == sum((folders["step0"] / each).stat().st_size for each in names)
    assert (caught.value.name, caught.value.models, hub.fetched(".safetensors")) == (name, [name], 0)
    downloaded = checkpoint.download(name)
    assert downloaded == checkpoint.find_checkpoint(name) == checkpoint.find_checkpoint(NAME, "step0")
    assert (downloaded.name, downloaded.revision, downloaded.label) == (name, "step0", name)
    assert downloaded.fingerprint() == checkpoint.find_checkpoint(str(folders["step0"])).fingerprint()
    with pytest.raises(DownloadNeeded):
        checkpoint.find_checkpoint(NAME)  # its main branch has other weights
    assert checkpoint.download(NAME).fingerprint() != downloaded.fingerprint()


@pytest.mark.parametrize("revision", ["nope", "../../../x", "/etc/passwd", "a//b", "-x", "a b", "\0", "x" * 300])
def test_a_revision_that_is_not_there_or_cannot_be_is_refused(hub, revision):
    for find in (checkpoint.find_checkpoint, checkpoint.download):
        with pytest.raises(ModelError, match="has no revision") as caught:
            find(f"{NAME}@{revision}")
        assert not isinstance(caught.value, DownloadNeeded)


def test_a_revision_that_could_be_a_path_asks_nobody(hub):
    for revision in ("../../../x", "a/../../b"):
        with pytest.raises(ModelError):
            checkpoint.find_checkpoint(f"{NAME}@{revision}")
    assert hub.asked == []


def test_folders_have_no_revisions_and_may_have_the_sign_in_their_names(folders, tmp_path):
    for name in ("demo", str(folders["main"])):
        with pytest.raises(SettingsError, match="Only hub models have revisions"):
            checkpoint.find_checkpoint(f"{name}@main")
    (tmp_path / "mine@home").symlink_to(folders["main"])
    found = checkpoint.find_checkpoint(str(tmp_path / "mine@home"))
    assert (found.revision, found.layers) == (None, 2)


def test_where_downloads_are_off_the_hub_is_not_asked(hub):
    with pytest.raises(ModelError, match="downloads are off"):
        checkpoint.find_checkpoint(f"{NAME}@step0", access=Access(downloads=0))
    with pytest.raises(ModelError, match="cannot be listed: downloads are off"):
        model_sources.revisions(NAME, Access(downloads=0))
    assert hub.asked == []


def test_branches_are_listed_and_the_list_is_kept_for_a_while(hub):
    assert model_sources.revisions(NAME, LOCAL) == model_sources.revisions(NAME, LOCAL) == ("main", "step0")
    assert sum(request.endswith("/refs") for request in hub.asked) == 1
