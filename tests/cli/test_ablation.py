"""The command of ablation: what its JSON holds, and the masked inputs it was computed from."""

import json
from pathlib import Path

import numpy as np
import pytest

from tests import predicting
from tests.cli.running import run

TEXT = predicting.TEXT


def test_json_holds_arrays_groups_curve_and_loss(tmp_path: Path, text: Path, masked_folder: Path) -> None:
    out, examples = tmp_path / "x.json", tmp_path / "masked.json"
    given = (text, "--model", masked_folder, "--max-length", 24, "--quiet", "--device", "cpu", "--no-store")
    assert run("ablation", *given, "--limit", 3, "--out", out, "--examples", examples).returncode == 0
    result = json.loads(out.read_text())
    for name in ("loss_change", "loss_change_interval", "right_change", "to_sink_loss_change", "gradient_estimate"):
        assert np.shape(result["arrays"][name]) == (2, 2)
    assert {"name", "heads", "loss_change", "interval", "random_loss_change"} <= result["groups"][0].keys()
    assert result["curve"]["removed"] == [0, 1, 2, 3, 4]
    assert result["curve"]["loss"][0] == pytest.approx(result["loss"])
    used = json.loads(examples.read_text())
    assert len(used) == result["provenance"]["segments"] == 3
    assert result["arrays"]["predicted_tokens"] == sum(label != -100 for e in used for label in e["labels"])
    assert run("ablation", *given, "--mean", "--out", out).returncode == 0
    means = json.loads(out.read_text())
    assert means["provenance"]["options"] == {"mean": True}
    assert means["provenance"]["settings"]["limit"] == 64
    assert means["arrays"]["loss_change"] != result["arrays"]["loss_change"]
