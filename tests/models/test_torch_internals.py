"""Private names of PyTorch do what their functions say: an upgrade that changes one fails here."""

import torch
from torch import nn
from torch.nn.modules.module import register_module_forward_hook
from transformers import BertConfig, BertModel

from bertviz_core.models.torch_internals import (
    attention_implementation,
    computes_as_its_class,
    has_global_hooks,
    hooks,
    unsaved_buffers,
)


def test_hooks_before_and_after_a_forward_are_found():
    layer = nn.Linear(2, 2)
    assert hooks(layer) == [] and computes_as_its_class(layer)
    before, after = (lambda *_: None for _ in range(2))
    with layer.register_forward_pre_hook(before), layer.register_forward_hook(after):
        assert hooks(layer) == [before, after] and not computes_as_its_class(layer)
    assert computes_as_its_class(layer)


def test_a_replaced_forward_is_found():
    layer = nn.Linear(2, 2)
    layer.forward = lambda values: values
    assert not computes_as_its_class(layer)


def test_hooks_of_all_modules_are_found():
    assert not has_global_hooks()
    handle = register_module_forward_hook(lambda *_: None)
    assert has_global_hooks()
    handle.remove()
    assert not has_global_hooks()


def test_buffers_that_are_not_saved_are_told_from_those_that_are():
    module = nn.Module()
    module.register_buffer("saved", torch.zeros(1))
    module.register_buffer("unsaved", torch.ones(1), persistent=False)
    assert unsaved_buffers(module) == {"unsaved": module.unsaved}


def test_a_model_knows_its_attention_function_by_name():
    config = BertConfig(hidden_size=8, num_hidden_layers=1, num_attention_heads=2, intermediate_size=8, vocab_size=9)
    model = BertModel(config)
    model.set_attn_implementation("eager")
    assert attention_implementation(model) == "eager"
