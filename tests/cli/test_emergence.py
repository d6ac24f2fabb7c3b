"""The command `emergence`: files and table, the store and a run without one, and what a bad folder is answered with."""

import json
from pathlib import Path

import pytest

from bertviz_core.cli import filled
from bertviz_core.emergence.result import Emergence
from bertviz_core.emergence.view import EmergenceView
from tests.support import families
from tests.support.running import run

TEXT = "the cat sat on the mat .\nthe dog slept , and slept\n\na river runs\nlamps are lit\n"
SMALL = ("--max-length", "64", "--limit", "60")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return families.save_training(tmp_path_factory.mktemp("training") / "steps")


def test_files_and_table_say_the_same(folder, text, tmp_path):
    outs = [option for name in ("x.json", "x.csv", "x.html", "x.safetensors") for option in ("--out", tmp_path / name)]
    done = run("emergence", folder, "--text", text, *SMALL, *outs, store=tmp_path / "store")
    assert (done.returncode, done.stdout) == (0, "")
    assert "Pass 1 of 12 (step-0000000)" in done.stderr
    whole = json.loads((tmp_path / "x.json").read_bytes())
    assert [row["step"] for row in whole["table"]] == whole["arrays"]["steps"] == list(families.STEPS)
    saved = Emergence.from_bytes((tmp_path / "x.safetensors").read_bytes())
    assert saved.arrays() == whole["arrays"]
    assert (tmp_path / "x.csv").read_text().count("\n") == 1 + len(families.STEPS)
    assert "Heads by what they do" in (tmp_path / "x.html").read_text()
    again = run("emergence", folder, "--text", text, *SMALL, store=tmp_path / "store")
    assert again.stderr == ""  # all of it stood in the store
    lines = [line.split() for line in again.stdout.splitlines()]
    header = next(number for number, words in enumerate(lines) if words[:1] == ["step"])
    assert {"step", "loss", "next_heads", "UAS", "UAS_offset"} <= set(lines[header])
    assert lines[header + 1][0] == "0" and "uniform_entropy" in again.stdout


def test_the_step_the_relations_and_the_head_are_in_the_files(folder, text, tmp_path):
    out, html = tmp_path / "x.json", tmp_path / "x.html"
    step = families.STEPS[1]
    chosen = ("--step", step, "--relations", "UAS", "--head", "1-2", "--out", out, "--out", html, "--quiet")
    done = run("emergence", folder, "--text", text, *SMALL, *chosen, store=tmp_path / "store")
    assert done.returncode == 0, done.stderr
    whole = json.loads(out.read_bytes())["chosen"]
    assert (whole["step"], whole["relations"], whole["head"]) == (step, ["UAS"], "1-2")
    assert whole["tables"]["step"]["rows"][0]["value"] == f"{step:,}"
    page = html.read_text()
    assert f"what each head does, step {step:,}" in page and "Head 1-2 over the training" in page
    for wrong in (("--step", "7"), ("--relations", "none"), ("--head", "9-9")):
        done = run("emergence", folder, "--text", text, *SMALL, *wrong, store=tmp_path / "store")
        assert done.returncode == 2 and "Traceback" not in done.stderr


def test_of_several_files_and_without_a_store_nothing_is_left(folder, text, tmp_path):
    for name in ("more.txt", "other.txt"):
        (tmp_path / name).write_text(TEXT)
    texts, out = ("--text", tmp_path / "m*.txt", "--text", tmp_path / "other.txt"), tmp_path / "x.json"
    options = (*texts, *SMALL, "--no-store", "--quiet", "--out", out)
    done = run("emergence", folder, *options, store=tmp_path / "store")
    assert done.returncode == 0
    assert json.loads(out.read_bytes())["provenance"]["corpus"]["name"] == "mine.txt and 2 more"
    assert not (tmp_path / "store").exists()


@pytest.mark.parametrize("is_there", [False, True])
def test_a_folder_without_checkpoints_is_one_message(tmp_path, is_there):
    if is_there:
        (tmp_path / "nothing").mkdir()
    done = run("emergence", tmp_path / "nothing", store=tmp_path / "store")
    assert done.returncode == 2 and done.stdout == ""
    assert ("No checkpoint" if is_there else "no folder") in done.stderr and "Traceback" not in done.stderr


def test_relations_are_given_by_one_option_or_by_several() -> None:
    view = filled(EmergenceView, {"step": 30, "relations": ["det, UAS", "dobj"]})
    assert view == EmergenceView(step=30, relations=("det", "UAS", "dobj"))
    assert filled(EmergenceView, {"step": None, "relations": []}) == EmergenceView()
