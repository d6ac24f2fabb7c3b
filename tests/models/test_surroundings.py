"""What surrounds a call in the caller's program changes no number."""

from contextlib import contextmanager

import numpy as np
import pytest
import torch
from transformers import AutoModelForMaskedLM, AutoTokenizer

import bertviz_core as bv
from tests.support.families import TEXT

DOCUMENTS = ["\n".join(TEXT[:2]), "\n".join(TEXT[2:])]


@contextmanager
def setting(now, standard, set_to):
    set_to(now)
    try:
        yield
    finally:
        set_to(standard)


def set_products(precision):
    torch.backends.mkldnn.matmul.fp32_precision = precision


SURROUNDINGS = {
    "autocast": lambda: torch.autocast("cpu", dtype=torch.bfloat16),
    "inference": torch.inference_mode,
    "no gradients": lambda: torch.set_grad_enabled(False),
    "float64": lambda: setting(torch.float64, torch.float32, torch.set_default_dtype),
    "deterministic": lambda: setting(True, False, torch.use_deterministic_algorithms),
    "device": lambda: torch.device("meta"),
    "precision": lambda: setting("medium", "highest", torch.set_float32_matmul_precision),
    "products": lambda: setting("bf16", "none", set_products),
}


def state():
    return (
        torch.is_autocast_enabled("cpu"),
        torch.is_inference_mode_enabled(),
        torch.is_grad_enabled(),
        torch.get_default_dtype(),
        torch.get_deterministic_debug_mode(),
        torch.get_default_device(),
        torch.backends.mkldnn.matmul.fp32_precision,
    )


def results(model):
    options = {"model": model, "corpus": DOCUMENTS, "store": False, "max_length": 32}
    return {
        "lines": bv.attention(model, "the cat sat on the mat").weights,
        "entropy": bv.analyze("entropy", **options)["entropy"],
        "sep_gradients": np.array(bv.analyze("sep_gradients", **options).result.mean),
    }


@pytest.fixture
def in_memory(masked_folder):
    return AutoModelForMaskedLM.from_pretrained(masked_folder), AutoTokenizer.from_pretrained(masked_folder)


@pytest.mark.parametrize("kind", SURROUNDINGS)
def test_numbers_are_those_without_it_and_it_goes_on_afterwards(kind, in_memory, masked_folder):
    for model in (in_memory, str(masked_folder)):
        expected = results(model)
        with SURROUNDINGS[kind]():
            before = state()
            found = results(model)
            assert state() == before
        for name, values in expected.items():
            np.testing.assert_allclose(found[name], values, atol=1e-6, err_msg=name)


def test_a_model_that_was_made_in_inference_mode_has_gradients(in_memory, masked_folder):
    expected = results(in_memory)["sep_gradients"]
    with torch.inference_mode():
        model = AutoModelForMaskedLM.from_pretrained(masked_folder)
        found = results((model, in_memory[1]))["sep_gradients"]
    np.testing.assert_allclose(found, expected, atol=1e-6)
