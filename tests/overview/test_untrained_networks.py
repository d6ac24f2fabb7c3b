"""An untrained network has no linguistic head: of several shapes and initializations at most 5% have any.

BERTVIZ_NETWORKS=50 is the long form, every shape with every initialization.
"""

import os
import shutil
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from bertviz_core.analyses.base.request import Request
from bertviz_core.analyses.behaviors import linguistic
from bertviz_core.analyses.run.compute import compute
from bertviz_core.corpora.files import sample
from bertviz_core.models import checkpoint
from bertviz_core.settings import Execution, Settings
from tests.support.families import small_tokenizer

SHAPES = ((2, 4, 32), (3, 6, 48), (4, 4, 32), (6, 8, 64), (2, 12, 96))  # layers, heads, width
RANGES = (0.02, 0.05, 0.1, 0.2, 0.3)
CORPORA = {"dependency_heads": "treebank", "coreference_heads": "coreference"}
NETWORKS = int(os.environ.get("BERTVIZ_NETWORKS", "10"))


def untrained(family: str, shape: tuple[int, int, int], spread: float, seed: int, vocabulary: int) -> Any:
    import torch
    import transformers

    layers, heads, width = shape
    torch.manual_seed(seed)
    if family == "bert":
        names = {"num_hidden_layers": layers, "num_attention_heads": heads, "hidden_size": width}
        sizes = names | {"intermediate_size": 2 * width, "vocab_size": vocabulary, "initializer_range": spread}
        return transformers.BertModel(transformers.BertConfig(**sizes))
    names = {"n_layer": layers, "n_head": heads, "n_embd": width}
    sizes = names | {"n_positions": 512, "vocab_size": vocabulary, "initializer_range": spread}
    return transformers.GPT2Model(transformers.GPT2Config(**sizes))


def save(family: str, shape: tuple[int, int, int], spread: float, seed: int, folder: Path) -> checkpoint.Checkpoint:
    tokenizer = small_tokenizer()
    untrained(family, shape, spread, seed, len(tokenizer)).save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return checkpoint.find_checkpoint(str(folder))


def drawn_networks() -> list[tuple[int, tuple[str, tuple[int, int, int], float]]]:
    """Seeds and networks: in both families each shape with another initialization, then with the next one."""
    whole = list(enumerate(product(("bert", "gpt2"), range(len(SHAPES)), range(len(RANGES)))))
    in_turn = sorted(whole, key=lambda each: (each[1][2] - each[1][1]) % len(RANGES))
    return [(seed, (family, SHAPES[shape], RANGES[spread])) for seed, (family, shape, spread) in in_turn[:NETWORKS]]


@pytest.mark.slow
@pytest.mark.timeout(1200)  # 100 results in the long form
def test_untrained_networks_have_no_linguistic_head(tmp_path):
    named = {}
    for seed, (family, shape, spread) in drawn_networks():
        model = save(family, shape, spread, seed, tmp_path / str(seed))
        results = {}
        for analysis, corpus in CORPORA.items():
            request = Request(analysis, model, sample(corpus), Settings(max_length=128))
            results[analysis] = compute(request, None, Execution("cpu"))
        if heads := linguistic(results):
            named[family, shape, spread] = heads
        shutil.rmtree(tmp_path / str(seed))
    assert len(named) <= 0.05 * NETWORKS, named
