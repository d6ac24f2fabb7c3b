from pathlib import Path
from types import SimpleNamespace

import pytest
import torch

from bertviz_core.errors import ModelError
from bertviz_core.inputs.encoding import collate
from bertviz_core.inputs.segments import Segments
from bertviz_core.models import checkpoint, loading, verification
from bertviz_core.models.attention import forward, observed_attention
from bertviz_core.settings import Settings
from tests.support.architectures import ARCHITECTURES, INSIDE, REFUSED, RETURNED, library_model, save
from tests.support.families import TEXT

QUICK = ("llama", "gemma2", "gpt_oss", "t5", "stablelm", "deepseek_v3", "convbert", "yoso")
SOURCE = "\n".join([*TEXT, "", "the dog slept ."])


def load(folder: Path):
    return loading.load(checkpoint.find_checkpoint(str(folder)), "cpu")


def read(folder: Path, source) -> str:
    """How maps are read; those of a padded batch are compared with what the library returns for each input alone."""
    try:
        model = load(folder)
    except ModelError as refused:
        assert refused.hint
        print(refused)  # why a family is refused that should not be
        return REFUSED
    eager = library_model(folder, type(model.encoder))
    examples = list(Segments(source(SOURCE), model.tokens, Settings(max_length=40)))
    batch = collate(examples, model.tokens, "cpu")
    assert not batch.mask.all()
    layers = []
    forward(model, batch, layers.append)
    for row, example in enumerate(examples):
        with torch.inference_mode():
            inputs = model.inputs(collate([example], model.tokens, "cpu"))
            own = torch.stack([maps for maps in eager(**inputs, output_attentions=True).attentions if maps is not None])
        n = len(example)
        ours = torch.stack([layer.weights[row, :, :n] for layer in layers])
        torch.testing.assert_close(ours[..., :n], own[:, 0], atol=1e-5, rtol=0)
        assert not ours[..., n:].any()
    return INSIDE if model.observable else RETURNED


@pytest.mark.parametrize(
    "model_type", [name if name in QUICK else pytest.param(name, marks=pytest.mark.slow) for name in ARCHITECTURES]
)
def test_maps_of_a_family_are_its_own(model_type, tmp_path, source):
    assert read(save(model_type, tmp_path), source) == ARCHITECTURES[model_type].way


def test_the_documentation_has_the_same_table():
    text = (Path(__file__).parents[2] / "docs" / "models.md").read_text(encoding="utf-8")
    rows = [f"| {row.name} | {row.way} | {row.note} |" for row in ARCHITECTURES.values()]
    assert [row for row in rows if row not in text] == [], "write these rows into docs/models.md, in this order"
    table = "\n".join(["| Family | Maps are | |", "| --- | --- | --- |", *rows])
    assert table in text, "its rows are in another order there, or others are between them"


def test_weights_that_are_no_numbers_are_refused(nan_folder):
    with pytest.raises(ModelError, match="cannot be used: weights are not finite numbers"):
        load(nan_folder)


def test_an_attention_that_differs_is_replaced_by_returned_maps(folder, monkeypatch):
    """As it would be for a family whose own attention does what ours does not know."""
    from bertviz_core.models import attention

    def wrong(*args, scaling=None, **kwargs):
        return observed_attention(*args, scaling=(scaling or 1) * 1.01, **kwargs)

    monkeypatch.setattr(attention, "observed_attention", wrong)
    model = load(folder)
    assert not model.observable and (model.layers, model.heads) == (2, 2)
    monkeypatch.undo()
    attention.register()


def test_padding_that_changes_rounding_alone_is_decided_in_float64(folder, monkeypatch):
    model, exact = load(folder), verification._moved
    changes = {torch.float32: 2e-5, torch.float64: 0.0}
    monkeypatch.setattr(verification, "_moved", lambda model, *_: changes[model.encoder.dtype])
    assert verification.verify(model).observable and model.encoder.dtype == torch.float32
    changes[torch.float64] = 2e-5
    with pytest.raises(ModelError, match="change by up to 2e-05 when an input is padded"):
        verification.verify(model)
    monkeypatch.setattr(verification, "_moved", exact)
    assert verification.verify(model).observable


def test_an_unknown_argument_is_no_argument_unless_it_is_none():
    query = torch.randn(1, 1, 3, 4)
    observed_attention(None, query, query, query, None, sliding_window=3, use_cache=False, indices=None)
    with pytest.raises(TypeError, match="attention with indices is not known"):
        observed_attention(None, query, query, query, None, indices=query)


def batch_of(model, source):
    text = "A river runs through the old town.\nIt turns the mills.\n\nOne short line.\n"
    return collate(list(Segments(source(text), model.tokens, Settings(max_length=32))), model.tokens, "cpu")


def test_a_bfloat16_model_keeps_its_weights_and_its_softmax_is_float32(source):
    model, layers = loading.load(checkpoint.find_checkpoint("demo"), "cpu", "bfloat16"), []
    assert model.observable and {weight.dtype for weight in model.encoder.parameters()} == {torch.bfloat16}
    forward(model, batch_of(model, source), layers.append)
    for layer in layers:
        assert layer.weights.dtype == layer.logits.dtype == torch.float32
        sums = layer.weights.sum(-1)
        assert torch.allclose(sums, torch.ones_like(sums), atol=1e-5)


def test_a_capture_that_did_not_run_is_an_error_not_silence(demo, source):
    """Some families ignore the registered function; nothing may then pass for a result."""
    silent = SimpleNamespace(encoder=lambda **_: None, observable=True, layers=2, causal=False, inputs=lambda _: {})
    with pytest.raises(RuntimeError, match="0 layers were captured in a model of 2"):
        forward(silent, batch_of(demo, source), lambda attention: None)
