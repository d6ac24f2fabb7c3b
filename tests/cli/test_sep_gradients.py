"""`sep-gradients TEXT --examples FILE`: the numbers, and the inputs from which anyone can recompute them."""

import json
from pathlib import Path

import numpy as np
import pytest

from tests import families
from tests.cli.running import run
from tests.oracles import gradients as reference


def test_a_gradient_can_be_recomputed_from_the_files_alone(tmp_path: Path, masked_folder: Path) -> None:
    import transformers

    (tmp_path / "text.txt").write_text("\n".join([*families.TEXT, "", "the dog slept ."]))
    out, examples = tmp_path / "result.json", tmp_path / "examples.json"
    given = (
        tmp_path / "text.txt",
        "--model",
        masked_folder,
        "--max-length",
        24,
        "--seed",
        3,
        "--quiet",
        "--device",
        "cpu",
    )
    assert run("sep-gradients", *given, "--no-store", "--out", out, "--examples", examples).returncode == 0
    result, used = json.loads(out.read_text()), json.loads(examples.read_text())
    model = transformers.AutoModelForMaskedLM.from_pretrained(
        masked_folder, attn_implementation="eager", dtype="float64"
    )
    values, losses = [], []
    for example in used:
        assert sorted(example) == ["input_ids", "labels", "original_ids", "token_type_ids"]
        maps, slopes, loss, _ = reference.gradient(
            model, example["input_ids"], example["token_type_ids"], example["labels"]
        )
        classes = reference.token_classes(families.wordpiece(), example["original_ids"])
        values.append(reference.class_values(maps, slopes, classes, "sep")["to_sep"])
        losses.append(loss)
    assert len(used) == result["provenance"]["segments"] > 1
    np.testing.assert_allclose(result["arrays"]["to_sep"], np.mean(values, axis=0), rtol=1e-4)
    assert result["arrays"]["loss"] == pytest.approx(np.mean(losses), rel=1e-5)
    assert result["arrays"]["predicted_tokens"] == sum(label != -100 for e in used for label in e["labels"])


def test_the_terminal_says_loss_and_accuracy_with_their_digits() -> None:
    shown = run("sep-gradients", "encyclopedia", "--limit", 2, "--no-store", "--quiet", "--device", "cpu").stdout
    row = next(line for line in shown.splitlines() if line.strip().startswith("1-1 "))
    assert float(row.split()[3]) > 0, "a small gradient is not rounded away"
    assert "\nloss: " in shown
    assert "\npredicted_tokens: " in shown
