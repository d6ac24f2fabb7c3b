"""The commands of single analyses: what their files hold, and one message for each mistake."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import bertviz_core as bv
from bertviz_core.analyses.run import compute
from bertviz_core.corpora.source import from_path
from bertviz_core.errors import SettingsError
from tests.support import predicting
from tests.support.running import run, written

TEXT = predicting.TEXT


def test_ablation(tmp_path: Path, text: Path, masked_folder: Path) -> None:
    out = tmp_path / "x.json"
    given = ("ablation", text, "--model", masked_folder, "--max-length", 24, "--device", "cpu", "--no-store")
    result = written(out, *given, "--limit", 3)
    for name in ("loss_change", "loss_change_interval", "right_change", "to_sink_loss_change", "gradient_estimate"):
        assert np.shape(result["arrays"][name]) == (2, 2)
    assert {"name", "heads", "loss_change", "interval", "random_loss_change"} <= result["groups"][0].keys()
    assert result["curve"]["removed"] == [0, 1, 2, 3, 4]
    assert result["curve"]["loss"][0] == pytest.approx(result["loss"])
    assert result["provenance"]["segments"] == 3
    means = written(out, *given, "--replace", "mean")
    assert means["provenance"]["options"] == {"replace": "mean"}
    assert means["provenance"]["settings"]["limit"] == 64
    assert means["arrays"]["loss_change"] != result["arrays"]["loss_change"]


def test_induction_draws_its_own_sequences(tmp_path: Path, masked_folder: Path) -> None:
    given = ("--model", masked_folder, "--max-length", 24, "--device", "cpu", "--no-store", "--limit", 6)
    result = written(tmp_path / "x.json", "induction", *given)
    assert np.shape(result["arrays"]["prefix_control"]) == (2, 2)
    assert result["provenance"]["sequences"] == 6 and not result["provenance"]["skipped"]


def test_coreference_heads(tmp_path: Path):
    command = ("coreference-heads", "coreference", "--store", tmp_path / "store")
    given = written(tmp_path / "x.json", *command, "--out", tmp_path / "x.csv")
    assert "system" in pd.read_csv(tmp_path / "x.csv")
    systems = list(dict.fromkeys(row["system"] for row in given["table"]))
    chances = given["table"][:8]  # of two systems, four types of mention each
    assert systems[:2] == ["chance", "random candidate"]
    assert systems[2:6] == ["nearest", "head match", "head match, else nearest", "rule-based"]
    arrays = given["arrays"]["chance"] + given["arrays"]["random_candidate"]
    assert [row["accuracy"] for row in chances] == pytest.approx(arrays, abs=1e-12)  # the table is rounded
    keys = {"system", "type", "n", "accuracy", "low", "high", "heldout_accuracy"}
    assert all(keys <= row.keys() and row["low"] <= row["accuracy"] <= row["high"] for row in given["table"][8:])
    accuracy = np.array(given["arrays"]["accuracy"])  # (direction, type, layer, head)
    assert accuracy.shape == (2, 4, 6, 12) and given["arrays"]["types"] == ["all", "pronoun", "proper", "nominal"]
    for system, values in ((systems[6], accuracy[0, 0]), (systems[-1], accuracy[1, 0])):
        best = next(row for row in given["table"] if row["system"] == system and row["type"] == "all")
        assert best["accuracy"] == pytest.approx(values.max(), abs=1e-12) and best["n"] == given["provenance"]["items"]
    strict = written(tmp_path / "strict.json", *command, "--candidates", "words")
    assert (np.array(strict["arrays"]["accuracy"]) <= accuracy).all()


NAMES = "right-branching,attention-only,attention-and-words"


@pytest.fixture(scope="module")
def files(tmp_path_factory) -> dict[str, Path]:
    """A training and a test treebank of the authors' format, and vectors for some of their words."""
    folder = tmp_path_factory.mktemp("probes")
    nouns, verbs = ("cat", "dog", "man", "boy", "fox"), ("sat", "ran", "ate", "lay")
    blocks = [f"The 2-det\n{n} 3-nsubj\n{v} 0-root\nhere 3-advmod\n. 3-punct" for n in nouns for v in verbs]
    texts = {
        "train": "\n\n".join(blocks[:16]),
        "dev": "\n\n".join(blocks[15:]),
        "vectors": "the 1 2\ncat -1 .5\n. 0 1\n",
    }
    for name, text in texts.items():
        (folder / f"{name}.txt").write_text(text)
    return {name: folder / f"{name}.txt" for name in texts}


def test_probes(files, tmp_path):
    figure, csv = tmp_path / "x.html", tmp_path / "x.csv"
    given = ("probes", files["train"], "--dev", files["dev"], "--vectors", files["vectors"], "--probes", NAMES)
    result = written(tmp_path / "x.json", *given, "--epochs", "2", "--no-store", "--out", figure, "--out", csv)
    rows = {row["probe"]: row for row in result["table"]}
    assert ",".join(rows) == NAMES
    # of "The", "cat", "sat" and "here", "The" and "cat" are governed by the word to their right
    assert rows["right-branching"]["score"] == pytest.approx(2 / 4) and rows["right-branching"]["parameters"] == 0
    assert rows["right-branching"]["with_punctuation"] == pytest.approx(2 / 5)  # "." is not governed by ROOT
    assert rows["attention-only"]["score"] > rows["right-branching"]["high"]
    about = result["provenance"]
    assert set(about["others"]) == {"dev", "vectors"} and about["others"]["dev"]["name"] == "dev.txt"
    assert about["options"]["epochs"] == 2
    skipped = {entry["reason"]: entry["count"] for entry in about["skipped"]}
    assert skipped["a sentence that is also in the test file (not trained on)"] == 1
    assert result["arrays"]["about"]["sentences"] == {"train": 13, "validation": 2, "test": 5}
    # "The", "cat" and "." have vectors; "sat" and "here" have none
    assert 0 < result["arrays"]["about"]["vectors"]["unknown_words"] < 1
    assert "Right-branching" in figure.read_text()
    frame = pd.read_csv(csv)
    for role in ("dev", "vectors"):
        digest = from_path(files[role]).digest
        assert set(frame[role]) == {files[role].name} and set(frame[f"{role}_digest"]) == {digest[:16]}
        assert f"{role}: {files[role].name}" in figure.read_text()


def test_clustering_takes_thresholds_and_roots(tmp_path: Path) -> None:
    """Without a model being run: the sample's result ships with the project."""
    given = ("clustering", "encyclopedia", "--store", tmp_path)
    whole = written(tmp_path / "a.json", *given)
    thresholds = ("--over-entropy", "7", "--over-next", "1")
    other = written(tmp_path / "b.json", *given, "--root", *thresholds)
    assert other["arrays"]["divergence"] == whole["arrays"]["divergence"]
    assert other["arrays"]["embedding"] != whole["arrays"]["embedding"]
    before, after = ({row["label"]: row["behavior"] for row in result["table"]} for result in (whole, other))
    assert not {"broad", "next"} & set(after.values())  # no head can reach these thresholds
    assert all(after[label] == name for label, name in before.items() if name not in ("broad", "next"))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("clustering", "encyclopedia", "--over-entropy", "9"), "Choose a number from 0 to 7"),
        (("clustering", "encyclopedia", "--over-next", "nan"), "Choose a number from 0 to 1"),
        (("entropy", "encyclopedia", "--share", "0.05"), "Choose a number from 0.1 to 1"),
        (("coreference-heads", "encyclopedia"), "This is not a coreference file"),
        (("coreference-heads", "coreference", "--candidates", "tokens"), "Choose one of mentions, words"),
        (("probes", "treebank", "--probes", "parser"), "probes cannot be 'parser'"),
        (("probes", "treebank", "--rank", "0"), "rank cannot be 0."),
        (("probes", "treebank", "--vectors", "nowhere.txt"), "cannot be read"),
    ],
)
def test_mistakes_are_one_message(arguments, message):
    done = run(*arguments, "--no-store", "--quiet")
    assert done.returncode == 2 and message in done.stderr and "Traceback" not in done.stderr


def test_a_model_whose_weights_are_no_numbers_is_refused_in_one_line(nan_folder: Path) -> None:
    done = run("dependency-heads", "treebank", "--model", nan_folder, "--max-length", "64", "--no-store", "--quiet")
    assert done.returncode == 2 and "weights are not finite numbers" in done.stderr
    assert len(done.stderr.splitlines()) <= 2


@pytest.mark.parametrize(
    "command",
    [
        ("surface-patterns", "encyclopedia"),
        ("dependency-heads", "treebank"),
        ("coreference-heads", "coreference"),
        ("clustering", "encyclopedia"),
        ("probes", "treebank"),
    ],
)
def test_a_head_that_the_model_lacks_is_refused_before_anything_is_computed(
    command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(compute, "compute", lambda *_, **__: pytest.fail("it is computed"))
    done = run(*command, "--head", "99-1", "--max-length", 61, store=tmp_path / "store")
    assert done.stderr == "error: This model has no head 99-1. Choose one of 1-1 to 6-12.\n"
    with pytest.raises(SettingsError, match="no head 99-1"):
        bv.analyze(command[0], corpus=command[1], head=(99, 1), max_length=61, store=tmp_path / "store")
