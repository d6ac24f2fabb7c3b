"""`attention TEXT --head 3-5 --item N`: the table, the files, and one message for each mistake."""

from pathlib import Path

import pandas as pd
import pytest
import safetensors.numpy

from tests.support.running import run

TEXT = "Unbelievable ships sail.\n\nThe captain's daughter lost her keys.\nShe asked him.\n"


def test_files_of_one_input_agree_with_extract(text: Path, tmp_path: Path) -> None:
    outs = [tmp_path / f"a{ending}" for ending in (".csv", ".safetensors", ".html")]
    options = [part for out in outs for part in ("--out", out)]
    done = run("attention", text, "--head", "2-5", "--item", "2", "--quiet", *options)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert run("extract", text, "--quiet", "--out", tmp_path / "all.safetensors").returncode == 0
    maps = safetensors.numpy.load_file(tmp_path / "all.safetensors")["1"]
    assert safetensors.numpy.load_file(outs[1])["attention"] == pytest.approx(maps, abs=1e-5)
    table = pd.read_csv(outs[0])
    assert table["weight"].to_numpy() == pytest.approx(maps[1, 4].reshape(-1), abs=1e-5)
    assert set(table["head"]) == {"2-5"}
    assert set(table["model"]) == {"demo"}
    page = outs[2].read_text()
    assert "<title>Attention of demo</title>" in page and "arXiv:1906.04341" in page and "captain" in page


def test_the_heaviest_lines_are_printed(text: Path) -> None:
    done = run("attention", text, "--head", "1-3", "--quiet")
    rows = done.stdout.splitlines()
    assert rows[0].split() == ["from_position", "from", "to_position", "to", "weight"]
    weights = [float(row.split()[-1]) for row in rows[1:]]
    assert len(weights) == 20
    assert weights == sorted(weights, reverse=True)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--head", "7-1"), "no head 7-1. Choose one of 1-1 to 6-12"),
        (("--head", "first"), "'first' is not a head"),
        (("--head", "1-1", "--item", "3"), "no passage 3, or it was skipped. Choose a number from 1 to 2"),
        (("--head", "1-1", "--out", "a.json"), "not one of .svg, .csv, .html, .safetensors"),
        (("--head", "1-1", "--revision", "main"), "Only hub models have revisions, and 'demo' is not one"),
    ],
)
def test_mistakes_get_one_message(text: Path, options: tuple[str, ...], message: str) -> None:
    done = run("attention", text, "--quiet", *options)
    assert done.returncode == 2
    assert message in done.stderr
    assert done.stderr.count("\n") == 1
