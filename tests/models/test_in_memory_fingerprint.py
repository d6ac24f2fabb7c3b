"""A model in memory is known by all that its computation depends on, or nothing of it is stored."""

import functools
import types
from pathlib import Path
from typing import Any

import numpy as np
import peft
import pytest
import torch
from transformers import AutoModel, AutoTokenizer, LlamaConfig, LlamaModel
from transformers.modeling_utils import ALL_ATTENTION_FUNCTIONS

import bertviz_core as bv
from bertviz_core.corpora import Skipped
from bertviz_core.errors import ModelError
from bertviz_core.inputs.encoding import collate, encode_words
from bertviz_core.models import loading
from bertviz_core.models.attention import forward
from bertviz_core.models.checkpoint import checkpoint_of, describe, find_checkpoint
from bertviz_core.models.in_memory_fingerprint import unknown_code
from bertviz_core.models.model import with_weights
from tests.support.families import FAMILIES, TEXT, gpt2_bpe, save

WORDS = ["the", "cat", "sat", "on", "the", "mat", ",", "and", "the", "dog", "slept"]


@pytest.fixture
def tokenizer(tiny_folder):
    return AutoTokenizer.from_pretrained(tiny_folder)


@pytest.fixture
def model(tiny_folder):
    return AutoModel.from_pretrained(tiny_folder).eval()


def attention_of(model: Any) -> Any:
    return model.encoder.layer[0].attention.self


def with_lora(model: Any, scale: float = 0.5) -> Any:
    """The model with two adapters in its queries and output projections."""
    torch.manual_seed(1)
    config = peft.LoraConfig(r=2, lora_alpha=4, target_modules=["query", "attention.output.dense"])
    adapted = peft.get_peft_model(model, config)
    adapted.add_adapter("other", config)
    for name, weight in adapted.named_parameters():
        if "lora_B" in name:
            torch.nn.init.normal_(weight, std=scale)
    return adapted.eval()


def analyzed(model: Any, tokenizer: Any, store: Any) -> Any:
    return bv.analyze("entropy", model=(model, tokenizer), corpus=list(TEXT), store=store, max_length=32)


def returned(model: Any, tokenizer: Any) -> tuple[Any, np.ndarray]:
    """Our maps of an input, and those that the model as it is returns."""
    checkpoint = checkpoint_of((model, tokenizer))
    copied = loading.model_in_memory((model, tokenizer), checkpoint, "cpu")
    batch = collate([encode_words(WORDS, copied.tokens, 0, "", Skipped())], copied.tokens, "cpu")
    layers: list[Any] = []
    forward(copied, batch, layers.append)
    inner = model.get_base_model() if isinstance(model, peft.PeftModel) else model
    inner.set_attn_implementation("eager")
    with torch.inference_mode():
        own = model(**copied.inputs(batch), output_attentions=True).attentions
    return torch.cat([layer.weights for layer in layers]).numpy(), torch.cat(own).numpy()


def change_scaling(model: Any) -> None:
    attention_of(model).scaling = 0.1


def change_buffer(model: Any) -> None:
    model.register_buffer("unsaved", torch.ones(2), persistent=False)


def change_activation(model: Any) -> None:
    model.encoder.layer[0].intermediate.intermediate_act_fn = torch.nn.Tanh()


def change_epsilon(model: Any) -> None:
    model.embeddings.LayerNorm.eps = 0.5


@pytest.mark.parametrize("change", [change_scaling, change_buffer, change_activation, change_epsilon])
def test_what_changes_a_computation_changes_the_fingerprint(change, model, tokenizer):
    first = describe(model, tokenizer)
    change(model)
    second = describe(model, tokenizer)
    assert first.fingerprint() != second.fingerprint() and not second.unknown_code


def test_a_changed_attribute_gives_another_stored_result(model, tokenizer, tmp_path):
    first = analyzed(model, tokenizer, tmp_path)
    change_scaling(model)
    second = analyzed(model, tokenizer, tmp_path)
    assert np.abs(first["entropy"] - second["entropy"]).max() > 0.01
    ours, own = returned(model, tokenizer)
    np.testing.assert_allclose(ours, own, atol=1e-5)


def test_training_forward_passes_and_dropout_change_nothing(model, tokenizer):
    first = describe(model, tokenizer).fingerprint()
    model.train()
    model.encoder.layer[0].output.dropout.p = 0.7
    model(torch.tensor([[1, 2]]), output_attentions=True)  # transformers puts hooks into it
    described = describe(model, tokenizer)
    assert described.fingerprint() == first and not described.unknown_code


@pytest.mark.parametrize("family", FAMILIES)
def test_no_family_has_unknown_code_and_a_pass_leaves_no_mark(family, tmp_path):
    folder = save(FAMILIES[family], tmp_path)
    model, tokenizer = AutoModel.from_pretrained(folder).eval(), AutoTokenizer.from_pretrained(folder)
    before = describe(model, tokenizer)
    with torch.inference_mode():
        model(torch.arange(5, 25)[None])
    after = describe(model, tokenizer)
    again = describe(AutoModel.from_pretrained(folder), tokenizer)
    assert before.fingerprint() == after.fingerprint() == again.fingerprint()
    assert not after.unknown_code


class Own(torch.nn.Linear):
    pass


def add_hook(model: Any) -> None:
    attention_of(model).query.register_forward_hook(lambda _module, _inputs, output: output * 3)


def add_pre_hook(model: Any) -> None:
    model.encoder.layer[1].register_forward_pre_hook(lambda _module, inputs: (inputs[0] * 2, *inputs[1:]))


def patch_method(model: Any) -> None:
    query = attention_of(model).query
    query.forward = types.MethodType(lambda self, x: torch.nn.Linear.forward(self, x) * 3, query)


def patch_partial(model: Any) -> None:
    query = attention_of(model).query
    query.forward = functools.partial(torch.nn.functional.linear, weight=query.weight.detach() * 3)


def replace_class(model: Any) -> None:
    attention_of(model).query.__class__ = Own


def entries(store: Path) -> list[Path]:
    """Files of a store, without those that SQLite keeps while it is open."""
    return sorted(path for path in store.rglob("*") if not path.name.endswith(("-wal", "-shm")))


@pytest.mark.parametrize("change", [add_hook, add_pre_hook, patch_method, patch_partial, replace_class])
def test_with_code_that_cannot_be_known_nothing_is_stored_and_the_result_says_so(change, model, tokenizer, tmp_path):
    before = analyzed(model, tokenizer, tmp_path)
    assert "notices" not in before.provenance
    change(model)
    stored = entries(tmp_path)
    after = analyzed(model, tokenizer, tmp_path)
    assert entries(tmp_path) == stored
    (notice,) = after.provenance["notices"]
    assert "code that cannot be known" in notice
    if change is not replace_class:
        assert np.abs(before["entropy"] - after["entropy"]).max() > 1e-3
    ours, own = returned(model, tokenizer)
    np.testing.assert_allclose(ours, own, atol=1e-5)


def test_hooks_on_every_module_and_replaced_functions_of_classes_are_found(model, monkeypatch):
    handle = torch.nn.modules.module.register_module_forward_hook(lambda *_: None)
    assert unknown_code(model) == "hooks on all modules"
    handle.remove()
    assert not unknown_code(model)
    kind = type(attention_of(model))
    monkeypatch.setattr(kind, "forward", lambda self, *rest: None)
    assert "BertSelfAttention" in unknown_code(model)


def test_a_function_that_would_compute_with_the_original_is_refused(model, tokenizer):
    query = attention_of(model).query
    original = query.forward
    query.forward = lambda x: original(x) * 3
    with pytest.raises(ModelError, match=r"code of `encoder.layer.0.attention.self.query` refers to the model itself"):
        analyzed(model, tokenizer, False)


def test_states_of_adapters_are_apart_and_computed_as_they_are(model, tokenizer, tmp_path):
    adapted = with_lora(model)
    found = []
    for prepare in (
        lambda: None,
        lambda: adapted.set_adapter("other"),
        adapted.base_model.disable_adapter_layers,
        adapted.base_model.enable_adapter_layers,
        adapted.merge_adapter,
    ):
        prepare()
        described = checkpoint_of((adapted, tokenizer))
        assert not described.unknown_code
        ours, own = returned(adapted, tokenizer)
        np.testing.assert_allclose(ours, own, atol=1e-5)
        found.append((described.fingerprint(), analyzed(adapted, tokenizer, tmp_path)["entropy"]))
    assert len({key for key, _ in found}) == 4  # enabled again, it is as before
    assert found[1][0] == found[3][0]
    assert np.abs(found[0][1] - found[1][1]).max() > 1e-3 and np.abs(found[1][1] - found[2][1]).max() > 1e-3
    np.testing.assert_allclose(found[4][1], found[3][1], atol=1e-5)


def test_an_adapter_outside_the_layers_is_refused(model, tokenizer):
    config = peft.PrefixTuningConfig(task_type="FEATURE_EXTRACTION", num_virtual_tokens=4)
    with pytest.raises(ModelError, match="an adapter that is not in the layers") as refused:
        checkpoint_of((peft.get_peft_model(model, config), tokenizer))
    assert "merge_and_unload" in refused.value.hint


def test_norms_with_adapters_are_those_of_the_merged_model(model, tokenizer):
    adapted = with_lora(model)
    values = []
    for each in (adapted, adapted.merge_and_unload()):
        copied = loading.model_in_memory((each, tokenizer), checkpoint_of((each, tokenizer)), "cpu")
        copied = with_weights(copied, "norms")
        layers: list[Any] = []
        example = encode_words(WORDS, copied.tokens, 0, "", Skipped())
        forward(copied, collate([example], copied.tokens, "cpu"), layers.append)
        values.append(torch.stack([layer.vector_norms for layer in layers]).numpy())
    np.testing.assert_allclose(values[0], values[1], rtol=1e-4)


def test_norms_of_a_projection_that_is_not_linear_are_refused(model, tokenizer):
    model.encoder.layer[0].attention.output.dense.register_forward_hook(lambda _module, _inputs, output: output.tanh())
    copied = loading.model_in_memory((model, tokenizer), describe(model, tokenizer), "cpu")
    with pytest.raises(ModelError, match="its output projection is no linear layer"):
        with_weights(copied, "norms")


def test_rotary_frequencies_stay_exact_in_bfloat16(tmp_path):
    tokenizer = gpt2_bpe()
    sizes = {"hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4, "intermediate_size": 48}
    model = LlamaModel(LlamaConfig(vocab_size=len(tokenizer), **sizes))
    copied = loading.model_in_memory((model, tokenizer), describe(model, tokenizer), "cpu", "bfloat16")
    assert copied.encoder.dtype == torch.bfloat16
    assert torch.equal(copied.encoder.rotary_emb.inv_freq, model.rotary_emb.inv_freq)


def uniform(module: Any, query: Any, key: Any, value: Any, mask: Any, **_: Any) -> Any:
    """An attention function of a user's own."""
    weights = torch.full((*query.shape[:3], key.shape[2]), 1 / key.shape[2])
    return (weights @ value).transpose(1, 2).contiguous(), weights


@pytest.mark.parametrize("name", ["sdpa", "eager", "mine"])
def test_an_attention_function_that_was_registered_refuses_the_model(name, model, tokenizer, tmp_path, monkeypatch):
    analyzed(model, tokenizer, tmp_path)  # a stored result is not taken for that of the function, either
    monkeypatch.setitem(ALL_ATTENTION_FUNCTIONS, name, uniform)
    model.config._attn_implementation = name
    with pytest.raises(ModelError, match=rf"uniform, registered as '{name}'") as caught:
        analyzed(model, tokenizer, tmp_path)
    assert "set_attn_implementation" in caught.value.hint


def test_a_function_registered_for_all_refuses_models_of_files(tiny_folder, monkeypatch):
    monkeypatch.setitem(ALL_ATTENTION_FUNCTIONS, "eager", uniform)
    with pytest.raises(ModelError, match="registered as 'eager'"):
        loading.load(find_checkpoint(str(tiny_folder)), "cpu")
