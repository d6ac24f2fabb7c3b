"""`coreference-heads` on the command line: the table, the strict candidates, messages for mistakes."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from tests.cli.running import run


def test_json_has_the_table_the_accuracies_and_what_was_dropped(tmp_path: Path):
    out, csv, strict = tmp_path / "x.json", tmp_path / "x.csv", tmp_path / "strict.json"
    quiet = ("--store", tmp_path / "store", "--quiet")
    done = run("coreference-heads", "coreference", "--out", out, "--out", csv, *quiet)
    assert done.returncode == 0, done.stderr
    assert "system" in pd.read_csv(csv)
    given = json.loads(out.read_text())
    systems = list(dict.fromkeys(row["system"] for row in given["table"]))
    assert systems[:2] == ["chance (1 / candidates)", "random candidate"]
    chances, systems = given["table"][:8], systems[2:]  # four types of mention each
    assert all(row["low"] is row["high"] is None for row in chances)
    arrays = given["arrays"]["chance"] + given["arrays"]["random_candidate"]
    assert [row["accuracy"] for row in chances] == pytest.approx(arrays, abs=1e-12)  # the table is rounded
    assert [given["chance"], given["random_candidate"]] == [arrays[0], arrays[4]]
    assert 0 < given["chance"] < given["random_candidate"] < 1
    assert systems[:4] == ["nearest", "head match", "head match, else nearest", "rule-based"]
    assert systems[4].startswith("head ") and systems[-1].endswith(", antecedent->mention")
    keys = {"system", "type", "n", "accuracy", "low", "high", "heldout_accuracy"}
    assert all(keys <= row.keys() and row["low"] <= row["accuracy"] <= row["high"] for row in given["table"][8:])
    accuracy = np.array(given["arrays"]["accuracy"])  # (direction, type, layer, head)
    assert accuracy.shape == (2, 4, 6, 12) and given["arrays"]["types"] == ["all", "pronoun", "proper", "nominal"]
    assert given["arrays"]["directions"] == ["mention->antecedent", "antecedent->mention"]
    for system, values in ((systems[4], accuracy[0, 0]), (systems[-1], accuracy[1, 0])):
        best = next(row for row in given["table"] if row["system"] == system and row["type"] == "all")
        assert best["accuracy"] == pytest.approx(values.max(), abs=1e-12) and best["n"] == given["provenance"]["items"]
    assert list(given["best"]) == ["head", "direction", "accuracy", "low", "high", "heldout_accuracy"]
    assert (given["best"]["direction"], given["best"]["accuracy"]) == ("mention->antecedent", accuracy[0, 0].max())
    layer, head = (int(number) - 1 for number in given["best"]["head"].split("-"))
    assert accuracy[0, 0, layer, head] == given["best"]["accuracy"] < accuracy[1, 0].max()
    counted = given["provenance"]
    assert counted["documents"] == 45 and counted["mentions"] > counted["items"] > 700
    assert counted["skipped"][0]["reason"].endswith("(out of reach)")
    done = run("coreference-heads", "coreference", "--candidates", "words", "--out", strict, *quiet)
    assert done.returncode == 0, done.stderr
    words = np.array(json.loads(strict.read_text())["arrays"]["accuracy"])
    assert words.max() < accuracy.max() and (words <= accuracy).all()


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("encyclopedia",), "This is not a coreference file"),
        (("coreference", "--candidates", "tokens"), "Choose mentions or words"),
    ],
)
def test_mistakes_are_one_message(arguments, said):
    done = run("coreference-heads", *arguments, "--no-store", "--quiet")
    assert done.returncode == 2 and said in done.stderr
