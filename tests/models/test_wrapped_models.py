"""Models in memory that something is wrapped around: taken off where that is exact, else refused in a sentence."""

from functools import partial
from unittest.mock import patch

import numpy as np
import pytest
import torch
from transformers import AutoModelForMaskedLM, AutoTokenizer, BertForPreTraining, ViTConfig, ViTModel

import bertviz_core as bv
from bertviz_core.models.checkpoint import checkpoint_of

TEXTS = ["The cat sat on the mat.\nThe dog slept, and slept."]


@pytest.fixture
def tokenizer(masked_folder):
    return AutoTokenizer.from_pretrained(masked_folder)


@pytest.fixture
def model(masked_folder):
    return AutoModelForMaskedLM.from_pretrained(masked_folder).eval()


def numbers(pair):
    options = {"corpus": TEXTS, "store": False, "max_length": 32}
    return {
        "lines": bv.attention(pair, "the cat sat on the mat").weights,
        "sep_gradients": np.array(bv.analyze("sep_gradients", model=pair, **options).result.mean),
    }


def prepared(model):
    """As accelerate leaves it, with a forward that computes in bfloat16."""
    accelerate = pytest.importorskip("accelerate")
    accelerate.state.AcceleratorState._reset_state(reset_partial_state=True)  # as another test may have left it
    return accelerate.Accelerator(mixed_precision="bf16", cpu=True).prepare(model)


def dispatched(model):
    """As accelerate leaves it where parts may be on several devices, all of which are here."""
    hooks = pytest.importorskip("accelerate.hooks")
    hooks.attach_align_device_hook(model, execution_device=torch.device("cpu"))
    hooks.add_hook_to_module(model, hooks.AlignDevicesHook(torch.device("cpu"), io_same_device=True))
    return model


def offloaded(model):
    accelerate = pytest.importorskip("accelerate")
    return accelerate.cpu_offload(model)


def compiled_in_place(model):
    model.compile()
    return model


def parallel(model):
    """On the CPU, whatever devices other tests have simulated."""
    with patch("torch.nn.parallel.data_parallel._get_available_device_type", return_value=None):
        return torch.nn.DataParallel(model)


WRAPPED = {
    "compiled": torch.compile,
    "compiled in place": compiled_in_place,
    "parallel": parallel,
    "both": lambda model: torch.compile(parallel(model)),
    "mixed precision": prepared,
    "dispatched": dispatched,
    "offloaded": offloaded,
}


@pytest.mark.parametrize("kind", WRAPPED)
def test_what_is_around_a_model_changes_no_number_and_stays(kind, model, tokenizer):
    expected, digest = numbers((model, tokenizer)), checkpoint_of((model, tokenizer)).fingerprint()
    wrapped = WRAPPED[kind](model)
    before = dict(vars(model))
    checkpoint = checkpoint_of((wrapped, tokenizer))
    assert (checkpoint.fingerprint(), checkpoint.unknown_code) == (digest, "")
    for name, values in numbers((wrapped, tokenizer)).items():
        np.testing.assert_allclose(values, expected[name], atol=1e-6, err_msg=name)
    assert dict(vars(model)) == before


def patched_twice(model):
    model.forward = partial(model.forward, output_hidden_states=True)
    return prepared(model)


REFUSED = {
    "on the device `meta`": lambda model: model.to("meta"),
    "quantized": lambda model: torch.ao.quantization.quantize_dynamic(model, {torch.nn.Linear}),
    "accelerate has replaced the forward": patched_twice,
}


@pytest.mark.parametrize("message", REFUSED)
def test_what_cannot_be_taken_off_is_one_sentence(message, model, tokenizer):
    pair = REFUSED[message](model), tokenizer
    for use in (lambda: checkpoint_of(pair), lambda: bv.attention(pair, "the cat sat")):
        with pytest.raises(bv.BertvizError, match=message):
            use()


def test_bert_with_both_of_its_heads_has_a_loss(masked_folder, model, tokenizer):
    both = BertForPreTraining.from_pretrained(masked_folder)
    expected = numbers((model, tokenizer))
    for name, values in numbers((both, tokenizer)).items():
        np.testing.assert_allclose(values, expected[name], atol=1e-6, err_msg=name)


def test_a_model_without_its_tokenizer_is_named(model):
    with pytest.raises(
        bv.BertvizError, match=r"^The \w+ForMaskedLM has no tokenizer beside it\. .*\(model, tokenizer\)"
    ):
        bv.analyze("entropy", corpus=TEXTS, model=model)


def test_a_model_of_images_and_one_inside_another_are_named(model, tokenizer):
    small = {"hidden_size": 8, "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 8}
    images = ViTModel(ViTConfig(**small, image_size=8, patch_size=4))
    with pytest.raises(bv.BertvizError, match="A ViTModel reads pixel values, not text"):
        bv.attention((images, tokenizer), "the cat")
    own = torch.nn.ModuleDict({"bert": model})
    with pytest.raises(bv.BertvizError, match=r"ModuleDict .* holds a BertForMaskedLM as `bert`.*model\.bert"):
        bv.attention((own, tokenizer), "the cat")
    with pytest.raises(bv.BertvizError, match="There is no tokenizer"):
        bv.attention((model, None), "the cat")
