"""Norms equal those of vectors that are all built, in every known family; padding and company change nothing."""

import math
from dataclasses import fields, replace

import numpy as np
import pytest
import torch
from transformers import AutoModel

from bertviz_core.analyses.model_pass import check_model
from bertviz_core.analyses.provenance import origin
from bertviz_core.analyses.registry import ANALYSES
from bertviz_core.analyses.request import Request
from bertviz_core.analyses.requests import compute
from bertviz_core.analyses.surface_patterns.columns import NORM_QUANTITIES, QUANTITIES
from bertviz_core.analyses.surface_patterns.measure import _spearman, measure_with_lengths
from bertviz_core.corpora.files import SAMPLES, sample
from bertviz_core.errors import ModelError
from bertviz_core.models import checkpoint, loading
from bertviz_core.models.attention import forward
from bertviz_core.models.encoding import collate
from bertviz_core.models.model import OUTPUTS, norm_logits, observing
from bertviz_core.models.segments import Segments
from bertviz_core.settings import Settings
from tests.families import FAMILIES, save
from tests.oracles import norms as oracle
from tests.oracles import reference
from tests.predicting import DECODERS

TEXT = "the cat sat on the mat .\nthe dog slept .\n\na river .\n"
KNOWN = ("bert", "roberta", "electra", "distilbert")
VALUES = {"distilbert": ("transformer.layer.{}.attention.v_lin", "transformer.layer.{}.attention.out_lin")}
BERT = ("encoder.layer.{}.attention.self.value", "encoder.layer.{}.attention.output.dense")


@pytest.fixture(scope="module", params=KNOWN)
def folder(request, tmp_path_factory):
    return save(FAMILIES[request.param], tmp_path_factory.mktemp(request.param))


@pytest.fixture(scope="module")
def model(folder):
    return loading.load(checkpoint.find(str(folder)), "cpu")


@pytest.fixture
def batch(model, source):
    return collate(list(Segments(source(TEXT), model.tokens, Settings(max_length=24))), model.tokens, "cpu")


def capture(model, batch):
    layers = []
    forward(model, batch, layers.append)
    return layers


def test_every_vector_built_gives_the_same(model, folder, batch):
    """N and |f(x_j)| by loops from the library's own maps and layer inputs, to 1e-5; and these vectors, weighted and
    summed, with the bias, are the output of the attention block."""
    from transformers import AutoModel

    assert len(batch.examples) == 2 and not batch.mask.all()
    layers = capture(observing(model, "norms"), batch)
    eager = AutoModel.from_pretrained(folder, attn_implementation="eager").eval()
    names = VALUES.get(eager.config.model_type, BERT)
    for row, example in enumerate(batch.examples):
        alone = collate([example], model.tokens, "cpu")
        for seen in layers:
            value, output = (eager.get_submodule(name.format(seen.layer)) for name in names)
            blocks = []
            hook = output.register_forward_hook(lambda _m, _i, out, blocks=blocks: blocks.append(out[0]))
            with torch.inference_mode():
                whole = eager(**alone.inputs(model), output_attentions=True, output_hidden_states=True)
            hook.remove()
            states, maps = (t[seen.layer][0].tolist() for t in (whole.hidden_states, whole.attentions))
            vectors = oracle.passed_on(
                states, value.weight.tolist(), value.bias.tolist(), output.weight.tolist(), model.heads
            )
            built = oracle.block_output(maps, vectors, output.bias.tolist())
            np.testing.assert_allclose(built, blocks[0].numpy(), atol=1e-4)
            n = len(example)
            for head in range(model.heads):
                expected = oracle.shares(maps[head], vectors[head])
                np.testing.assert_allclose(seen.weights[row, head, :n, :n].numpy(), expected, atol=1e-5)
                lengths = [oracle.length(vector) for vector in vectors[head]]
                np.testing.assert_allclose(seen.vector_norms[row, head, :n].numpy(), lengths, rtol=1e-5)


LIKE_LLAMA = {  # class of the configuration -> its sizes besides those of Llama
    "LlamaConfig": {},
    "MistralConfig": {},
    "MixtralConfig": {"num_local_experts": 2},
    "Qwen2Config": {"vocab_size": 328},  # its tokenizer adds a token
    "Qwen3Config": {},
    "SmolLM3Config": {"pad_token_id": 2},
}


def values_of_llama(eager, layer):
    """(weight, bias) of the values of each query head, the module that takes the layer's input, the output's weight."""
    attention = eager.layers[layer].self_attn
    value = attention.v_proj
    weight = value.weight.unflatten(0, (2, -1)).repeat_interleave(2, 0).flatten(0, 1)
    bias = torch.zeros(len(value.weight)) if value.bias is None else value.bias
    return weight, bias.view(2, -1).repeat_interleave(2, 0).flatten(), value, attention.o_proj.weight


def values_of_gpt2(eager, layer):
    """The same of GPT-2, whose matrices are transposed and whose queries, keys and values are one matrix."""
    attention = eager.h[layer].attn
    width = attention.c_proj.weight.shape[0]
    joint = attention.c_attn
    return joint.weight[:, 2 * width :].T, joint.bias[2 * width :], joint, attention.c_proj.weight.T


def save_decoder(shape, folder):
    """A model of the family with biases, which are 0 in a new one."""
    llama = DECODERS["llama"]
    like_llama = replace(llama, config=shape, sizes=llama.sizes | LIKE_LLAMA.get(shape, {}))
    model = AutoModel.from_pretrained(save(like_llama if shape in LIKE_LLAMA else DECODERS["gpt2"], folder))
    for name, parameter in model.named_parameters():
        if name.endswith("bias"):
            torch.nn.init.normal_(parameter, std=0.5)
    model.save_pretrained(folder)
    return folder


@pytest.mark.parametrize("shape", [*LIKE_LLAMA, "GPT2Config"])
def test_every_vector_of_a_decoder_built_gives_the_same(shape, tmp_path, source):
    """By loops from the normalized input of the values; four query heads of Llama's kind share two value heads."""
    folder = save_decoder(shape, tmp_path)
    model = loading.load(checkpoint.find(str(folder)), "cpu")
    batch = collate(list(Segments(source(TEXT), model.tokens, Settings(max_length=24))), model.tokens, "cpu")
    eager = AutoModel.from_pretrained(folder, attn_implementation="eager").eval()
    values_of = values_of_llama if shape in LIKE_LLAMA else values_of_gpt2
    for seen in capture(observing(model, "norms"), batch):
        weight, bias, module, output = values_of(eager, seen.layer)
        states = []
        hook = module.register_forward_hook(lambda _m, inputs, _o, states=states: states.append(inputs[0]))
        for row, example in enumerate(batch.examples):
            with torch.inference_mode():
                alone = collate([example], model.tokens, "cpu")
                maps = eager(**alone.inputs(model), output_attentions=True).attentions[seen.layer][0].tolist()
            vectors = oracle.passed_on(
                states[row][0].tolist(), weight.tolist(), bias.tolist(), output.tolist(), model.heads
            )
            n = len(example)
            for head in range(model.heads):
                expected = oracle.shares([each[: i + 1] + [0.0] * (n - i - 1) for i, each in enumerate(maps[head])],
                                         vectors[head])  # fmt: skip
                np.testing.assert_allclose(seen.weights[row, head, :n, :n].numpy(), expected, atol=1e-5)
        hook.remove()


def test_lengths_and_their_correlation_with_the_weights_received(model, batch):
    lists = {
        "cls": [model.tokens.cls],
        "sep": [model.tokens.sep],
        "punct": list(model.tokens.punctuation),
    }
    quantities = QUANTITIES + NORM_QUANTITIES
    for layer in capture(observing(model, "norms"), batch):
        values = measure_with_lengths(batch, layer)
        for row, example in enumerate(batch.examples):
            n = len(example)
            kinds = [next((k for k, ids in lists.items() if i in ids), "other") for i in example.ids.tolist()]
            for head in range(model.heads):
                weights, lengths = layer.attention[row, head, :n, :n].tolist(), layer.vector_norms[row, head, :n]
                expected = reference.surface_patterns(layer.weights[row, head, :n, :n].tolist(), kinds)
                expected |= oracle.surface(weights, lengths.tolist(), kinds)
                found = dict(zip(quantities, values[row, head].tolist(), strict=True))
                assert found == pytest.approx(expected, abs=1e-5, nan_ok=True)


def test_equal_lengths_share_a_rank_and_no_spread_has_no_correlation():
    mask = torch.tensor([[True, True, True, True, False]])
    lengths = torch.tensor([[[1.0, 2.0, 2.0, 3.0, 0.5]]])
    received = torch.tensor([[[0.1, 0.4, 0.2, 0.2, 0.9]]])
    expected = oracle.spearman([1.0, 2.0, 2.0, 3.0], [0.1, 0.4, 0.2, 0.2])
    assert _spearman(lengths, received, mask).item() == pytest.approx(expected)
    assert _spearman(torch.ones(1, 1, 5), received, mask).isnan().all()


@pytest.mark.parametrize("name", ["surface_patterns", "entropy", "clustering", "dependency_heads", "coreference_heads"])
def test_every_analysis_of_maps_reads_them(name, tiny):
    """Each gives other numbers than from attention weights, and says so in its provenance and exports."""
    kind = ANALYSES[name].corpus
    corpus, limit = sample(next(iter(SAMPLES[kind]))), Settings(limit=2, max_length=64)
    plain, norms = (
        compute(Request(name, tiny.checkpoint, corpus, replace(limit, weights=weights)), None, model=tiny)
        for weights in ("attention", "norms")
    )
    assert plain.to_bytes() != norms.to_bytes()
    assert any(not np.array_equal(a, b) for a, b in zip(arrays(plain), arrays(norms), strict=False))
    assert (origin(plain.provenance)["weights"], origin(norms.provenance)["weights"]) == ("attention", "norms")


def arrays(result):
    return [getattr(result, f.name) for f in fields(result) if isinstance(getattr(result, f.name), np.ndarray)]


def test_rows_sum_to_one_padding_holds_nothing_and_the_weights_stand_beside(model, batch):
    for norms, plain in zip(capture(observing(model, "norms"), batch), capture(model, batch), strict=True):
        sums = norms.weights.sum(-1)[batch.mask[:, None].expand(-1, model.heads, -1)]
        assert torch.allclose(sums, torch.ones_like(sums), atol=1e-6)
        assert (norms.weights.movedim(-1, 1)[~batch.mask] == 0).all()
        assert torch.equal(norms.attention, plain.weights)
        assert torch.equal(norms.logits.softmax(-1), norms.weights)
        assert plain.vector_norms is None and plain.attention is None


def test_vectors_of_length_zero_receive_nothing_and_all_zero_leaves_the_weights(model, batch):
    logits = torch.tensor([[[[0.0, 1.0, 2.0]]]])
    lengths = torch.tensor([[[1.0, 0.0, 1.0]]])
    expected = torch.tensor([1, 0, math.e**2]) / (1 + math.e**2)
    assert torch.allclose(norm_logits(logits, lengths).softmax(-1)[0, 0, 0], expected)
    nothing = observing(model, "norms")
    nothing.factors = tuple(torch.zeros_like(factor) for factor in nothing.factors)
    assert all(torch.allclose(layer.weights, layer.attention) for layer in capture(nothing, batch))


@pytest.mark.parametrize("name", ["xlnet", "albert"])
def test_other_families_are_refused_by_name_before_anything_runs(name, tmp_path, source):
    other = checkpoint.find(str(save(FAMILIES[name], tmp_path)))
    with pytest.raises(ModelError, match=f"'{name}'.*") as refused:
        check_model(Request("entropy", other, source(TEXT), Settings(weights="norms")))
    assert all(family in str(refused.value) for family in OUTPUTS)
    check_model(Request("entropy", other, source(TEXT)))


def test_the_choice_is_part_of_the_key_but_not_where_no_map_is_read(tiny, source):
    plain, norms = Settings(), Settings(weights="norms")
    keys = {Request("entropy", tiny.checkpoint, source(TEXT), each).key() for each in (plain, norms)}
    assert len(keys) == 2
    assert "weights" not in plain.to_json() and norms.to_json()["weights"] == "norms"
    assert ANALYSES["sep_gradients"].relevant(norms) == plain
    assert ANALYSES["entropy"].relevant(norms) == norms
