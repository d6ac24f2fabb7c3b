from concurrent.futures import ThreadPoolExecutor

import pytest
import torch
from safetensors.torch import load_file, save_file
from transformers import AutoModel, BertForMaskedLM
from transformers.activations import NewGELUActivation

from bertviz_core.analyses.base.request import Request
from bertviz_core.analyses.run.compute import compute
from bertviz_core.corpora.source import from_bytes
from bertviz_core.errors import ModelError
from bertviz_core.inputs.encoding import collate
from bertviz_core.inputs.segments import Segments
from bertviz_core.models import checkpoint, loading
from bertviz_core.models.attention import forward
from bertviz_core.settings import Settings
from tests.support import families

TEXT = "\n".join([*families.TEXT, "", "the dog slept ."]).encode()
SETTINGS = Settings(max_length=40)


@pytest.mark.parametrize("name", families.FAMILIES)
def test_what_loading_finds_and_that_every_position_up_to_the_limit_can_be_used(name, tmp_path):
    family = families.FAMILIES[name]
    model = loading.load(checkpoint.find_checkpoint(str(families.save(family, tmp_path))), "cpu")
    for found in (model, model.checkpoint):
        assert (found.layers, found.heads) == (family.layers, family.heads)
    assert (model.observable, model.causal, model.has_types) == (family.observable, family.causal, family.types)
    assert model.checkpoint.max_length in (64, None)
    longest = model.checkpoint.max_length or 100
    source = from_bytes(b"the cat " * longest, "x")
    example = next(iter(Segments(source, model.tokens, Settings(max_length=longest))))
    assert len(example) == longest
    layers = []
    forward(model, collate([example], model.tokens, "cpu"), layers.append)
    assert len(layers) == model.layers


def test_a_model_without_special_tokens_lacks_their_quantities(tmp_path):
    folder = families.save(families.FAMILIES["gpt2"], tmp_path)
    model = loading.load(checkpoint.find_checkpoint(str(folder)), "cpu")
    request = Request("surface_patterns", model.checkpoint, from_bytes(TEXT, "x.txt"), SETTINGS)
    assert compute(request, None, model=model).present == ["current", "previous", "to_punct", "to_first"]
    assert compute(request.for_analysis("entropy"), None, model=model).present == ["entropy", "max_weight", "uniform"]


def test_with_pytorchs_own_gelu_the_maps_are_those_of_transformers(tmp_path):
    folder = families.save(families.FAMILIES["gpt2"], tmp_path)
    model = loading.load(checkpoint.find_checkpoint(str(folder)), "cpu")
    original = AutoModel.from_pretrained(folder, attn_implementation="eager").eval()
    written_out = [
        any(isinstance(part, NewGELUActivation) for part in each.modules()) for each in (original, model.encoder)
    ]
    assert written_out == [True, False]
    example = next(iter(Segments(from_bytes(TEXT, "x.txt"), model.tokens, SETTINGS)))
    layers = []
    forward(model, collate([example], model.tokens, "cpu"), layers.append)
    with torch.inference_mode():
        expected = original(torch.from_numpy(example.ids)[None], output_attentions=True).attentions
    for layer, maps in zip(layers, expected, strict=True):
        torch.testing.assert_close(layer.weights, maps, rtol=0, atol=1e-5)


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("config.json", b'{"model_type": "nothing-known", "n_layer": 2, "n_head": 2}'),
        ("tokenizer.json", b"{}"),
    ],
)
def test_what_cannot_be_loaded_is_refused(folder, name, content):
    (folder / name).write_bytes(content)
    with pytest.raises(ModelError, match=r"cannot be (loaded|used)"):
        loading.load(checkpoint.find_checkpoint(str(folder)), "cpu")


def test_weights_that_are_missing_are_refused_not_drawn_at_random_but_for_a_pooler(folder, tiny):
    BertForMaskedLM.from_pretrained(folder).save_pretrained(folder)
    model = loading.load(checkpoint.find_checkpoint(str(folder)), "cpu")
    for name, weight in model.encoder.named_parameters():
        if not name.startswith("pooler."):
            assert torch.equal(weight, tiny.encoder.get_parameter(name))
    weights = load_file(folder / "model.safetensors")
    del weights["bert.encoder.layer.1.attention.self.query.weight"]
    save_file(weights, folder / "model.safetensors", {"format": "pt"})
    with pytest.raises(ModelError, match=r"not in the files, encoder.layer.1"):
        loading.load(checkpoint.find_checkpoint(str(folder)), "cpu")


def test_a_tokenizer_of_another_model_is_refused(folder):
    """Its ids would fall outside the embeddings somewhere in the middle of a corpus."""
    families.roberta_bpe().save_pretrained(folder)
    with pytest.raises(ModelError, match="names 320 tokens, its model knows"):
        loading.load(checkpoint.find_checkpoint(str(folder)), "cpu")


def test_models_that_are_loaded_at_once_leave_transformers_as_it_was(masked_folder):
    masked = checkpoint.find_checkpoint(str(masked_folder))
    with ThreadPoolExecutor(4) as pool:
        each = [pool.submit(loading.load, masked, "cpu", language_model=True) for _ in range(24)]
    assert all(load.result().language_model for load in each)
    assert loading.load(masked, "cpu", language_model=True).language_model
