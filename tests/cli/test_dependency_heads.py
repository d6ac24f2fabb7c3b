"""The commands `dependency-heads` and `treebank`: what the files hold."""

import numpy as np
import pandas as pd
import pytest

from bertviz_core.analyses.dependency_heads.guesses import DIRECTIONS, VIEW_NAMES
from tests.support.running import run, written

COLUMNS = ["relation", "n", "head", "direction", "accuracy", "low", "high", "heldout_accuracy"]
COLUMNS += ["heldout_low", "heldout_high", "baseline_offset", "baseline_accuracy", "above_baseline", "units"]


def test_the_table_and_the_arrays_have_the_names_that_scripts_rely_on(tmp_path):
    result = written(tmp_path / "x.json", "dependency-heads", "treebank", store=tmp_path / "store")
    assert result["provenance"]["options"]["view"] == "function-heads"
    assert list(result["table"][0]) == COLUMNS
    relations = [row["relation"] for row in result["table"]]
    assert relations[:2] == ["all", "UAS"] and relations == result["arrays"]["relations"]
    accuracy = np.array(result["arrays"]["accuracy"])
    layers, heads = result["provenance"]["model"]["layers"], result["provenance"]["model"]["heads"]
    assert accuracy.shape == (2, len(relations), layers, heads)
    for index, row in enumerate(result["table"]):
        layer, head = (int(part) - 1 for part in row["head"].split("-"))
        best = accuracy[DIRECTIONS.index(row["direction"]), index, layer, head]
        assert best == accuracy[:, index].max() == pytest.approx(row["accuracy"], abs=1e-14)
        assert 0 <= row["low"] <= row["accuracy"] <= row["high"] <= 1
        assert row["n"] >= 20 and 1 <= abs(row["baseline_offset"]) <= 5
    assert {"prep", "pobj"} <= set(relations) and "case" not in relations


def test_options_change_what_is_shown(tmp_path):
    annotated = ["dependency-heads", "treebank", "--view", "as-is", "--min-count", "8", "--store", tmp_path]
    wide = written(tmp_path / "a.json", *annotated, "--offsets", "1")
    assert "nmod:poss" in wide["arrays"]["relations"] and {r["baseline_offset"] for r in wide["table"]} <= {-1, 1}
    merged = written(tmp_path / "b.json", *annotated, "--merge-subtypes")
    assert not any(":" in relation for relation in merged["arrays"]["relations"])
    assert merged["table"][0]["n"] == wide["table"][0]["n"]


@pytest.mark.parametrize(("view", "trees"), VIEW_NAMES.items())
def test_every_output_names_the_trees(tmp_path, view, trees):
    table, *others = files = [tmp_path / f"x.{suffix}" for suffix in ("csv", "html", "tex")]
    given = ("dependency-heads", "treebank", "--view", view, "--quiet", "--store", tmp_path)
    assert run(*given, *(f"--out={path}" for path in files)).returncode == 0
    rows = pd.read_csv(table)
    assert rows["relation"][0] == "all" and set(rows["view"]) == {view}
    assert all(f"rees: {trees}" in path.read_text() for path in others)
    assert f"Trees: {trees}." in run(*given).stdout


def test_a_treebank_becomes_the_authors_json(tmp_path):
    bank = tmp_path / "bank.txt"
    bank.write_text("He 2-nsubj\nsat 0-root\n\nShe 2-nsubj\nstood 0-root")
    assert written(tmp_path / "x.json", "treebank", bank) == [
        {"words": ["He", "sat"], "relns": ["nsubj", "root"], "heads": [2, 0]},
        {"words": ["She", "stood"], "relns": ["nsubj", "root"], "heads": [2, 0]},
    ]
