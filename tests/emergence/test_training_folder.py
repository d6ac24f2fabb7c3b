"""The checkpoints of a training: found by the numbers of their names, and refused where they do not belong together."""

import json
import shutil
from pathlib import Path

import pytest

from bertviz_core.emergence.training import find_training, training_of
from bertviz_core.errors import InputError, ModelError
from bertviz_core.models.checkpoint import find_checkpoint
from bertviz_core.settings import Access


@pytest.fixture
def folder(tiny_folder: Path, tmp_path: Path) -> Path:
    """Copies of one model: what is in the files matters to nobody here."""
    for name in ("checkpoint-500", "checkpoint-20", "run2-step-0000100"):
        shutil.copytree(tiny_folder, tmp_path / "run" / name)
    return tmp_path / "run"


def change_config(model: Path, **changed: object) -> None:
    config = json.loads((model / "config.json").read_text())
    (model / "config.json").write_text(json.dumps(config | changed))


def test_the_step_is_the_last_number_of_a_name(folder):
    training = find_training(folder)
    assert training.steps == (20, 100, 500)
    assert [each.folder.name for each in training.checkpoints] == [
        "checkpoint-20",
        "run2-step-0000100",
        "checkpoint-500",
    ]
    assert training.name == f"{folder.parent.name}/run" and training.skipped.to_json() == []


def test_folders_that_are_no_checkpoints_are_passed_over_or_named(folder, tiny_folder):
    (folder / "logs").mkdir()
    (folder / "notes-3.txt").write_text("no folder")
    shutil.copytree(tiny_folder, folder / "final")
    (folder / "checkpoint-900").mkdir()
    training = find_training(folder)
    assert training.steps == (20, 100, 500)
    named = {entry["where"][0]: entry["reason"] for entry in training.skipped.to_json()}
    assert set(named) == {"final", "checkpoint-900"}
    assert "without a step" in named["final"] and "config.json" in named["checkpoint-900"]


def test_a_missing_folder_and_one_without_checkpoints_are_refused(tmp_path):
    with pytest.raises(InputError, match="no folder"):
        find_training(tmp_path / "missing")
    (tmp_path / "step-5").mkdir()
    with pytest.raises(InputError, match=r"No checkpoint.*step-5") as caught:
        find_training(tmp_path)
    assert "opened by itself" in caught.value.hint


@pytest.mark.parametrize("name", ["", "  ", "~nobody-of-this-name", "a" * 5000])
def test_what_cannot_be_a_folder_is_refused(name):
    with pytest.raises(InputError, match="no folder"):
        find_training(name)


def test_two_checkpoints_of_one_step_are_refused(folder, tiny_folder):
    shutil.copytree(tiny_folder, folder / "second-20")
    with pytest.raises(ModelError, match="Two checkpoints have step 20: checkpoint-20 and second-20"):
        find_training(folder)


@pytest.mark.parametrize(
    ("changed", "shapes"),
    [({"num_attention_heads": 4}, "2 × 2 heads, .*; 2 × 4 heads"), ({"vocab_size": 7}, "2 × 2 heads, .*; .* 7 tokens")],
)
def test_other_shapes_and_other_vocabularies_are_refused(folder, changed, shapes):
    change_config(folder / "checkpoint-500", **changed)
    with pytest.raises(ModelError, match=f"different shapes: {shapes}"):
        find_training(folder)


def test_the_fingerprint_is_of_steps_and_weights_and_not_of_places(folder, tmp_path):
    copied = shutil.copytree(folder, tmp_path / "elsewhere")
    before = find_training(folder).fingerprint()
    assert find_training(copied).fingerprint() == before
    (copied / "checkpoint-500").rename(copied / "checkpoint-501")
    assert find_training(copied).fingerprint() != before


def test_a_checkpoint_knows_the_training_beside_it(folder, tiny_folder):
    training = training_of(find_checkpoint(str(folder / "checkpoint-20")))
    assert training.steps == (20, 100, 500)
    assert training_of(find_checkpoint(str(tiny_folder))) is None
    shutil.copytree(tiny_folder, folder.parent / "alone" / "checkpoint-5")
    assert training_of(find_checkpoint(str(folder.parent / "alone" / "checkpoint-5"))) is None


def test_a_server_looks_for_a_training_in_its_own_folders_alone(folder):
    checkpoint = find_checkpoint(str(folder / "checkpoint-20"))
    allowed = Access(folders=(folder.parent,), downloads=0)
    assert training_of(checkpoint, allowed).steps == (20, 100, 500)
    (folder.parent / "other").mkdir()
    assert training_of(checkpoint, Access(folders=(folder.parent / "other",), downloads=0)) is None
