import io
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import torch

from bertviz_core.errors import ModelError
from bertviz_core.heads import Head
from bertviz_core.inputs.encoding import collate
from bertviz_core.models import checkpoint, loading
from bertviz_core.models.model import AttentionModel
from bertviz_core.models.single_input import OneInput, from_text
from bertviz_core.settings import Settings
from bertviz_core.viewer.query_key import MASKED, compute_query_key
from tests.oracles import query_key as oracle
from tests.support import families
from tests.support.architectures import ARCHITECTURES, INSIDE, library_model, save

QUICK = ("llama", "gemma2", "gpt_oss", "t5", "distilbert", "modernbert")


def opened(folder: Path) -> tuple[AttentionModel, OneInput]:
    model = loading.load(checkpoint.find_checkpoint(str(folder)), "cpu")
    return model, from_text("the cat sat on the mat", "", model.tokens, Settings())


def library_pass(folder: Path, model: AttentionModel, single: OneInput, family: str) -> tuple[list[np.ndarray], Any]:
    """The maps of each layer of the library's own model, and what T5 adds to its scores, (query, key, head)."""
    eager = library_model(folder, type(model.encoder))
    biases: list[torch.Tensor] = []
    if family in ("t5", "mt5"):
        table = eager.get_submodule("encoder.block.0.layer.0.SelfAttention.relative_attention_bias")
        table.register_forward_hook(lambda _m, _i, out: biases.append(out))
    with torch.inference_mode():
        inputs = model.inputs(collate([single.example], model.tokens, "cpu"))
        maps = eager(**inputs, output_attentions=True).attentions
    return [layer[0].double().numpy() for layer in maps], biases[0] if biases else None


@pytest.mark.parametrize(
    "family",
    [
        name if name in QUICK else pytest.param(name, marks=pytest.mark.slow)
        for name, row in ARCHITECTURES.items()
        if row.way == INSIDE
    ],
)
def test_scores_of_queries_and_keys_make_the_librarys_own_weights(family: str, tmp_path: Path) -> None:
    folder = save(family, tmp_path)
    model, single = opened(folder)
    maps, bias = library_pass(folder, model, single, family)
    for head, position in ((Head(0, 1), 3), (Head(1, 3), len(single.example) - 1)):
        measured = compute_query_key(model, single, head, position)
        expected = maps[head.layer][head.head, position]
        assert measured.weights == pytest.approx(expected, abs=1e-5)
        softmax = oracle.weights(measured.logits.tolist(), measured.sink)
        what_to_do = "say what else makes the weights, in QueryKey and the oracle, as of the sink"
        assert softmax == pytest.approx(expected.tolist(), abs=1e-5), what_to_do
        for key in range(len(single.example)):
            score = oracle.score(measured.query.tolist(), measured.keys[key].tolist(), measured.scale)
            assert measured.scores[key] == pytest.approx(score, abs=1e-9)
            assert score + measured.bias[key] == pytest.approx(measured.logits[key], abs=1e-5)
            if measured.logits[key] < MASKED:
                assert expected[key] == 0
            elif family == "gemma2":
                assert measured.logits[key] == pytest.approx(2.0 * np.tanh(score / 2.0), abs=1e-5)
            else:
                added = 0 if bias is None else float(bias[position, key, head.head])
                which = f"{family} adds to its scores: say here what, as of T5"
                assert measured.bias[key] == pytest.approx(added, abs=1e-4), which


def test_the_table_has_the_products(tiny: AttentionModel) -> None:
    single = from_text("the cat sat", "", tiny.tokens, Settings())
    measured = compute_query_key(tiny, single, Head(1, 0), 2)
    frame = pd.read_csv(io.BytesIO(measured.to_csv({"model": "tiny"})))
    assert list(frame["to"]) == list(single.layout.tokens.labels)
    products = frame.filter(like="product_").to_numpy()
    assert products.sum(1) * measured.scale == pytest.approx(frame["score"].to_numpy())
    assert set(frame["from_position"]) == {3} and set(frame["model"]) == {"tiny"}


def test_a_model_that_returns_its_maps_is_refused_calmly(tmp_path: Path) -> None:
    model, single = opened(families.save(families.FAMILIES["deberta-v2"], tmp_path))
    with pytest.raises(ModelError, match="returns its attention maps"):
        compute_query_key(model, single, Head(0, 0), 1)
