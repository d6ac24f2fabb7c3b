"""Steps as the names of checkpoints have them: units, stages, and what is skipped and counted."""

import shutil
from collections.abc import Sequence
from pathlib import Path

import pytest

from bertviz_core.emergence.training import LARGEST, find_training, step_of
from bertviz_core.errors import InputError, ModelError


def training_of_names(tmp_path: Path, model: Path, names: Sequence[str]) -> Path:
    """A folder with copies of one model under these names."""
    for name in names:
        shutil.copytree(model, tmp_path / "run" / name)
    return tmp_path / "run"


@pytest.mark.parametrize(
    ("name", "step"),
    [
        ("step1k", 1000),
        ("step_2000k", 2_000_000),
        ("step-1.5M", 1_500_000),
        ("step2B", 2_000_000_000),
        ("checkpoint-0.5k", 500),
        ("step512", 512),
        ("512steps", 512),
        ("10kiters", 10_000),
        ("step1000-tokens4B", 1000),  # The unit is of the tokens.
        ("step0000500", 500),
        ("ckpt_000500", 500),
        ("model_2_1500", 1500),
        ("2024-01-05_step500", 500),
        ("stage2-ingredient1-step500-tokens3B", 500),
    ],
)
def test_a_step_has_its_unit(name, step):
    assert step_of(name) == step


@pytest.mark.parametrize(
    "name",
    [
        "step1.0005k",  # no whole step
        "step1,000",
        "step1_000",
        "step 1 000",
        "step-1'000",
        "ckpt-1_000",
        "ckpt_12_345_678",
        "model_2_500",  # 500, or 2,500
        "checkpoint-1.000",
        "ckpt-1e3",
        "2024-01-05",
        "step1e5",
        "step10x",
        "step10kb",
        f"step{LARGEST + 1}",
        "main",
        "seed",
    ],
)
def test_a_step_that_is_not_understood_is_none_rather_than_another_number(name):
    assert step_of(name) is None


def test_units_order_the_steps(tiny_folder, tmp_path):
    """Read without them, the last of these would be the first."""
    names = ("step512", "step1k", "step1.5k", "step_2M")
    training = find_training(training_of_names(tmp_path, tiny_folder, names))
    assert training.steps == (512, 1000, 1500, 2_000_000)
    assert [each.folder.name for each in training.checkpoints] == list(names)


def test_names_that_are_not_understood_are_counted_with_a_name_each(tiny_folder, tmp_path):
    names = ("step500", "step1k", "step1e5", "step1,000", "final")
    training = find_training(training_of_names(tmp_path, tiny_folder, names))
    assert training.steps == (500, 1000)
    (skipped,) = training.skipped.to_json()
    assert skipped["reason"] == "a model folder without a step in its name that is understood"
    assert skipped["count"] == 3
    assert set(skipped["where"]) == {"step1e5", "step1,000", "final"}


def test_where_no_step_is_understood_the_refusal_says_how_to_name_them(tiny_folder, tmp_path):
    with pytest.raises(
        InputError, match=r"No checkpoint is in this training that can be read \(.*without a step"
    ) as it:
        find_training(training_of_names(tmp_path, tiny_folder, ("step1e5",)))
    assert "checkpoint-500" in it.value.hint


@pytest.mark.parametrize(
    ("names", "word"),
    [
        (("stage1-step1000-tokens5B", "stage2-step500-tokens3B"), "stage"),
        (("stage1-step1000", "stage2-ingredient1-step500"), "stage"),
        (("stage2-ingredient1-step500", "stage2-ingredient2-step1000"), "ingredient"),
        (("seed1-step500", "seed2-step1000"), "seed"),
    ],
)
def test_stages_whose_steps_are_counted_anew_are_refused_together(tiny_folder, tmp_path, names, word):
    with pytest.raises(ModelError, match=f"are not steps of one count: the {word} is another one") as caught:
        find_training(training_of_names(tmp_path, tiny_folder, names))
    assert f"@{word}" in caught.value.hint and "a folder of its own" in caught.value.hint
    assert all(name in caught.value.what for name in names)


def test_the_steps_of_one_stage_are_a_training(tiny_folder, tmp_path):
    names = ("stage2-ingredient1-step500-tokens3B", "stage2-ingredient1-step1500-tokens7B")
    assert find_training(training_of_names(tmp_path, tiny_folder, names)).steps == (500, 1500)


def test_epochs_and_tokens_grow_with_the_steps_and_are_no_stages(tiny_folder, tmp_path):
    names = ("epoch1-step500", "epoch2-step1000", "tokens3-step2000")
    assert find_training(training_of_names(tmp_path, tiny_folder, names)).steps == (500, 1000, 2000)
