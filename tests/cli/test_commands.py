"""The command line as a user types it: outputs, exit codes, one message for each mistake, the store it shares."""

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import safetensors.numpy

from bertviz_core.analyses.surface_patterns.result import NORM_QUANTITIES, QUANTITIES
from bertviz_core.models import checkpoint
from bertviz_core.plotting import BEHAVIORS
from tests.support.families import FAMILIES, save
from tests.support.running import run, written

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
TEXT = "The cat sat on the mat.\nIt was warm, and it slept.\n\nAnother document.\nIt has two lines.\n"


def test_the_module_runs_as_a_command(tmp_path: Path):
    command = [sys.executable, "-m", "bertviz_core", "entropy", str(tmp_path / "missing.txt")]
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, check=False)
    assert done.returncode == 2
    assert done.stderr.startswith("error: ")
    assert done.stdout == ""


def test_a_table_on_standard_output_and_progress_on_standard_error(text: Path, tmp_path: Path):
    done = run("surface-patterns", text, store=tmp_path / "s")
    assert done.returncode == 0
    assert "previous" in done.stdout
    assert "6-12" in done.stdout
    assert "Running the model" in done.stderr
    again = run("surface-patterns", text, store=tmp_path / "s")
    assert again.stdout == done.stdout
    assert "Running the model" not in again.stderr  # found in the store


def test_every_format_holds_the_same_numbers(text: Path, tmp_path: Path):
    outs = [tmp_path / f"x{suffix}" for suffix in (".json", ".csv", ".html", ".safetensors")]
    options = [part for out in outs for part in ("--out", out)]
    done = run("surface-patterns", text, "--no-store", "--quiet", *options)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    whole = json.loads(outs[0].read_text())
    assert set(whole) == {"analysis", "chosen", "provenance", "arrays", "table", "findings", "intervals_over"}
    assert set(whole["arrays"]) == set(QUANTITIES)
    assert np.array(whole["arrays"]["previous"]).shape == (6, 12)
    assert whole["provenance"]["segments"] == 2
    frame = pd.read_csv(outs[1])
    np.testing.assert_allclose(frame["previous"].to_numpy().reshape(6, 12), whole["arrays"]["previous"])
    assert {"model", "corpus", "mode", "citation"} <= set(frame.columns)
    arrays = safetensors.numpy.load_file(outs[3])
    np.testing.assert_allclose(arrays["mean"][QUANTITIES.index("previous")], whole["arrays"]["previous"])
    page = outs[2].read_text()
    assert "arXiv:1906.04341" in page
    assert 'src="http' not in page  # it needs no network


def test_segments_can_be_read_back(text: Path, tmp_path: Path):
    assert run("segments", text, "--out", tmp_path / "segments.json").returncode == 0
    records = json.loads((tmp_path / "segments.json").read_text())
    assert records[0]["tokens"][:3] == ["[CLS]", "the", "cat"]
    assert records[0]["tokens"].count("[SEP]") == 2
    inputs = (text, tmp_path / "segments.json")
    first, second = (written(tmp_path / "x.json", "entropy", name, "--no-store")["arrays"] for name in inputs)
    np.testing.assert_allclose(first["entropy"], second["entropy"], atol=1e-6)


def test_extract_writes_maps_and_keeps_other_fields(tmp_path: Path):
    (tmp_path / "e.json").write_text(json.dumps([{"words": ["Hello", "world"], "id": 7}, {"text": "It is."}]))
    out = tmp_path / "maps.safetensors"
    assert run("extract", tmp_path / "e.json", "--out", out, "--quiet").returncode == 0
    maps = safetensors.numpy.load_file(out)
    beside = json.loads((tmp_path / "maps.inputs.json").read_text())
    assert beside[0]["id"] == 7
    for entry in beside:
        assert maps[entry["entry"]].shape[-1] == len(entry["tokens"])
    refused = run("extract", tmp_path / "e.json", "--out", tmp_path / "maps.pkl")
    assert refused.returncode == 2
    assert ".safetensors" in refused.stderr


def test_extract_leaves_its_input_as_it_is(tmp_path: Path):
    text = json.dumps([{"words": ["Hello", "world"]}])
    for name in ("words.json", "maps.inputs.json"):
        (tmp_path / name).write_text(text)
    out = tmp_path / "words.safetensors"
    assert run("extract", tmp_path / "words.json", "--word-level", "--out", out, "--quiet").returncode == 0
    assert (tmp_path / "words.json").read_text() == text
    for named in (tmp_path / "maps.inputs.json", tmp_path / "m*.json", tmp_path):
        refused = run("extract", named, "--out", tmp_path / "maps.safetensors", "--quiet")
        assert refused.returncode == 2 and "would overwrite an input" in refused.stderr
    assert (tmp_path / "maps.inputs.json").read_text() == text and not (tmp_path / "maps.safetensors").exists()


@pytest.mark.parametrize("option", [("--workers", "2"), ("--no-store",)])
@pytest.mark.parametrize("command", [("attention", "--head", "1-1"), ("extract", "--out", "maps.safetensors")])
def test_options_without_effect_are_refused(command, option, text: Path):
    refused = run(*command, text, *option)
    assert refused.returncode == 2 and "No such option" in refused.stderr


def test_the_store_is_listed_and_cleared(text: Path, tmp_path: Path):
    store = tmp_path / "s"
    for weights in ("attention", "norms"):
        run("entropy", text, "--weights", weights, "--store", store, "--quiet")
    listed = run("store", "list", "--store", store).stdout.splitlines()
    assert listed[0].split() == ["what", "model", "corpus", "settings", "stored", "size", "key"]
    results = [" ".join(line.split()) for line in listed[1:] if not line.lstrip().startswith("work")]
    assert len(results) == 6  # surface patterns and reach came with the same passes
    for weights in ("attention", "norms"):
        settings = f"corrected, 128 tokens, float32, seed 0, weights {weights} "
        assert sum(f"entropy demo mine.txt {settings}" in line for line in results) == 1
    assert "bytes in" in run("store", "size", "--store", store).stdout
    assert run("store", "clear", "--store", store).stdout.startswith(f"{len(listed) - 1} entries")
    assert run("store", "list", "--store", store).stdout == "The store is empty.\n"


def test_equal_files_keep_their_own_names_also_where_a_name_is_no_text(tmp_path: Path, tiny_folder: Path):
    names = (b"byt\xff\xfe.txt", b"a\x1b[31m.txt", b"plain.txt")
    store = tmp_path / "s"
    for name in names:
        path = os.fsencode(tmp_path) + b"/" + name
        Path(os.fsdecode(path)).write_text("the cat sat .\n")
        out = tmp_path / "x.json"
        more = ("--model", tiny_folder, "--max-length", "32", "--store", store, "--quiet")
        run(
            "entropy", os.fsdecode(path), *more, "--out", out, "--out", tmp_path / "x.csv", "--out", tmp_path / "x.html"
        )
        found = json.loads(out.read_text(encoding="utf-8"))["provenance"]["corpus"]["name"]
        assert found == name.decode("utf-8", "replace")
    listed = run("store", "list", "--store", store).stdout
    assert "byt" in listed and "\x1b" not in listed


@pytest.mark.parametrize("command", [["surface-patterns"], ["compare", "entropy"], ["dependency-heads"]])
def test_a_wrong_file_is_refused_before_a_model_is_looked_for(tmp_path, monkeypatch, command):
    def find(*_):
        raise AssertionError("the hub would be asked")

    monkeypatch.setattr(checkpoint, "find_checkpoint", find)
    (tmp_path / "paper.pdf").write_bytes(b"%PDF-1.4")
    refused = run(*command, tmp_path / "paper.pdf", "--model", "someone/model", store=tmp_path)
    assert refused.returncode == 2 and "PDF" in refused.stderr


MISTAKES = [  # arguments, and what the message says
    (["latin.txt"], "line 1: "),
    (["cut.json"], "cut off"),
    (["nope.txt"], "cannot be read"),
    (["good.txt", "--model", "./bare"], "no weights"),
    (["good.txt", "--model", "bert-base-uncasd"], "bert-base-uncasd"),
    (["good.txt", "--max-length", "4096"], "512"),
    (["good.txt", "--mode", "wrong"], "corrected, paper"),
    (["good.txt", "--device", "gpu"], "auto, cpu, cuda"),
    (["good.txt", "--out", "nowhere/x.json"], "no folder"),
    (["good.txt", "--out", "bare"], "bare"),
    (["good.txt", "--out", "x.pkl"], ".json"),
    (["good.txt", "--nonsense"], "--nonsense"),
]


@pytest.mark.parametrize(("arguments", "message"), MISTAKES, ids=lambda each: each if isinstance(each, str) else "")
def test_every_mistake_is_one_message_and_exit_code_2(tmp_path, monkeypatch, arguments, message):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "latin.txt").write_bytes(b"caf\xe9\n")
    (tmp_path / "cut.json").write_text('[{"text": "a"},\n {"text": "b"')
    (tmp_path / "good.txt").write_text(TEXT)
    (tmp_path / "bare").mkdir()
    (tmp_path / "bare" / "config.json").write_text('{"model_type": "bert"}')
    done = run("entropy", *arguments, "--store", tmp_path / "s")
    assert (done.returncode, done.stdout) == (2, "")
    assert message in done.stderr and "Traceback" not in done.stderr


def test_norms_in_place_of_weights(text: Path, tmp_path: Path):
    """Other numbers, with the lengths of the vectors beside them; a family without them is refused by name."""
    out = tmp_path / "norms.json"
    given = ("surface-patterns", text, "--weights", "norms", "--out", tmp_path / "n.csv")
    whole = written(out, *given, store=tmp_path)
    assert list(whole["arrays"]) == [*QUANTITIES, *NORM_QUANTITIES]
    assert whole["provenance"]["settings"]["weights"] == "norms"
    assert set(pd.read_csv(tmp_path / "n.csv")["weights"]) == {"norms"}
    plain = written(out, "surface-patterns", text, store=tmp_path)
    assert list(plain["arrays"]) == [*QUANTITIES]
    assert plain["arrays"]["to_sep"] != whole["arrays"]["to_sep"]
    refused = run("entropy", text, "--weights", "lengths", store=tmp_path)
    assert refused.returncode == 2 and "Choose one of attention, norms" in refused.stderr
    albert = save(FAMILIES["albert"], tmp_path / "albert")
    refused = run("entropy", text, "--weights", "norms", "--max-length", "32", "--model", albert, store=tmp_path)
    assert refused.returncode == 2 and "bert, camembert, electra" in refused.stderr


def test_the_overview_prints_every_head_and_what_the_numbers_rest_on(tmp_path):
    lines = run("overview", "--store", tmp_path / "store").stdout.splitlines()
    assert lines[0].split()[:4] == ["label", "layer", "head", "behavior"]
    assert lines[3].split()[:3] == ["1-3", "1", "3"]
    behaviors = {line.split()[3] for line in lines[1:73]}
    assert behaviors <= {*BEHAVIORS} and len(behaviors) > 1
    assert "entropy: encyclopedia, mode corrected, at most 128 tokens, seed 0, float32" in lines
    assert lines.index("") == 73


def test_an_overview_that_cannot_be_is_refused_with_what_to_do(tmp_path, tiny_folder):
    mistakes = {("--model", tiny_folder): "Run an analysis first", ("--mode", "other"): "mode cannot be"}
    for options, message in (mistakes | {("--out", tmp_path / "a.txt"): "cannot be written"}).items():
        refused = run("overview", "--store", tmp_path / "store", *options)
        assert refused.returncode == 2 and message in refused.stderr


@pytest.mark.parametrize(
    ("options", "code", "message"), [((), 0, "max_weight"), (("--workers", "2"), 2, "pip install ray")]
)
def test_a_command_without_ray(options, code, message, tiny_folder, monkeypatch):
    monkeypatch.delitem(sys.modules, "bertviz_core.analyses.run.ray_runner", raising=False)  # which alone imports it
    monkeypatch.setitem(sys.modules, "ray", None)
    small = ("--device", "cpu", "--max-length", "32", "--limit", "3", "--quiet", "--no-store")
    done = run("entropy", "encyclopedia", "--model", tiny_folder, *small, *options)
    assert done.returncode == code and message in done.stdout + done.stderr
