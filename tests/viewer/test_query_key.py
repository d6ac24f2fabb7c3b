"""Query times key: the queries and keys that the library's own layers compute, and the weights that it returns."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from bertviz_core.errors import ModelError
from bertviz_core.heads import Head
from bertviz_core.models import checkpoint, loading
from bertviz_core.models.encoding import collate
from bertviz_core.models.model import AttentionModel
from bertviz_core.models.single_input import OneInput, from_text
from bertviz_core.settings import Settings
from bertviz_core.viewer.query_key import MASKED, PARTS, TERMS, QueryKey, measure
from tests import families
from tests.architectures import ARCHITECTURES, HEADS, INSIDE, save
from tests.oracles import query_key as oracle

QUICK = ("llama", "gemma2", "gpt_oss", "t5", "distilbert", "modernbert")
LLAMA = "layers.{}.self_attn", "q_proj", "k_proj"
NORMED = "layers.{}.self_attn", "q_norm", "k_norm"
BERT = "encoder.layer.{}.attention.self", "query", "key"
T5 = "encoder.block.{}.layer.0.SelfAttention", "q", "k"
ALBERT = "encoder.albert_layer_groups.0.albert_layers.0.attention"
MODULES = {  # attention of a layer, and what in it gives queries and keys
    **dict.fromkeys(("bert", "roberta", "xlm-roberta", "electra"), BERT),
    **dict.fromkeys(("llama", "mistral", "mixtral", "qwen2", "gemma2", "smollm3", "gpt_oss"), LLAMA),
    **dict.fromkeys(("qwen3", "gemma3_text", "olmo2"), NORMED),
    **dict.fromkeys(("t5", "mt5"), T5),
    "albert": (ALBERT, "query", "key"),
    "distilbert": ("transformer.layer.{}.attention", "q_lin", "k_lin"),
    "opt": ("decoder.layers.{}.self_attn", "q_proj", "k_proj"),
    "gpt2": ("h.{}.attn", "c_attn", "c_attn"),
    "gpt_neox": ("layers.{}.attention", "query_key_value", "query_key_value"),
    "phi3": ("layers.{}.self_attn", "qkv_proj", "qkv_proj"),
    "modernbert": ("layers.{}.attn", "Wqkv", "Wqkv"),
}  # deepseek_v3 puts a query together from several products: its logits alone are compared
FUSED: dict[
    str, Callable[[torch.Tensor, int], tuple[torch.Tensor, torch.Tensor]]
] = {  # (token, all) -> (token, head, width)
    "gpt2": lambda x, h: tuple(part.unflatten(-1, (h, -1)) for part in x.chunk(3, -1)[:2]),
    "gpt_neox": lambda x, h: tuple(x.unflatten(-1, (h, -1)).chunk(3, -1)[:2]),
    "modernbert": lambda x, h: tuple(x.unflatten(-1, (3, h, -1))[:, part] for part in range(2)),
    "phi3": lambda x, h: (x[:, :32].unflatten(-1, (h, -1)), x[:, 32:48].unflatten(-1, (2, -1))),
}


def opened(folder: Path) -> tuple[AttentionModel, OneInput]:
    model = loading.load(checkpoint.find(str(folder)), "cpu")
    return model, from_text("the cat sat on the mat", "", model.tokens, Settings())


class Library:
    """One pass of the library's own model: its maps, and what its modules put out."""

    def __init__(self, folder: Path, model: AttentionModel, single: OneInput, family: str, layer: int) -> None:
        eager = type(model.encoder).from_pretrained(folder, attn_implementation="eager", dtype="float32").eval()
        self.family, self.rotary, self.bias = family, None, None
        outputs: dict[str, list[torch.Tensor]] = {}
        if family in MODULES:
            name, *projections = MODULES[family]
            self.attention = eager.get_submodule(name.format(layer))
            self.attention.register_forward_pre_hook(self._called, with_kwargs=True)
            for each in set(projections):
                module, seen = self.attention.get_submodule(each), outputs.setdefault(each, [])
                module.register_forward_hook(lambda _m, _i, out, seen=seen: seen.append(out[0]))
        if family in ("t5", "mt5"):
            table = eager.get_submodule("encoder.block.0.layer.0.SelfAttention.relative_attention_bias")
            table.register_forward_hook(lambda _m, _i, out: setattr(self, "bias", out))
        with torch.inference_mode():
            inputs = collate([single.example], model.tokens, "cpu").inputs(model)
            self.maps = eager(**inputs, output_attentions=True).attentions[layer][0].double().numpy()
        if family in MODULES:
            projected = [outputs[each][layer if family == "albert" else 0] for each in projections]
            fused = FUSED.get(family)
            self.vectors = fused(projected[0], HEADS) if fused else tuple(map(self._by_head, projected))

    def _called(self, _module: Any, arguments: tuple[Any, ...], named: dict[str, Any]) -> None:
        given = named.get("position_embeddings")
        halves = 2 if self.family == "gpt_oss" else 1  # the second half has the cosines of the first
        self.rotary = given and [part[0].repeat(1, halves).tolist() for part in given]

    def _by_head(self, values: torch.Tensor) -> torch.Tensor:
        """(token, head, width), whether heads are apart already, before or after the tokens, or not."""
        if values.dim() == 2:
            width = getattr(self.attention, "head_dim", None) or 32 // HEADS
            return values.unflatten(-1, (-1, width))
        return values if len(values) == len(self.maps[0]) else values.transpose(0, 1)

    def vector(self, which: int, head: int, token: int) -> list[float]:
        """The query (0) or the key (1) of a token in a head; key heads may be shared."""
        heads = self.vectors[which].shape[1]
        values = self.vectors[which][token, head * heads // HEADS].tolist()
        if self.family == "opt" and which == 0:  # scaled beforehand
            return [value * len(values) ** -0.5 for value in values]
        if self.rotary is None or not getattr(self.attention, "use_rope", True):
            return values
        return oracle.rotated(values, self.rotary[0][token], self.rotary[1][token])


@pytest.mark.parametrize(
    "family",
    [
        name if name in QUICK else pytest.param(name, marks=pytest.mark.slow)
        for name, row in ARCHITECTURES.items()
        if row.way == INSIDE
    ],
)
def test_queries_keys_logits_and_weights_are_those_of_the_librarys_layers(family: str, tmp_path: Path) -> None:
    folder = save(family, tmp_path)
    model, single = opened(folder)
    for head, position in ((Head(0, 1), 3), (Head(1, 3), len(single.example) - 1)):
        measured = measure(model, single.example, head, position)
        library = Library(folder, model, single, family, head.layer)
        expected = library.maps[head.head, position]
        assert measured.weights == pytest.approx(expected, abs=1e-5)
        assert oracle.weights(measured.logits.tolist(), measured.sink) == pytest.approx(expected.tolist(), abs=1e-5)
        for key in range(len(single.example)):
            if family in MODULES:
                assert measured.query == pytest.approx(library.vector(0, head.head, position), abs=1e-4)
                assert measured.keys[key] == pytest.approx(library.vector(1, head.head, key), abs=1e-4)
            score = oracle.score(measured.query.tolist(), measured.keys[key].tolist(), measured.scale)
            assert measured.scores[key] == pytest.approx(score, abs=1e-9)
            assert score + measured.bias[key] == pytest.approx(measured.logits[key], abs=1e-5)
            check_bias(measured, library, family, head, position, key)


def check_bias(measured: QueryKey, library: Library, family: str, head: Head, position: int, key: int) -> None:
    if measured.logits[key] < MASKED:
        assert model_hides(library, head, position, key)
    elif library.bias is not None:
        assert measured.bias[key] == pytest.approx(float(library.bias[position, key, head.head]), abs=1e-4)
    elif family == "gemma2":
        assert measured.logits[key] == pytest.approx(2.0 * np.tanh(measured.scores[key] / 2.0), abs=1e-5)
    else:
        assert measured.bias[key] == pytest.approx(0, abs=1e-4)


def model_hides(library: Library, head: Head, position: int, key: int) -> bool:
    return bool(library.maps[head.head, position, key] == 0)


@pytest.mark.parametrize("family", ["bert", "roberta", "distilbert", "albert", "electra"])
def test_words_and_positions_add_up_in_the_first_layer(family: str, tmp_path: Path) -> None:
    folder = families.save(families.FAMILIES[family], tmp_path)
    model, single = opened(folder)
    position, head, width = 2, 1, 8
    measured = measure(model, single.example, Head(0, head), position)
    assert measure(model, single.example, Head(1, head), position).terms is None
    embeddings, norm = model.encoder.embeddings, model.encoder.embeddings.LayerNorm
    types = getattr(embeddings, "token_type_embeddings", None)
    first = 2 if family == "roberta" else 0  # its padding is 1

    def halves(at: int, name: str) -> list[list[float]]:
        vectors = [embeddings.word_embeddings.weight[single.example.ids[at]].tolist()]
        vectors.append(embeddings.position_embeddings.weight[first + at].tolist())
        vectors.append(types.weight[0].tolist() if types is not None else [0.0] * len(vectors[0]))
        module, wide = model.encoder.get_submodule(name), WIDE.get(family)
        for part in oracle.shares(vectors, norm.weight.tolist(), norm.eps)[:2]:
            read = oracle.linear(model.encoder.get_submodule(wide).weight.tolist(), part) if wide else part
            yield oracle.linear(module.weight.tolist(), read)[head * width : (head + 1) * width]

    attention, *names = MODULES[family]
    paths = [f"{attention.format(0)}.{name}" for name in names]
    for key in range(len(single.example)):
        terms = dict(zip(TERMS, measured.terms[key], strict=True))
        assert sum(terms.values()) == pytest.approx(measured.scores[key], abs=1e-4)
        for query_part, query in zip(PARTS, halves(position, paths[0]), strict=False):
            for key_part, vector in zip(PARTS, halves(key, paths[1]), strict=False):
                expected = oracle.score(query, vector, width**-0.5)
                assert terms[f"{query_part} × {key_part}"] == pytest.approx(expected, abs=1e-4)


WIDE = {"albert": "encoder.embedding_hidden_mapping_in", "electra": "embeddings_project"}


def test_the_table_has_the_products_and_largest_come_first(tiny: AttentionModel) -> None:
    single = from_text("the cat sat", "", tiny.tokens, Settings())
    measured, units = measure(tiny, single.example, Head(1, 0), 2), single.layout.tokens
    frame = measured.to_frame(units)
    assert list(frame["to"]) == list(units.labels)
    products = frame.filter(like="product_").to_numpy()
    assert products.sum(1) * measured.scale == pytest.approx(frame["score"].to_numpy())
    assert list(products[1][measured.order(1)]) == sorted(products[1], reverse=True)
    assert b"from_position" in measured.to_csv(units, 2, {"model": "tiny"})


def test_a_model_that_returns_its_maps_is_refused_calmly(tmp_path: Path) -> None:
    model, single = opened(families.save(families.FAMILIES["deberta-v2"], tmp_path))
    with pytest.raises(ModelError, match="returns its attention maps"):
        measure(model, single.example, Head(0, 0), 1)
