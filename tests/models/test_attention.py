"""Attention seen inside the layer is the attention that the library itself returns."""

from types import SimpleNamespace

import pytest
import torch

from bertviz_core.models.attention import forward, observed_attention
from bertviz_core.models.encoding import collate
from bertviz_core.models.segments import Segments
from bertviz_core.settings import Settings

TEXT = "A river runs through the old town.\nIts water turns three mills, and feeds the fields.\n\nOne short line.\n"


def batch_of(model, source):
    return collate(list(Segments(source(TEXT), model.tokens, Settings(max_length=32))), model.tokens, "cpu")


def capture(model, batch):
    layers = []
    forward(model, batch, layers.append)
    return layers


def test_the_function_is_softmax_attention():
    rng = torch.Generator().manual_seed(0)
    query, key, value = (torch.randn(2, 3, 4, 5, generator=rng) for _ in range(3))
    mask = torch.zeros(2, 1, 4, 4)
    mask[1, :, :, 3] = torch.finfo(torch.float32).min
    seen = []
    output, weights = observed_attention(None, query, key, value, mask, 0.7, observer=lambda *pair: seen.append(pair))
    expected = torch.nn.functional.scaled_dot_product_attention(query, key, value, mask, scale=0.7)
    assert torch.allclose(output, expected.transpose(1, 2), atol=1e-6)
    ((shown, logits, values),) = seen
    assert shown is weights and values is value
    assert torch.equal(logits.softmax(-1), weights)
    assert (weights[1, :, :, 3] == 0).all()


def test_the_softmax_is_float32_in_a_bfloat16_model(source):
    from bertviz_core.models import checkpoint, loading

    model = loading.load(checkpoint.find("demo"), "cpu", "bfloat16")
    batch = batch_of(model, source)
    for attention in capture(model, batch):
        assert attention.weights.dtype == attention.logits.dtype == torch.float32
        sums = attention.weights.sum(-1)
        assert torch.allclose(sums, torch.ones_like(sums), atol=1e-5)


def test_a_capture_that_did_not_run_is_an_error_not_silence(demo, source):
    """Some families ignore the registered function; nothing may then pass for a result."""
    silent = SimpleNamespace(encoder=lambda **_: None, observable=True, layers=2, causal=False, has_types=False)
    with pytest.raises(RuntimeError, match="0 layers were captured in a model of 2"):
        forward(silent, batch_of(demo, source), lambda attention: None)
