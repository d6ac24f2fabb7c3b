"""Folders of models that a stranger made: refused in words, and soon; nothing of theirs is run or unpickled."""

import io
import json
import os
import shutil
import time
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file, save_file

from bertviz_core.emergence.training import find_training
from bertviz_core.errors import ModelError
from bertviz_core.models import checkpoint, loading
from tests.support.running import run


def rewrite(folder: Path, **entries: object) -> None:
    path = folder / "config.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | entries))


@pytest.mark.parametrize(
    "entries",
    [
        {"type_vocab_size": "2"},
        {"num_attention_heads": True},
        {"max_position_embeddings": 4, "tokens": None},
        {"num_attention_heads": 0, "heads": None},
        {"model_type": "roberta", "max_position_embeddings": 8, "tokens": None},
        {"num_attention_heads": 10_000, "num_hidden_layers": 10_000},
        {"hidden_size": 10**9},
        {"max_position_embeddings": 100_000, "positions": None},
        {"chunk": 10**7},
    ],
    ids=str,
)
def test_a_config_that_the_weights_contradict_is_refused_at_once(folder, entries):
    rewrite(folder, **entries)
    began = time.process_time()
    with pytest.raises(ModelError, match=r"config\.json says") as caught:
        checkpoint.find_checkpoint(str(folder))
    assert time.process_time() - began < 0.5
    assert any(name in caught.value.what for name in (*entries, "layers"))


def test_folders_and_links_named_as_files_are_none(folder):
    before = checkpoint.find_checkpoint(str(folder)).fingerprint()
    for ending in ("safetensors", "txt"):
        (folder / f"more.{ending}").mkdir()
        (folder / f"gone.{ending}").symlink_to(folder / "nowhere")
    opened = checkpoint.find_checkpoint(str(folder))
    assert opened.fingerprint() == before and opened.parameters() > 0
    (folder / "tokenizer.json").unlink()
    (folder / "tokenizer.json").mkdir()
    with pytest.raises(ModelError, match="no tokenizer"):
        checkpoint.find_checkpoint(str(folder))


@pytest.mark.parametrize("name", ["weights.txt", "../model.safetensors", None])
def test_an_index_names_safetensors_of_its_folder_alone(folder, name, monkeypatch):
    weights = load_file(folder / "model.safetensors")
    (folder / "model.safetensors").rename(folder / "other.safetensors")
    torch.save(weights, folder / "weights.txt")
    shutil.copy(folder / "other.safetensors", folder.parent / "model.safetensors")
    index = folder / "model.safetensors.index.json"
    index.write_text(json.dumps({"metadata": {}, "weight_map": dict.fromkeys(weights, name)}))
    monkeypatch.setattr(torch, "load", lambda *_, **__: pytest.fail("opened a pickle"))
    with pytest.raises(ModelError, match="names weights that are not safetensors files in the folder"):
        loading.load(checkpoint.find_checkpoint(str(folder)), "cpu")
    index.write_text(json.dumps({"metadata": {}, "weight_map": dict.fromkeys(weights, "other.safetensors")}))
    opened = checkpoint.find_checkpoint(str(folder))
    before = opened.fingerprint()
    assert loading.load(opened, "cpu").layers == 2
    save_file({key: value * 0 for key, value in weights.items()}, folder / "other.safetensors", {"format": "pt"})
    assert checkpoint.find_checkpoint(str(folder)).fingerprint() != before


@pytest.mark.parametrize(
    ("name", "kind"), [("model.safetensors", "device"), ("config.json", "link"), ("added_tokens.json", "fifo")]
)
def test_a_model_of_other_than_regular_files_is_refused_at_once(folder, name, kind):
    (folder / name).unlink(missing_ok=True)
    if kind == "fifo":
        os.mkfifo(folder / name)
    else:
        (folder / name).symlink_to("/dev/zero" if kind == "device" else folder.parent.parent / "elsewhere")
        (folder.parent.parent / "elsewhere").write_text("{}")
    with pytest.raises(ModelError, match=f"{name} is not a regular file of the folder"):
        checkpoint.find_checkpoint(str(folder))


def test_a_model_of_the_hubs_cache_links_to_its_repository(folder, tmp_path):
    snapshot, blobs = tmp_path / "models--x" / "snapshots" / "abc", tmp_path / "models--x" / "blobs"
    snapshot.mkdir(parents=True)
    blobs.mkdir()
    for file in filter(Path.is_file, folder.iterdir()):
        file.rename(blobs / file.name)
        (snapshot / file.name).symlink_to(blobs / file.name)
    assert checkpoint.find_checkpoint(str(snapshot)).layers == 2


def test_weights_without_an_end_and_weights_by_another_name_are_refused(folder):
    with (folder / "more.safetensors").open("wb") as stream:
        stream.truncate(10**11)
    with pytest.raises(ModelError, match="weights take 100 GB"):
        checkpoint.find_checkpoint(str(folder))
    (folder / "more.safetensors").unlink()
    rewrite(folder, transformers_weights="elsewhere.safetensors")
    with pytest.raises(ModelError, match="names other weights"):
        checkpoint.find_checkpoint(str(folder))


@pytest.mark.parametrize(
    ("name", "size", "limit"),
    [
        ("tokenizer.json", 10**9, 100),
        ("vocab.txt", 10**9, 100),
        ("tokenizer_config.json", 10**7, 4),
        ("chat_template.jinja", 10**7, 4),
        ("generation_config.json", 10**7, 4),
    ],
)
def test_a_file_that_would_take_too_long_to_read_is_refused_with_its_limit(folder, name, size, limit):
    with (folder / name).open("wb") as stream:
        stream.truncate(size)
    began = time.process_time()
    with pytest.raises(ModelError, match=f"{name} takes {size // 10**6:,} MB, and {limit} MB are the most") as caught:
        checkpoint.find_checkpoint(str(folder))
    assert time.process_time() - began < 0.5 and caught.value.where.endswith(name)


def test_the_tokenizer_of_a_training_has_the_same_limit(tiny_folder, tmp_path):
    step = Path(shutil.copytree(tiny_folder, tmp_path / "step-1"))
    (step / "tokenizer.json").rename(tmp_path / "tokenizer.json")
    assert checkpoint.find_checkpoint(str(step)).layers == 2
    with (tmp_path / "tokenizer.json").open("wb") as stream:
        stream.truncate(10**9)
    with pytest.raises(ModelError, match=r"tokenizer\.json takes 1,000 MB"):
        checkpoint.find_checkpoint(str(step))


def test_a_training_with_a_broken_tokenizer_can_be_listed(tiny_folder, tmp_path):
    for step in (1, 2):
        copy = Path(shutil.copytree(tiny_folder, tmp_path / f"step-{step}"))
        (copy / "tokenizer.json").write_text("[" * 100_000)
    (tmp_path / f"step-{'9' * 200}").mkdir()
    assert find_training(tmp_path).steps == (1, 2)


@pytest.mark.parametrize("name", ["config.json", "tokenizer_config.json"])
def test_code_of_a_folders_own_is_refused_with_a_reason(folder, name, monkeypatch):
    entries = json.loads((folder / name).read_text())
    (folder / name).write_text(json.dumps(entries | {"auto_map": {"AutoModel": "evil.Evil"}}))
    (folder / "evil.py").write_text("raise SystemExit")
    with pytest.raises(ModelError, match=r"asks for Python code of its own .*never run") as caught:
        checkpoint.find_checkpoint(str(folder))
    assert caught.value.where.endswith(name) and caught.value.hint
    # On the command line nobody is asked, however the answer stands ready.
    monkeypatch.setattr("sys.stdin", io.StringIO("y\n"))
    done = run("surface-patterns", "encyclopedia", "--model", folder, store=folder / "store")
    assert done.returncode == 2 and "Python code" in done.stderr
