"""What heads, MLPs, embeddings and biases add to a logit sums to it, in every family of decoders."""

import pytest
import torch

from bertviz_core.errors import ModelError
from bertviz_core.inputs.encoding import collate
from bertviz_core.inputs.segments import Segments
from bertviz_core.models import checkpoint, loading
from bertviz_core.models.families import ADDITIVE, is_additive
from bertviz_core.models.residual_modules import with_residual
from bertviz_core.settings import Settings
from tests.support import families
from tests.support.architectures import ARCHITECTURES, LAYERS, Architecture, family_of
from tests.support.families import TEXT

QUICK = ("gpt2", "llama", "gemma2", "cohere2", "falcon")
DECODERS = [name for name in ARCHITECTURES if name in ADDITIVE]


def decoder(model_type, folder, **own):
    """A small random decoder whose gains and biases are not 1 and 0, loaded with its unembedding."""
    import safetensors.torch

    family = family_of(model_type)
    family.sizes.update(own)
    families.save(family, folder, auto="AutoModelForCausalLM", spread=0.2)
    path = folder / "model.safetensors"
    weights = safetensors.torch.load_file(path)
    for name, weight in weights.items():
        if weight.dim() == 1 and weight.is_floating_point() and "router" not in name:
            weights[name] = weight + 0.3 * torch.randn(weight.shape, generator=torch.Generator().manual_seed(len(name)))
    safetensors.torch.save_file(weights, path, {"format": "pt"})
    return loading.load(checkpoint.find_checkpoint(str(folder)), "cpu", language_model=True)


def test_every_family_of_decoders_is_tested():
    assert set(DECODERS) == set(ADDITIVE)


@pytest.mark.parametrize(
    "model_type", [name if name in QUICK else pytest.param(name, marks=pytest.mark.slow) for name in DECODERS]
)
def test_parts_sum_to_the_logits_of_the_library(model_type, tmp_path, source):
    from transformers import AutoModelForCausalLM

    model = with_residual(decoder(model_type, tmp_path))
    residual = model.residual
    eager = AutoModelForCausalLM.from_pretrained(tmp_path, attn_implementation="eager", dtype="float32").eval()
    examples = list(Segments(source("\n\n".join(TEXT[:2])), model.tokens, Settings(max_length=20)))
    batch = collate(examples, model.tokens, "cpu")
    rows, positions = batch.mask.nonzero(as_tuple=True)
    ids = torch.randint(len(model.tokens.tokenizer), rows.shape, generator=torch.Generator().manual_seed(1))
    with torch.inference_mode(), residual.recorded(mlps=True) as written:
        model.encoder(**model.inputs(batch))
    with torch.inference_mode():
        parts = residual.parts(written, (rows, positions), ids)
        logits = torch.cat([eager(torch.from_numpy(each.ids)[None]).logits[0] for each in examples])
    if residual.cap:
        logits = (logits / residual.cap).atanh() * residual.cap
    expected = logits[torch.arange(len(ids)), ids] - logits.mean(-1)
    for found in (parts.total(), parts.logits):
        torch.testing.assert_close(found, expected, atol=1e-4 * float(expected.abs().max()), rtol=0)
    assert parts.heads.abs().max() > 0.01 and parts.mlps.abs().max() > 0.01
    with torch.inference_mode():
        heads, _ = residual.head_parts(written, (rows, positions), ids)
    assert torch.equal(heads, parts.heads)


def test_a_token_without_an_embedding_adds_nothing(tmp_path, source):
    """As BOS has in a network that was never trained, whose row for padding is 0: no output of the last norm tells its
    scale, which follows from its epsilon."""
    from transformers import AutoModelForCausalLM

    decoder("llama", tmp_path)
    eager = AutoModelForCausalLM.from_pretrained(tmp_path)
    first = loading.load_tokens(checkpoint.find_checkpoint(str(tmp_path))).encode("the")[0]
    with torch.no_grad():
        eager.model.embed_tokens.weight[first] = 0
    eager.save_pretrained(tmp_path)
    model = with_residual(loading.load(checkpoint.find_checkpoint(str(tmp_path)), "cpu", language_model=True))
    (example,) = Segments(source("the cat"), model.tokens, Settings(max_length=20))
    batch = collate([example], model.tokens, "cpu")
    place = example.ids.tolist().index(first)
    with torch.inference_mode(), model.residual.recorded(mlps=True) as written:
        model.encoder(**model.inputs(batch))
    with torch.inference_mode():
        at = (torch.tensor([0]), torch.tensor([place]))
        parts = model.residual.parts(written, at, torch.tensor([7]))
        norm = model.residual.final
        before = norm.before(torch.ones(1, len(norm.gain)), torch.zeros(1, len(norm.gain)), norm.bias[None])
    assert torch.isfinite(parts.total()).all() and torch.allclose(parts.total(), parts.logits, atol=1e-4)
    torch.testing.assert_close(before, norm.gain[None] * norm.module.variance_epsilon**-0.5)


def test_what_is_no_such_sum_is_refused_with_the_reason(tmp_path):
    model = decoder("opt", tmp_path, do_layer_norm_before=False)
    assert not is_additive(model.checkpoint.config)
    with pytest.raises(ModelError, match="are no sum of what its heads and MLPs write"):
        with_residual(model)


def test_several_streams_are_refused_in_a_sentence(tmp_path, monkeypatch):
    """Gemma 3n's layers get several versions of the stream and mix them."""
    monkeypatch.setitem(ARCHITECTURES, "gemma3n_text", Architecture("Gemma 3n"))
    streams = {"altup_num_inputs": 2, "laurel_rank": 4, "hidden_size_per_layer_input": 8, "num_kv_shared_layers": 0}
    per_layer = {"vocab_size_per_layer_input": 500, "activation_sparsity_pattern": [0.0] * LAYERS}
    model = decoder("gemma3n_text", tmp_path, **streams, **per_layer)
    with pytest.raises(ModelError, match="are no sum of what its heads and MLPs write") as refusal:
        with_residual(model)
    assert str(refusal.value).count(". ") == 1, "a sentence, and what to do"


def test_a_cap_is_known_and_parts_are_those_before_it(tmp_path):
    model = with_residual(decoder("gemma2", tmp_path, final_logit_softcapping=3.0))
    assert model.residual.cap == 3.0 and model.residual.scale == 1.0


def test_a_part_that_is_not_counted_is_refused_with_how_far_the_sum_is_off(tmp_path):
    model = decoder("llama", tmp_path)
    model.encoder.layers[1].register_forward_hook(lambda _m, _a, output: output * 1.01)
    with pytest.raises(ModelError, match=r"their sum is off by up to \d"):
        with_residual(model)


def test_layers_of_another_build_are_refused_too(tmp_path):
    model = decoder("llama", tmp_path)
    model.encoder.layers[2].mlp.register_forward_hook(lambda _m, _a, output: [output])
    with pytest.raises(ModelError, match="its layers are built in a way of their own"):
        with_residual(model)


def test_an_encoder_has_none(masked):
    with pytest.raises(ModelError, match="no sum of what its heads and MLPs write"):
        with_residual(masked)
