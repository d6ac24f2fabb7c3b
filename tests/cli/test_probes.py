"""`probes` on the command line: its table, its files, its figure, and what it refuses."""

import json
from pathlib import Path

import pandas as pd
import pytest

from bertviz_core.corpora.source import from_path
from tests.cli.running import run

NAMES = "right-branching,attention-only,attention-and-words"


@pytest.fixture(scope="module")
def files(tmp_path_factory) -> dict[str, Path]:
    """A training and a test treebank of the authors' format, and vectors for some of their words."""
    folder = tmp_path_factory.mktemp("probes")
    nouns, verbs = ("cat", "dog", "man", "boy", "fox"), ("sat", "ran", "ate", "lay")
    blocks = [f"The 2-det\n{n} 3-nsubj\n{v} 0-root\nhere 3-advmod\n. 3-punct" for n in nouns for v in verbs]
    held = {
        "train": "\n\n".join(blocks[:16]),
        "dev": "\n\n".join(blocks[15:]),
        "vectors": "the 1 2\ncat -1 .5\n. 0 1\n",
    }
    for name, text in held.items():
        (folder / f"{name}.txt").write_text(text)
    return {name: folder / f"{name}.txt" for name in held}


def test_a_table_with_a_row_for_each_probe_and_a_figure(files, tmp_path):
    out, figure, csv = (tmp_path / f"x.{suffix}" for suffix in ("json", "html", "csv"))
    done = run(
        "probes",
        *(files["train"], "--dev", files["dev"], "--vectors", files["vectors"], "--probes", NAMES),
        *("--epochs", "2", "--no-store", "--quiet", "--out", out),
        *("--out", figure, "--out", csv),
    )
    assert done.returncode == 0, done.stderr
    result = json.loads(out.read_text())
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


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--probes", "parser"), "There is no probe 'parser'"),
        (("--rank", "0"), "--rank is below 1."),
        (("--vectors", "nowhere.txt"), "cannot be read"),
    ],
)
def test_what_cannot_be_done_is_said(files, arguments, said):
    done = run("probes", files["train"], *arguments, "--no-store", "--quiet")
    assert done.returncode == 2 and said in done.stderr and "Traceback" not in done.stderr
