import os
from pathlib import Path

import pytest

from bertviz_core.errors import DownloadNeeded, ModelError
from bertviz_core.models import checkpoint, model_sources
from bertviz_core.models.checkpoint import DEMO_FOLDER, Checkpoint
from bertviz_core.models.configuration import longest_input, with_common_names


@pytest.mark.parametrize(
    ("config", "layers", "heads", "max_length"),
    [
        (
            {"model_type": "bert", "num_hidden_layers": 12, "num_attention_heads": 16, "max_position_embeddings": 512},
            12,
            16,
            512,
        ),
        ({"model_type": "distilbert", "n_layers": 6, "n_heads": 12, "max_position_embeddings": 512}, 6, 12, 512),
        ({"model_type": "gpt2", "n_layer": 12, "n_head": 12, "n_positions": 1024}, 12, 12, 1024),
        ({"model_type": "roberta", "max_position_embeddings": 514, "pad_token_id": 1}, 12, 12, 512),
        ({"model_type": "xlm-roberta", "max_position_embeddings": 514}, 12, 12, 512),
        ({"model_type": "roberta", "max_position_embeddings": 514, "pad_token_id": 0}, 12, 12, 513),
        ({"model_type": "xlnet", "n_layer": 12, "n_head": 12, "d_model": 768}, 12, 12, None),
        ({"model_type": "t5", "num_layers": 6, "num_heads": 8}, 6, 8, None),
        ({"model_type": "xglm", "num_layers": 6, "attention_heads": 16}, 6, 16, 2048),
    ],
)
def test_every_family_has_its_own_names_for_its_sizes(config, layers, heads, max_length):
    found = Checkpoint("x", Path(), config=with_common_names(config))
    assert (found.layers, found.heads, found.max_length) == (layers, heads, max_length)
    assert longest_input({"max_position_embeddings": -1}) is None


def test_parameters_and_fingerprint_are_of_the_files_not_of_their_place_or_time(tiny_folder, tiny, folder):
    found = checkpoint.find_checkpoint(str(tiny_folder))
    assert found.parameters() == sum(weight.numel() for weight in tiny.encoder.parameters())
    original = found.fingerprint()
    for path in folder.iterdir():
        os.utime(path, (1, 1))
    assert checkpoint.find_checkpoint(str(folder)).fingerprint() == original
    (folder / "README.md").write_text("A card says nothing about the weights.")
    assert checkpoint.find_checkpoint(str(folder)).fingerprint() == original


@pytest.mark.parametrize("name", ["model.safetensors", "config.json", "tokenizer.json"])
def test_any_changed_file_changes_the_fingerprint(folder, name):
    before = checkpoint.find_checkpoint(str(folder)).fingerprint()
    data = bytearray((folder / name).read_bytes())
    data[-3:-2] = b" " if data[-3:-2] != b" " else b"\t"
    (folder / name).write_bytes(data)
    assert checkpoint.find_checkpoint(str(folder) + "/").fingerprint() != before


def header(data: bytes) -> bytes:
    """The beginning of a safetensors file."""
    return len(data).to_bytes(8, "little") + data


HUGE = b"9" * 5000  # Python reads no number of so many digits
BROKEN = {
    "no weights": ("model.safetensors", [None]),
    "no tokenizer": ("tokenizer.json", [None]),
    r"no readable config\.json": (
        "config.json",
        [None, b"{broken", b"\xff", b"[]", b"[" * 100_000, b'{"a": ' + HUGE + b"}"],
    ),
    "damaged or cut off": (
        "model.safetensors",
        [
            b"",
            b"\xff" * 100,
            header(b"{broken.."),
            header(b"[" * 100_000),
            header(b'{"a": {"dtype": "F32"}}'),
            header(b'{"a": {"shape": [-1]}}'),
            header(b'{"a": {"shape": [' + HUGE + b"]}}"),
            header(b" " * (5 << 20) + b"{}"),
            (DEMO_FOLDER / "model.safetensors").read_bytes()[:-100],
        ],
    ),
}


@pytest.mark.parametrize("message", BROKEN)
def test_a_folder_that_lacks_a_file_or_has_a_broken_one_is_refused(folder, message):
    name, contents = BROKEN[message]
    for content in contents:
        (folder / name).unlink()
        if content is not None:
            (folder / name).write_bytes(content)
        with pytest.raises(ModelError, match=message):
            checkpoint.find_checkpoint(str(folder))
        (folder / name).touch()


@pytest.mark.parametrize("name", ["pytorch_model.bin", "weights.pt", "model.ckpt"])
def test_pickled_weights_are_refused_as_such(folder, name):
    (folder / "model.safetensors").rename(folder / name)
    with pytest.raises(ModelError, match="never opened"):
        checkpoint.find_checkpoint(str(folder))


@pytest.mark.parametrize("name", ["/no/such/folder", "../none", "~nobody-of-this-name/x", "a/b/c", ""])
def test_what_can_only_be_a_folder_is_not_sought_on_the_hub(name, monkeypatch):
    monkeypatch.setattr(model_sources, "snapshot", lambda *_: pytest.fail("asked the hub"))
    with pytest.raises(ModelError, match="no folder"):
        checkpoint.find_checkpoint(name)


def test_no_hub_in_reach_names_the_model_and_the_way_out():
    with pytest.raises(ModelError, match="cannot be reached") as caught:
        checkpoint.find_checkpoint("bert-base-uncased-of-nobody")
    assert not isinstance(caught.value, DownloadNeeded)
    assert "'bert-base-uncased-of-nobody'" in str(caught.value)
    assert "save_pretrained" in caught.value.hint and "demo" in caught.value.hint
