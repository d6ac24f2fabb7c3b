"""Folders as people have them that are no model of safetensors: each is given its true sentence and a way out."""

import json
import shutil
from pathlib import Path

import pytest

from bertviz_core.emergence.training import find_training
from bertviz_core.errors import InputError, ModelError
from bertviz_core.models import checkpoint, loading
from tests.models.test_load_report import configure
from tests.support.families import save_training

LORA = {"peft_type": "LORA", "base_model_name_or_path": "bert-base-uncased", "r": 4}
LFS = b"version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 1\n"


def refused(folder: Path) -> ModelError:
    with pytest.raises(ModelError) as caught:
        checkpoint.find_checkpoint(str(folder))
    assert caught.value.hint and caught.value.where
    return caught.value


def test_an_adapter_names_its_base_and_how_to_merge_it(tmp_path):
    (tmp_path / "adapter_config.json").write_text(json.dumps(LORA))
    error = refused(tmp_path)
    assert "is a LoRA adapter of 'bert-base-uncased', not a whole model" in error.what
    assert "merge_and_unload" in error.hint


@pytest.mark.parametrize("peft", [True, False])
def test_an_adapter_beside_a_model_is_refused_whatever_is_installed(folder, peft, monkeypatch):
    import transformers.integrations.peft as integration

    monkeypatch.setattr(integration, "is_peft_available", lambda *_, **__: peft)
    (folder / "adapter_config.json").write_text(json.dumps(LORA))
    error = refused(folder)
    assert "a model and beside it a LoRA adapter" in error.what
    assert "merge_and_unload" in error.hint and "remove adapter_config.json" in error.hint


@pytest.mark.parametrize("name", ["model.safetensors", "config.json", "tokenizer.json"])
def test_a_pointer_of_git_lfs_is_named(folder, name):
    (folder / name).write_bytes(LFS)
    error = refused(folder)
    assert f"a pointer of git LFS in place of {name}" in error.what and "git lfs pull" in error.hint


@pytest.mark.parametrize(
    ("quantization", "detail"),
    [
        ({"load_in_4bit": True, "quant_method": "bitsandbytes"}, "bitsandbytes, 4 bits"),
        ({"bits": 4, "quant_method": "gptq"}, "gptq, 4 bits"),
        ({"bits": 4, "quant_method": "awq"}, "awq, 4 bits"),
        ({"quant_method": "fp8"}, "fp8"),
    ],
)
def test_quantized_weights_are_named(folder, quantization, detail):
    configure(folder, quantization_config=quantization)
    error = refused(folder)
    assert f"quantized weights ({detail})" in error.what and "dequantize" in error.hint


FILES = {
    "pytorch_model.bin": "only pickled weights",
    "run.ckpt": "PyTorch Lightning",
    "zero_to_fp32.py": "DeepSpeed",
    "__0_0.distcp": "FSDP",
    "tf_model.h5": "TensorFlow",
    "flax_model.msgpack": "Flax",
    "model-q4.gguf": "llama.cpp",
    "model.onnx": "exported graph",
    "model-00001-of-00002.safetensors": "no index of its parts",
}


@pytest.mark.parametrize("name", FILES)
def test_weights_of_another_kind_are_named(folder, name):
    (folder / "model.safetensors").rename(folder / name)
    assert FILES[name] in refused(folder).what
    if name.endswith((".ckpt", ".gguf", ".py", ".distcp")):
        (folder / "config.json").unlink()  # which such folders often lack
        assert FILES[name] in refused(folder).what


def test_a_part_of_the_weights_that_is_missing_is_named(folder):
    part = "model-00002-of-00002.safetensors"
    (folder / "model.safetensors.index.json").write_text(json.dumps({"weight_map": {"a": part}}))
    assert f"lacks a part of its weights, {part}" in refused(folder).what


@pytest.mark.parametrize("inner", ["0_BERT", "0_Transformer"])
def test_a_folder_of_sentence_transformers_says_where_its_model_is(folder, inner):
    (folder.parent / "sentences").mkdir()
    folder.rename(folder.parent / "sentences" / inner)
    (folder.parent / "sentences" / "modules.json").write_text("[]")
    error = refused(folder.parent / "sentences")
    assert f"the model is in {inner}" in error.what and inner in error.hint


def test_a_folder_of_models_names_them(folder):
    folder.rename(folder.parent / "checkpoint-500")
    assert "holds models: checkpoint-500" in refused(folder.parent).what


def without_tokenizers(training: Path) -> None:
    for path in [*training.glob("step-*/tokenizer*"), *training.glob("step-*/special*")]:
        path.unlink()


def test_checkpoints_without_a_tokenizer_use_the_one_of_their_training(tmp_path):
    training = save_training(tmp_path / "run", steps=(0, 10))
    alone = loading.load(checkpoint.find_checkpoint(str(training / "step-0000010")), "cpu").tokens.single
    shutil.copy(training / "step-0000000" / "tokenizer.json", training)
    shutil.copy(training / "step-0000000" / "tokenizer_config.json", training)
    before = checkpoint.find_checkpoint(str(training / "step-0000010")).fingerprint()
    without_tokenizers(training)
    found = find_training(training)
    assert found.steps == (0, 10)
    assert loading.load(found.checkpoints[1], "cpu").tokens.single == alone
    assert found.checkpoints[1].fingerprint() == before


def test_a_training_without_any_tokenizer_says_so(tmp_path):
    training = save_training(tmp_path / "run", steps=(0, 10))
    without_tokenizers(training)
    with pytest.raises(InputError, match="has no tokenizer") as caught:
        find_training(training)
    assert "names end in" not in caught.value.hint


def test_the_tokenizer_of_a_folder_above_is_used_for_checkpoints_alone(folder):
    shutil.copy(folder / "tokenizer.json", folder.parent)
    (folder / "tokenizer.json").unlink()
    assert "no tokenizer" in refused(folder).what


def test_files_that_change_no_map_are_no_part_of_the_fingerprint(folder):
    before = checkpoint.find_checkpoint(str(folder)).fingerprint()
    for name in ("all_results.json", "trainer_state.json", "exported.json", "generation_config.json", "log.txt"):
        (folder / name).write_text('{"a": 1}')
    (folder / "optimizer.safetensors").write_bytes(b"anything")
    assert checkpoint.find_checkpoint(str(folder)).fingerprint() == before
    (folder / "special_tokens_map.json").write_text("{}")
    assert checkpoint.find_checkpoint(str(folder)).fingerprint() != before
