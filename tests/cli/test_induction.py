"""The command of the search for induction heads, which reads no input."""

import json
from pathlib import Path

import numpy as np

from tests.cli.running import run


def test_it_draws_its_own_sequences(tmp_path: Path, masked_folder: Path) -> None:
    out = tmp_path / "x.json"
    given = ("--model", masked_folder, "--max-length", 24, "--quiet", "--device", "cpu", "--no-store", "--limit", 6)
    assert run("induction", *given, "--out", out).returncode == 0
    result = json.loads(out.read_text())
    assert np.shape(result["arrays"]["prefix_control"]) == (2, 2)
    assert result["provenance"]["sequences"] == 6 and not result["provenance"]["skipped"]
