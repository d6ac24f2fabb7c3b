"""What heads read and write, from their weights alone."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
import transformers

from bertviz_core.analyses.base.registry import ANALYSES
from bertviz_core.analyses.base.request import Request
from bertviz_core.analyses.run.compute import compute
from bertviz_core.analyses.weights.measure import HeadWords
from bertviz_core.analyses.weights.result import HeadWeights, pairs
from bertviz_core.corpora.files import sample
from bertviz_core.engine.store import Store
from bertviz_core.errors import ModelError
from bertviz_core.heads import Head
from bertviz_core.inputs import encoded_corpus
from bertviz_core.inputs.labels import token_labels
from bertviz_core.inputs.segments import VocabularySample
from bertviz_core.inputs.tokens import Tokens
from bertviz_core.models import checkpoint, head_weights, loading
from bertviz_core.models.families import WEIGHT_NAMES
from bertviz_core.settings import Execution, Settings
from tests.oracles import weights as oracle
from tests.support import architectures, families, predicting

SETTINGS = Settings(max_length=30, limit=25, seed=3)
WIDTH = 16
WEIGHTS: Any = ANALYSES["weights"]


def computed(folder: Path, settings: Settings = SETTINGS) -> HeadWeights:
    request = Request("weights", checkpoint.find_checkpoint(str(folder)), sample("vocabulary"), settings)
    result = compute(request, None, Execution("cpu"))
    assert isinstance(result, HeadWeights)
    return result


def direction(number: int) -> torch.Tensor:
    """u_n = (e_2n - e_2n+1) / sqrt(2): orthonormal, and of mean 0, so that no norm takes anything of them away."""
    vector = torch.zeros(WIDTH)
    vector[2 * number], vector[2 * number + 1] = 0.5**0.5, -(0.5**0.5)
    return vector


def wired(folder: Path) -> Path:
    """Two layers of two heads and no MLP, wired as `test_worked_example` says; words are the directions, over again."""
    families.save(families.FAMILIES["gpt2"], folder, auto="AutoModelForCausalLM")
    model = transformers.GPT2LMHeadModel.from_pretrained(folder)
    u = [direction(number) for number in range(8)]
    for name, weight in model.named_parameters():
        if "ln" not in name:
            torch.nn.init.zeros_(weight)
    size = WIDTH // 2
    query, key, value = 0, WIDTH, 2 * WIDTH  # where each begins in the fused matrix
    first, second = (block.attn for block in model.transformer.h)
    with torch.no_grad():
        for row in range(len(model.transformer.wte.weight)):
            model.transformer.wte.weight[row] = u[row % 8] * (1 + row // 8)
        first.c_attn.weight[:, value] = u[0]
        first.c_proj.weight[0] = u[1]
        first.c_attn.weight[:, value + size] = u[3]
        first.c_proj.weight[size] = u[3]
        second.c_attn.weight[:, query] = u[0]
        second.c_attn.weight[:, key] = (u[1] + u[2]) * 0.5**0.5
        second.c_attn.weight[:, query + size], second.c_attn.weight[:, key + size] = u[3], u[4]
        second.c_attn.weight[:, value + size], second.c_proj.weight[size] = u[1], -u[1]
    model.save_pretrained(folder)
    return folder


def test_worked_example(tmp_path: Path) -> None:
    """With u_0, u_1, ... orthonormal, a token x:

        1-1 writes (x u_0) u_1           1-2 writes (x u_3) u_3
        2-1 has the query x u_0, the key x (u_1 + u_2) / sqrt(2)
        2-2 has the query x u_3, the key x u_4, and writes -(x u_1) u_1

    What 1-1 writes is u_1: of it goes 1 / sqrt(2) into the key of 2-1, all into the value of 2-2, nothing into a query.
    What 1-2 writes is u_3: all of it goes into the query of 2-2. 1-2 writes words back as they are, so that its
    eigenvalues are positive, and those of 2-2 negative: shares of 1 / 1 = 1 and -1 / 1 = -1.
    """
    result = computed(wired(tmp_path))
    expected = {
        "query": [[0, 0], [0, 1]],
        "key": [[0.5**0.5, 0], [0, 0]],
        "value": [[np.nan, np.nan], [1, 0]],  # 2-1 writes nothing: there is nothing to compare
    }
    for path, values in expected.items():
        found = result.composition[result.paths.index(path)]
        assert np.isnan(found[0]).all() and np.isnan(found[:, :, 1]).all()
        np.testing.assert_allclose(found[1, :, 0], values, atol=1e-5)
    assert result.eigenvalues[:, 1] == pytest.approx([1, -1], abs=1e-4)
    assert [each.path for each in pairs(result, 2, Head(0, 0))] == ["value", "key"]
    strongest = {(each.reader.key(), each.writer.key(), each.path) for each in pairs(result, 2)}
    assert strongest == {("2-2", "1-2", "query"), ("2-2", "1-1", "value")}


def test_a_head_that_writes_nothing_copies_nothing(tmp_path: Path) -> None:
    result = computed(wired(tmp_path), Settings(max_length=30))
    assert np.isnan(result.eigenvalues[1, 0])
    counts = {name: (result[name] * result.segments[0]).round().tolist() for name in ("copy", "suppression")}
    assert all(not words for _, words in result.words(Head(1, 0)))
    five_longest = {"copy": [[0, 5], [0, 0]], "suppression": [[0, 0], [0, 5]]}  # of the words of 1-2, and of 2-2
    assert counts == five_longest


def test_chunks_that_are_stored_and_merged_give_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = wired(tmp_path / "model")
    whole = computed(folder)
    monkeypatch.setattr(encoded_corpus, "CHUNK_TOKENS", 10)
    store = Store(tmp_path / "store")
    request = Request("weights", checkpoint.find_checkpoint(str(folder)), sample("vocabulary"), SETTINGS)
    merged = compute(request, store, Execution("cpu"))
    assert isinstance(merged, HeadWeights)
    np.testing.assert_array_equal(merged.mean, whole.mean)
    np.testing.assert_array_equal(merged.composition, whole.composition)
    heads = [Head(0, 0), Head(0, 1), Head(1, 1)]
    assert [merged.words(head) for head in heads] == [whole.words(head) for head in heads]
    sums = WEIGHTS.accumulator(loading.load(request.checkpoint, "cpu"), request)
    sums.whole = {"paths": ["value"], "eigenvalues": np.ones((2, 2))}
    assert sums.from_bytes(sums.to_bytes()).words is None
    sums.words = HeadWords(np.ones((2, 2, 1)), np.zeros((2, 2, 1), int), np.zeros((2, 2, 1, 10), int))
    again = sums.from_bytes(sums.to_bytes())
    assert again.whole["paths"] == ["value"] and again.whole["eigenvalues"].tolist() == [[1, 1], [1, 1]]
    assert again.words is not None and again.words.written.shape == (2, 2, 1, 10)


CASES: dict[str, Any] = {"gpt2": oracle.gpt2_heads, "llama": oracle.llama_heads}


def parts_of(family: str, model: Any) -> tuple[Any, Any, Any, list[Any], bool]:
    """(embedding, final norm, first layer with its positions, norms before attention, whether norms center)."""
    if family == "gpt2":
        inner = model.transformer
        return inner.wte, inner.ln_f, inner.h[0], [block.ln_1 for block in inner.h], True
    inner = model.model

    def first_layer(hidden: torch.Tensor) -> Any:
        positions = inner.rotary_emb(hidden, torch.zeros(1, 1, dtype=torch.long))
        return inner.layers[0](hidden, position_embeddings=positions)

    return inner.embed_tokens, inner.norm, first_layer, [block.input_layernorm for block in inner.layers], False


@pytest.mark.parametrize("family", CASES)
def test_equals_products_that_are_written_out(family: str, tmp_path: Path) -> None:
    result = computed(predicting.save(family, tmp_path))
    model = predicting.eager(family, tmp_path)
    embedding, final, _, norms, centers = parts_of(family, model)
    layers = [
        [oracle.folded(head, oracle.array(norm.weight), centers) for head in layer]
        for layer, norm in zip(CASES[family](model), norms, strict=True)
    ]
    size = layers[0][0].key.shape[1]
    for number, path in enumerate(result.paths):
        part, _, offset = path.partition("_")
        turn = oracle.rotation(int(offset), size, 10_000.0) if offset else np.eye(size)
        expected = [[oracle.composition(first, later, part, turn) for first in layers[0]] for later in layers[1]]
        np.testing.assert_allclose(result.composition[number, 1, :, 0], expected, atol=1e-5)
    words, read = oracle.array(embedding.weight), oracle.array(model.lm_head.weight) * oracle.array(final.weight)
    read = read - (read.mean(1, keepdims=True) if centers else 0)
    shares = [[oracle.eigenvalue_share(head, words, read - read.mean(0)) for head in layer] for layer in layers]
    np.testing.assert_allclose(result.eigenvalues, shares, atol=1e-5)


def sampled_ids(folder: Path) -> tuple[Tokens, list[int]]:
    """The tokenizer of a model, and the ids of the tokens that are sampled of its vocabulary."""
    tokens = loading.load_tokens(checkpoint.find_checkpoint(str(folder)))
    return tokens, [int(each.ids[0]) for each in VocabularySample(sample("vocabulary"), tokens, SETTINGS)]


@pytest.mark.parametrize("family", CASES)
def test_equals_logits_of_one_token_after_another(family: str, tmp_path: Path) -> None:
    result = computed(predicting.save(family, tmp_path))
    model = predicting.eager(family, tmp_path)
    embedding, final, first_layer, norms, _ = parts_of(family, model)
    _, drawn = sampled_ids(tmp_path)
    assert len({*drawn}) == 25 == result.segments[0] and result.unit == "tokens"
    found = np.zeros((2, *result.eigenvalues.shape))
    layers = list(zip(norms, CASES[family](model), strict=True))
    for token in drawn:
        with torch.no_grad():
            start = first_layer(embedding.weight[token][None, None])
            start = (start[0] if isinstance(start, tuple) else start).reshape(1, -1)
            for layer, (norm, heads) in enumerate(layers):
                for number, head in enumerate(heads):
                    vector = (oracle.array(norm(start))[0] @ head.value + head.bias) @ head.output
                    for sign, each in enumerate((vector, -vector)):
                        logits = model.lm_head(final(torch.tensor(each)[None]))[0]
                        found[sign, layer, number] += oracle.copies(oracle.array(logits), token)
    np.testing.assert_allclose([result["copy"], result["suppression"]], found / 25)
    assert found.any()


@pytest.mark.parametrize("family", CASES)
def test_lists_the_words_that_heads_write_for_what_they_look_at_most(family: str, tmp_path: Path) -> None:
    result = computed(predicting.save(family, tmp_path))
    model = predicting.eager(family, tmp_path)
    embedding, final, first_layer, norms, _ = parts_of(family, model)
    tokens, drawn = sampled_ids(tmp_path)
    offsets = (0, 1, 8) if family == "llama" else (0,)
    for layer, (norm, heads) in enumerate(zip(norms, CASES[family](model), strict=True)):
        read = {}
        for token in drawn:
            with torch.no_grad():
                start = first_layer(embedding.weight[token][None, None])
                read[token] = oracle.array(norm((start[0] if isinstance(start, tuple) else start).reshape(-1)))
        for number, head in enumerate(heads):
            turns = [oracle.rotation(offset, head.key.shape[1], 10_000.0) for offset in offsets]
            scores = {token: oracle.mean_score(read[token], [*read.values()], head, turns) for token in drawn}
            found = result.words(Head(layer, number))
            expected = sorted(drawn, key=scores.__getitem__, reverse=True)[:5]
            assert [token for token, _ in found] == list(token_labels(np.array(expected), tokens))
            for token, (_, words) in zip(expected, found, strict=True):
                vector = (read[token] @ head.value + head.bias) @ head.output
                with torch.no_grad():
                    logits = model.lm_head(final(torch.tensor(vector)[None]))[0]
                assert words == list(token_labels(np.argsort(-oracle.array(logits))[:10], tokens))


def test_normalized_queries_and_keys_look_as_the_model_does(tmp_path: Path) -> None:
    """Those of the first layer, whose inputs are the embeddings, without positions."""
    model = loading.load(checkpoint.find_checkpoint(str(architectures.save("qwen3", tmp_path))), "cpu")
    layer = head_weights.head_weights(model)[0]
    attention = model.encoder.layers[0].self_attn
    inputs = torch.randn(3, attention.q_proj.in_features, generator=torch.Generator().manual_seed(1))
    with torch.inference_mode():
        expected = attention.q_norm(attention.q_proj(inputs).unflatten(-1, (model.heads, -1)))
        torch.testing.assert_close(layer.queries(inputs), expected.movedim(1, 0))


OTHERS = [name for name in WEIGHT_NAMES if name in architectures.ARCHITECTURES and name not in CASES]


@pytest.mark.parametrize("family", OTHERS)
def test_matrices_of_a_family_give_what_it_computes(family: str, tmp_path: Path) -> None:
    """Or they would be refused: values, and cosines of queries and keys at every offset, are compared."""
    model = loading.load(checkpoint.find_checkpoint(str(architectures.save(family, tmp_path))), "cpu")
    layers = head_weights.head_weights(model)
    assert [len(each.output) for each in layers] == [model.heads] * model.layers


def test_matrices_that_do_not_give_what_the_model_computes_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As of a model whose fused matrix has queries, keys and values in another order."""
    folder = architectures.save("gpt_neox", tmp_path)
    wrong = WEIGHT_NAMES["gpt_neox"]._replace(is_fused_by_head=False)
    monkeypatch.setitem(WEIGHT_NAMES, "gpt_neox", wrong)
    with pytest.raises(ModelError, match="cannot be read: they give queries, keys or values that are off by"):
        computed(folder)


def test_a_family_that_is_not_known_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="not known for models of the family 'opt'"):
        computed(predicting.save("opt", tmp_path))


def test_an_encoder_has_no_words_that_its_heads_write(masked_folder: Path) -> None:
    result = computed(masked_folder)
    assert not result.of_vocabulary and "predicts no next words" in result.absence
    assert set(result.to_frame().columns) >= {"eigenvalue_copying", "key_composition"}
    assert "copy" not in result.to_frame() and result.words(Head(0, 0)) == []
    attention = transformers.AutoModel.from_pretrained(masked_folder).encoder.layer[1].attention
    value, output = attention.self.value.weight.T.double()[:, 8:], attention.output.dense.weight.T.double()[8:]
    values = np.linalg.eigvals((value @ output).detach().numpy())
    assert result.eigenvalues[1, 1] == pytest.approx(values.sum().real / np.abs(values).sum(), abs=1e-4)
