"""Norms equal those of vectors that are all built, in every known family; padding and company change nothing."""

import math
from dataclasses import fields, replace
from pathlib import Path

import numpy as np
import pytest
import torch
from transformers import AutoModel

from bertviz_core.analyses.base.registry import ANALYSES
from bertviz_core.analyses.base.request import Request
from bertviz_core.analyses.base.result import origin
from bertviz_core.analyses.run.compute import compute
from bertviz_core.analyses.run.run_pass import check_model
from bertviz_core.analyses.surface_patterns.measure import _spearman, measure_with_lengths
from bertviz_core.analyses.surface_patterns.result import NORM_QUANTITIES, QUANTITIES
from bertviz_core.corpora.files import SAMPLES, sample
from bertviz_core.errors import ModelError
from bertviz_core.inputs.encoding import collate
from bertviz_core.inputs.segments import Segments
from bertviz_core.models import checkpoint, loading
from bertviz_core.models.attention import forward
from bertviz_core.models.families import LAYER_NAMES
from bertviz_core.models.model import norm_logits, with_weights
from bertviz_core.settings import Settings
from tests.oracles import norms as oracle
from tests.oracles import reference
from tests.support.families import FAMILIES, save

TEXT = "the cat sat on the mat .\nthe dog slept .\n\na river .\n"
KNOWN = ("bert", "roberta", "electra", "distilbert")
LIKE_LLAMA = {  # class of the configuration -> its sizes besides those of Llama
    "LlamaConfig": {},
    "MistralConfig": {},
    "MixtralConfig": {"num_local_experts": 2},
    "Qwen2Config": {"vocab_size": 328},  # its tokenizer adds a token
    "Qwen3Config": {},
    "SmolLM3Config": {"pad_token_id": 2},
}


def opened(folder, source):
    """The model, and the batch of the text."""
    model = loading.load(checkpoint.find_checkpoint(str(folder)), "cpu")
    return model, collate(list(Segments(source(TEXT), model.tokens, Settings(max_length=24))), model.tokens, "cpu")


@pytest.fixture(scope="module", params=KNOWN)
def known(request, tmp_path_factory, source):
    return opened(save(FAMILIES[request.param], tmp_path_factory.mktemp(request.param)), source)


def capture(model, batch):
    layers = []
    forward(model, batch, layers.append)
    return layers


def saved(shape: str, folder: Path) -> Path:
    """A model of the family with biases, which are 0 in a new one."""
    llama = FAMILIES["llama"]
    family = FAMILIES.get(shape) or replace(llama, config=shape, sizes=llama.sizes | LIKE_LLAMA[shape])
    model = AutoModel.from_pretrained(save(family, folder))
    for name, parameter in model.named_parameters():
        if name.endswith("bias"):
            torch.nn.init.normal_(parameter, std=0.5)
    model.save_pretrained(folder)
    return folder


def matrices_of(eager, layer, heads):
    """(weight, bias) of the values of each query head, their module, the weight of the output, and its module."""
    if eager.config.model_type == "gpt2":  # matrices are transposed, and queries, keys and values are one matrix
        joint, output = eager.h[layer].attn.c_attn, eager.h[layer].attn.c_proj
        width = output.weight.shape[0]
        return joint.weight[:, 2 * width :].T, joint.bias[2 * width :], joint, output.weight.T, output
    if eager.config.model_type == "distilbert":
        attention = eager.transformer.layer[layer].attention
        value, output = attention.v_lin, attention.out_lin
    elif hasattr(eager, "encoder"):
        attention = eager.encoder.layer[layer].attention
        value, output = attention.self.value, attention.output.dense
    else:
        value, output = eager.layers[layer].self_attn.v_proj, eager.layers[layer].self_attn.o_proj
    shared = output.in_features // value.out_features  # query heads that share a value head

    def of_query_heads(values):
        return values.unflatten(0, (heads // shared, -1)).repeat_interleave(shared, 0).flatten(0, 1)

    bias = torch.zeros(value.out_features) if value.bias is None else value.bias
    return of_query_heads(value.weight), of_query_heads(bias), value, output.weight, output


@pytest.mark.parametrize("shape", [*KNOWN, *LIKE_LLAMA, "gpt2"])
def test_every_vector_built_gives_the_same(shape, tmp_path, source):
    """N and |f(x_j)| by loops from the library's own maps and the inputs of the values, to 1e-5; and these vectors,
    weighted and summed, with the bias, are the output of the attention block."""
    folder = saved(shape, tmp_path)
    model, batch = opened(folder, source)
    assert len(batch.examples) == 2 and not batch.mask.all()
    eager = AutoModel.from_pretrained(folder, attn_implementation="eager").eval()
    for seen in capture(with_weights(model, "norms"), batch):
        weight, bias, value, output_weight, output = matrices_of(eager, seen.layer, model.heads)
        states, blocks = [], []
        value.register_forward_hook(lambda _m, inputs, _o, states=states: states.append(inputs[0]))
        output.register_forward_hook(lambda _m, _i, out, blocks=blocks: blocks.append(out))
        for row, example in enumerate(batch.examples):
            with torch.inference_mode():
                alone = collate([example], model.tokens, "cpu")
                maps = eager(**model.inputs(alone), output_attentions=True).attentions[seen.layer][0].tolist()
            vectors = oracle.passed_on(
                states[row][0].tolist(), weight.tolist(), bias.tolist(), output_weight.tolist(), model.heads
            )
            output_bias = [0.0] * len(output_weight) if output.bias is None else output.bias.tolist()
            built = oracle.block_output(maps, vectors, output_bias)
            np.testing.assert_allclose(built, blocks[row][0].numpy(), atol=1e-4)
            n = len(example)
            for head in range(model.heads):
                expected = oracle.shares(maps[head], vectors[head])
                np.testing.assert_allclose(seen.weights[row, head, :n, :n].numpy(), expected, atol=1e-5)
                lengths = [oracle.length(vector) for vector in vectors[head]]
                np.testing.assert_allclose(seen.vector_norms[row, head, :n].numpy(), lengths, rtol=1e-5)


def test_lengths_and_their_correlation_with_the_weights_received(known):
    model, batch = known
    lists = {"cls": [model.tokens.cls], "sep": [model.tokens.sep], "punct": list(model.tokens.punctuation)}
    quantities = QUANTITIES + NORM_QUANTITIES
    for layer in capture(with_weights(model, "norms"), batch):
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


def test_vectors_of_length_zero_receive_nothing_and_all_zero_leaves_the_weights(known):
    model, batch = known
    logits = torch.tensor([[[[0.0, 1.0, 2.0]]]])
    lengths = torch.tensor([[[1.0, 0.0, 1.0]]])
    expected = torch.tensor([1, 0, math.e**2]) / (1 + math.e**2)
    assert torch.allclose(norm_logits(logits, lengths).softmax(-1)[0, 0, 0], expected)
    nothing = with_weights(model, "norms")
    nothing.factors = tuple(torch.zeros_like(factor) for factor in nothing.factors)
    assert all(torch.allclose(layer.weights, layer.attention) for layer in capture(nothing, batch))


@pytest.mark.parametrize("name", ["xlnet", "albert"])
def test_other_families_are_refused_by_name_before_anything_runs(name, tmp_path, source):
    other = checkpoint.find_checkpoint(str(save(FAMILIES[name], tmp_path)))
    with pytest.raises(ModelError, match=f"'{name}'.*") as refused:
        check_model(Request("entropy", other, source(TEXT), Settings(weights="norms")))
    assert all(family in str(refused.value) for family in LAYER_NAMES)
    check_model(Request("entropy", other, source(TEXT)))


def test_the_choice_is_part_of_the_key_but_not_where_no_map_is_read(tiny, source):
    plain, norms = Settings(), Settings(weights="norms")
    keys = {Request("entropy", tiny.checkpoint, source(TEXT), each).key() for each in (plain, norms)}
    assert len(keys) == 2
    assert plain.to_json()["weights"] == "attention" and norms.to_json()["weights"] == "norms"
    assert ANALYSES["sep_gradients"].relevant(norms) == plain
    assert ANALYSES["entropy"].relevant(norms) == norms


def test_maps_that_the_model_returns_have_no_norms(tiny):
    with pytest.raises(ModelError, match="its maps are read as it returns them"):
        with_weights(replace(tiny, observable=False), "norms")
