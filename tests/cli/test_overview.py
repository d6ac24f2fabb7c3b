"""The command `overview`: a table of all heads from what is stored, and nothing computed."""

from pathlib import Path

from bertviz_core.plotting.style import BEHAVIORS
from tests.cli.running import Done, run


def overview(store: Path, *options: str | Path, code: int = 0) -> Done:
    done = run("overview", "--store", store, *options)
    assert done.returncode == code, done.stderr
    return done


def test_it_prints_every_head_and_what_the_numbers_rest_on(tmp_path):
    lines = overview(tmp_path / "store").stdout.splitlines()
    assert lines[0].split()[:4] == ["label", "layer", "head", "behavior"]
    assert lines[3].split()[:3] == ["1-3", "1", "3"]
    behaviors = {line.split()[3] for line in lines[1:73]}
    assert behaviors <= {*BEHAVIORS} and len(behaviors) > 1
    assert "entropy: encyclopedia, mode corrected, at most 128 tokens, seed 0, float32" in lines
    assert lines.index("") == 73


def test_what_cannot_be_is_said_with_what_to_do(tmp_path, tiny_folder):
    store = tmp_path / "store"
    assert "Run an analysis first" in overview(store, "--model", tiny_folder, code=2).stderr
    assert "There is no mode" in overview(store, "--mode", "other", code=2).stderr
    assert "cannot be written" in overview(store, "--out", tmp_path / "a.txt", code=2).stderr
