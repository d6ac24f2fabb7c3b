"""The commands `dependency-heads` and `treebank`: what the files hold, and what a bad file is answered with."""

import csv
import json
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from bertviz_core.analyses.dependency_heads.guesses import DIRECTIONS
from bertviz_core.analyses.dependency_heads.relations import VIEW_NAMES
from bertviz_core.cli import commands as cli
from bertviz_core.errors import InputError, SettingsError

COLUMNS = ["relation", "n", "head", "direction", "accuracy", "low", "high", "heldout_accuracy"]
COLUMNS += ["heldout_low", "heldout_high", "baseline_offset", "baseline_accuracy", "above_baseline"]


@pytest.fixture(autouse=True)
def own_store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BERTVIZ_STORE", str(tmp_path / "store"))


def command(out: Path, *arguments: str) -> dict:
    given = [*arguments, "--quiet", "--out", str(out)]
    done = CliRunner().invoke(cli.app, given, catch_exceptions=False)
    assert done.exit_code == 0
    return json.loads(out.read_bytes())


def test_the_table_and_the_arrays_have_the_names_that_scripts_rely_on(tmp_path):
    found = command(tmp_path / "x.json", "dependency-heads", "treebank")
    assert found["provenance"]["options"]["view"] == "function-heads"
    assert list(found["table"][0]) == COLUMNS
    relations = [row["relation"] for row in found["table"]]
    assert relations[:2] == ["all", "UAS"] and relations == found["arrays"]["relations"]
    accuracy = np.array(found["arrays"]["accuracy"])
    layers, heads = found["provenance"]["model"]["layers"], found["provenance"]["model"]["heads"]
    assert accuracy.shape == (2, len(relations), layers, heads)
    for place, row in enumerate(found["table"]):
        layer, head = (int(part) - 1 for part in row["head"].split("-"))
        best = accuracy[DIRECTIONS.index(row["direction"]), place, layer, head]
        assert best == accuracy[:, place].max() == pytest.approx(row["accuracy"], abs=1e-14)
        assert 0 <= row["low"] <= row["accuracy"] <= row["high"] <= 1
        assert row["n"] >= 20 and 1 <= abs(row["baseline_offset"]) <= 5
    assert {"prep", "pobj"} <= set(relations) and "case" not in relations


def test_options_change_what_is_shown(tmp_path):
    annotated = ["dependency-heads", "treebank", "--view", "as-is", "--min-count", "8"]
    wide = command(tmp_path / "a.json", *annotated, "--offsets", "1")
    assert "nmod:poss" in wide["arrays"]["relations"] and {r["baseline_offset"] for r in wide["table"]} <= {-1, 1}
    merged = command(tmp_path / "b.json", *annotated, "--merge-subtypes")
    assert not any(":" in relation for relation in merged["arrays"]["relations"])
    assert merged["table"][0]["n"] == wide["table"][0]["n"]


@pytest.mark.parametrize(("view", "trees"), VIEW_NAMES.items())
def test_every_output_names_the_trees(tmp_path, view, trees):
    written = [tmp_path / f"x.{suffix}" for suffix in ("csv", "html", "tex")]
    given = ["dependency-heads", "treebank", "--view", view, "--quiet"]
    done = CliRunner().invoke(cli.app, [*given, *(f"--out={path}" for path in written)], catch_exceptions=False)
    assert done.exit_code == 0
    with written[0].open(newline="") as stream:
        rows = list(csv.DictReader(stream))
    assert rows[0]["relation"] == "all" and {row["view"] for row in rows} == {view}
    assert all(f"rees: {trees}" in path.read_text() for path in written[1:])
    assert f"Trees: {trees}." in CliRunner().invoke(cli.app, given).stdout


def test_a_treebank_becomes_the_authors_json(tmp_path):
    bank = tmp_path / "bank.txt"
    bank.write_text("He 2-nsubj\nsat 0-root\n\nShe 2-nsubj\nstood 0-root")
    found = command(tmp_path / "x.json", "treebank", str(bank))
    assert found == [
        {"words": ["He", "sat"], "relns": ["nsubj", "root"], "heads": [2, 0]},
        {"words": ["She", "stood"], "relns": ["nsubj", "root"], "heads": [2, 0]},
    ]


def test_bad_files_and_options_are_refused(tmp_path):
    bank = tmp_path / "bank.conllu"
    bank.write_text("1\tHe\t_\tPRON\t_\t_\t_\t_\t_\t_\n")
    for arguments in (["treebank", str(bank)], ["dependency-heads", str(bank)]):
        with pytest.raises(InputError, match="HEAD is _"):
            CliRunner().invoke(cli.app, arguments, catch_exceptions=False)
    for option, value in (("--view", "sideways"), ("--offsets", "0")):
        with pytest.raises(SettingsError):
            CliRunner().invoke(cli.app, ["dependency-heads", "treebank", option, value], catch_exceptions=False)
