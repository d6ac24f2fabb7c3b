"""A training whose checkpoints are revisions of a model on the hub: matched, downloaded when asked, and computed."""

import json
from collections.abc import Iterator
from pathlib import Path

import huggingface_hub
import pytest

from bertviz_core.emergence.training import MOST, find_training, step_of, training_of
from bertviz_core.engine.progress import Progress
from bertviz_core.errors import BertvizError, DownloadNeeded, InputError, ModelError
from bertviz_core.models import model_sources
from bertviz_core.models.checkpoint import find_checkpoint
from bertviz_core.settings import Access
from bertviz_core.tasks import download, perform
from tests.support import families
from tests.support.hub import NAME, Hub, ask_here, serving
from tests.support.running import run

STEPS = (0, 10, 300)
SMALL = ("--max-length", "64", "--limit", "20")


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    root = families.save_training(tmp_path_factory.mktemp("revisions"), STEPS)
    steps = {f"step{step}-tokens4B": root / f"step-{step:07d}" for step in STEPS}
    pickled = root.parent / "pickled"
    pickled.mkdir()
    (pickled / "pytorch_model.bin").write_bytes(b"pickled")
    return {**steps, "main": steps["step300-tokens4B"], "step999": pickled}


@pytest.fixture
def hub(folders: dict[str, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Hub]:
    with serving(folders) as hub:
        ask_here(hub, tmp_path / "cache", monkeypatch)
        yield hub


def fetch(name: str) -> DownloadNeeded:
    """Download what a training needs, as the app's job does."""
    with pytest.raises(DownloadNeeded) as caught:
        find_training(name)
    for each in caught.value.models:
        model_sources.snapshot(*model_sources.split_revision(each), Access(), download=True)
    return caught.value


@pytest.mark.parametrize(
    ("name", "step"),
    [
        ("step1000", 1000),
        ("step1000-tokens4B", 1000),
        ("stage1-step150-tokens1B", 150),
        ("global_step5", 5),
        ("checkpoint-500", 500),
        ("v2-0030", 30),
        ("main", None),
        ("0123456789012345678901234567890123456789", None),
    ],
)
def test_the_step_is_read_from_the_name_of_a_revision(name, step):
    assert step_of(name) == step


def test_a_pattern_finds_revisions_and_says_what_they_take_before_any_is_downloaded(hub, folders):
    asked = fetch(f"{NAME}@*")
    assert asked.models == [f"{NAME}@step{step}-tokens4B" for step in STEPS]
    kinds = (".json", ".safetensors")
    files = [path for name in list(folders)[:3] for path in folders[name].iterdir() if path.suffix in kinds]
    assert asked.size == sum(path.stat().st_size for path in files)
    assert asked.what.startswith(f"3 revisions of '{NAME}@*' are not on this machine; downloading them takes")
    training = find_training(f"{NAME}@*")
    assert (training.name, training.steps) == (f"{NAME}@*", STEPS)
    reasons = {entry["where"][0]: entry["reason"] for entry in training.skipped.to_json()}
    assert set(reasons) == {"main", "step999"}
    assert "without a step" in reasons["main"]
    assert "no safetensors weights" in reasons["step999"]


def test_named_revisions_need_no_list_and_what_is_here_needs_no_hub(hub, monkeypatch):
    name = f"{NAME}@step0-tokens4B, step10-tokens4B"
    fetch(name)
    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_OFFLINE", True)
    assert find_training(name).steps == (0, 10)
    assert not any(request.endswith("/refs") for request in hub.asked)
    with pytest.raises(ModelError, match=r"cannot be listed: the hub cannot be reached \(Offline") as caught:
        find_training(f"{NAME}@step*")
    assert "Name those that are on this machine" in caught.value.hint
    with pytest.raises(InputError, match="not on this machine and the hub cannot be reached"):
        find_training(f"{NAME}@step300-tokens4B")


def test_a_revision_knows_those_that_are_on_this_machine(hub):
    fetch(f"{NAME}@step0-tokens4B, step10-tokens4B")
    asked = len(hub.asked)
    assert training_of(find_checkpoint(NAME, "step10-tokens4B")).steps == (0, 10)
    assert len(hub.asked) == asked


@pytest.mark.parametrize(
    ("name", "message"),
    [
        (f"{NAME}@stp*", r"No revision of 'owner/trained' matches 'stp\*'"),
        ("owner/other@step*", "The hub has no model"),
        (NAME, "no folder"),
        (f"{NAME}@", "no folder"),
        ("/nope@step*", "no folder"),
        ("../a@step*", "no folder"),
        (f"{NAME}@main", "without a step"),
        (f"{NAME}@{','.join(f'step{step}' for step in range(MOST + 1))}", f"the most are {MOST}"),
    ],
)
def test_what_is_no_training_is_one_message(hub, name, message):
    with pytest.raises(BertvizError, match=message) as caught:
        find_training(name)
    assert caught.value.hint


def test_together_they_must_fit_on_the_disk(hub, folders, monkeypatch):
    one = sum(path.stat().st_size for path in folders["main"].iterdir())
    monkeypatch.setattr(model_sources, "downloaded", lambda: 0)
    with pytest.raises(ModelError, match="left for downloads"):
        find_training(f"{NAME}@step*", Access(downloads=2 * one))


def test_a_server_without_downloads_tells_nothing(hub, tmp_path):
    limited = Access(public=True, folders=(tmp_path,), downloads=0, hub_token=False)
    with pytest.raises(ModelError, match="No training with this name is available"):
        find_training(f"{NAME}@step*", limited)
    assert hub.asked == []


def test_one_job_downloads_all_and_counts_them(hub, store, monkeypatch):
    passes = []

    class Counted(Progress):
        def start_pass(self, number: int, passes_: int, subject: str) -> None:
            passes.append((number, passes_, subject))
            super().start_pass(number, passes_, subject)

    names = [f"{NAME}@step{step}-tokens4B" for step in STEPS]
    perform(json.loads(json.dumps(download(names, [], store))), Counted(), lambda *_: pytest.fail("nothing is run"))
    assert passes == [(number, 3, name) for number, name in enumerate(names, 1)]
    assert find_training(f"{NAME}@step*-*").steps == STEPS


def test_the_command_downloads_them_and_equals_the_same_training_in_folders(hub, folders, tmp_path):
    (tmp_path / "mine.txt").write_text("the cat sat on the mat .\nthe dog slept , and slept\n")
    options = ("--text", tmp_path / "mine.txt", *SMALL, "--out")
    done = run("emergence", f"{NAME}@step*-*", *options, tmp_path / "hub.json", store=tmp_path / "store")
    assert done.returncode == 0, done.stderr
    assert f"Downloading {NAME}@step10-tokens4B (2 of 3, " in done.stderr
    folder = folders["main"].parent
    run("emergence", folder, *options, tmp_path / "folder.json", store=tmp_path / "store")
    ours, theirs = (json.loads((tmp_path / f"{name}.json").read_text()) for name in ("hub", "folder"))
    assert ours["arrays"] == theirs["arrays"]
    assert ours["provenance"]["model"]["name"] == f"{NAME}@step*-*"
    named = [each["name"] for each in ours["provenance"]["checkpoints"]]
    assert named == [f"step{step}-tokens4B" for step in STEPS]
