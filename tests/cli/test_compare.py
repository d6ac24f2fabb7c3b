"""`compare ANALYSIS FILE`: both runs, their difference, and one message for each mistake."""

import json
from pathlib import Path
from zipfile import ZipFile

import numpy as np
import pandas as pd
import pytest

from tests.support.running import run

TEXT = "The cat sat on the mat.\nIt was warm.\n\nAnother document.\nIt has two lines.\n"  # of the fixture `text`


def test_a_and_b_are_the_runs_that_their_own_commands_give(text: Path, tmp_path: Path) -> None:
    both, b = tmp_path / "both.json", tmp_path / "b.json"
    outs = [part for out in (both, tmp_path / "both.csv", tmp_path / "both.zip") for part in ("--out", out)]
    done = run("compare", "surface-patterns", text, "--other-weights", "norms", *outs, store=tmp_path / "s")
    assert done.returncode == 0, done.stderr
    whole = json.loads(both.read_text())
    a = tmp_path / "a.json"
    for weights, out in (("attention", a), ("norms", b)):
        assert run("surface-patterns", text, "--weights", weights, "--out", out, store=tmp_path / "s").returncode == 0
    arrays = [json.loads(out.read_text())["arrays"] for out in (a, b)]
    assert whole["a"] == {name: values for name, values in arrays[0].items() if name != "to_first"}  # as to [CLS]
    for name, values in whole["b"].items():
        assert values == arrays[1][name]
        difference = np.array(values, dtype=float) - np.array(arrays[0][name], dtype=float)
        np.testing.assert_allclose(np.array(whole["difference"][name], dtype=float), difference, atol=1e-12)
        assert np.shape(whole["p"][name]) == difference.shape
    table = pd.read_csv(tmp_path / "both.csv")
    assert set(table["a_is"]) == {"weights"} and set(table["b_is"]) == {"vector lengths"}
    with ZipFile(tmp_path / "both.zip") as tables:
        assert tables.namelist() == ["table.csv", "best.csv", "chosen_changed.csv", "chosen_best.csv"]
        assert tables.read("table.csv") == (tmp_path / "both.csv").read_bytes()
        assert len(pd.read_csv(tables.open("best.csv"))) == len(whole["a"])


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (("surface-patterns",), "Both runs are the same"),
        (("sep-gradients", "--other-weights", "norms"), "Both runs are the same"),
        (("patterns", "--other-seed", "1"), "Choose one of surface-patterns"),
        (("entropy", "--other-mode", "loose"), "Choose one of corrected, paper"),
    ],
)
def test_mistakes_are_one_message(text: Path, tmp_path: Path, arguments: tuple[str, ...], expected: str) -> None:
    done = run("compare", arguments[0], text, *arguments[1:], store=tmp_path / "s")
    assert done.returncode == 2 and expected in done.stderr, done.stderr


def test_an_input_is_needed_where_the_analysis_reads_one(tmp_path: Path, tiny_folder: Path) -> None:
    options = ("--other-seed", "1", "--model", tiny_folder, "--limit", "2", "--max-length", "16")
    done = run("compare", "induction", *options, store=tmp_path / "s")
    assert done.returncode == 0 and "seed" in done.stdout, done.stderr
    done = run("compare", "entropy", *options, store=tmp_path / "s")
    assert done.returncode == 2 and "This analysis reads an input." in done.stderr


def test_both_runs_have_the_trees_of_the_command_dependency_heads(tmp_path: Path) -> None:
    one, both, store = tmp_path / "one.json", tmp_path / "both.json", tmp_path / "s"
    assert run("dependency-heads", "treebank", "--out", one, store=store).returncode == 0
    done = run("compare", "dependency-heads", "treebank", "--other-seed", "1", "--out", both, store=store)
    assert done.returncode == 0, done.stderr
    arrays, compared = json.loads(one.read_text())["arrays"], json.loads(both.read_text())
    uas = np.array(arrays["accuracy"], dtype=float)[:, arrays["relations"].index("UAS")].max(0)
    np.testing.assert_array_equal(np.array(compared["a"]["UAS"], dtype=float), uas)
    assert "Trees: function words as governors." in compared["notes"]
