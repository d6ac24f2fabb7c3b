"""Entries of config.json of a wrong type: whatever is read, there is one sentence or a model, never a traceback."""

import json
import shutil
from pathlib import Path

import numpy as np
import pytest

import bertviz_core as bv
from bertviz_core.models.checkpoint import find_checkpoint
from bertviz_core.models.configuration import COMMON, TYPES
from bertviz_core.models.loading import load
from bertviz_core.models.rotary import length_limit

OTHERS = ("position_embedding_type", "quantization_config", "compression_config", "rope_scaling", "rope_parameters")
OTHERS += ("original_max_position_embeddings", "transformers_weights", "tie_word_embeddings", "hidden_act", "dtype")
OTHERS += ("torch_dtype", "is_decoder", "is_encoder_decoder", "id2label", "layer_types", "encoder", "decoder")
NAMES = (*COMMON, *TYPES, *OTHERS)
VALUES = [0, -1, 2.5, True, "x", "", [], ["x", 1], [{}], {}, {"x": 1}, {"text_config": []}, None, 10**30]


@pytest.fixture(scope="module")
def folder(tiny_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return Path(shutil.copytree(tiny_folder, tmp_path_factory.mktemp("wrong") / "model"))


def change(folder: Path, original: Path, entries: dict) -> None:
    written = json.loads((original / "config.json").read_text()) | entries
    (folder / "config.json").write_text(json.dumps(written))


@pytest.mark.parametrize("name", NAMES)
def test_no_type_of_any_entry_is_a_traceback(name, folder, tiny_folder):
    for entries in (*({name: value} for value in VALUES), *({"text_config": {name: value}} for value in VALUES[::3])):
        change(folder, tiny_folder, entries)
        try:
            load(find_checkpoint(str(folder)))
        except bv.BertvizError as error:
            assert error.what.endswith(".") and "Error" not in type(error).__name__.replace("ModelError", "")


def test_a_text_in_place_of_an_object_is_said(folder, tiny_folder):
    change(folder, tiny_folder, {"text_config": "x"})
    with pytest.raises(bv.BertvizError, match="text_config is str, not an object"):
        find_checkpoint(str(folder))
    assert length_limit({"text_config": "x"}) is None


def test_infinity_as_transformers_writes_it(folder, tiny_folder):
    change(folder, tiny_folder, {"limit": {"__float__": "Infinity"}, "limits": [0, {"__float__": "-Infinity"}]})
    checkpoint = find_checkpoint(str(folder))
    assert checkpoint.config["limit"] == np.inf and checkpoint.config["limits"] == [0, -np.inf]
    assert load(checkpoint).layers == 2


@pytest.mark.parametrize("name", ["~\0", "\0", "a\0b", "owner/na\0me", "owner/name@\0", "/tmp/\0"])
def test_a_null_character_is_no_name(name):
    from bertviz_core.emergence.training import find_training

    for find in (find_checkpoint, find_training):
        with pytest.raises(bv.BertvizError):
            find(name)
