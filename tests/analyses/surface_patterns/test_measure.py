"""Surface patterns equal the oracle: worked by hand, on random, demo-model and published attention."""

import math
from functools import partial

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from bertviz_core.analyses.request import Request
from bertviz_core.analyses.requests import compute
from bertviz_core.analyses.surface_patterns.columns import QUANTITIES
from bertviz_core.analyses.surface_patterns.measure import measure
from bertviz_core.models.attention import LayerAttention
from bertviz_core.models.encoding import collate
from bertviz_core.settings import Execution, Settings
from tests import maps
from tests.analyses import measures
from tests.oracles import reference

oracle = reference.surface_patterns
SETTINGS = Settings(max_length=24, limit=5)


def test_a_worked_example():
    """[CLS] x . [SEP], and the rows written out: each average has the denominator 4, the two last 1 and 3."""
    rows = [[0.1, 0.2, 0.3, 0.4], [0.5, 0.1, 0.0, 0.4], [0.0, 0.6, 0.2, 0.2], [0.0, 0.0, 0.1, 0.9]]
    batch = collate([maps.encode(0, ["cls", "other", "punct", "sep"])], maps.TOKENS, "cpu")
    values = measure(batch, LayerAttention(0, torch.tensor(rows)[None, None], None, False))[0, 0]
    expected = {
        "current": (0.1 + 0.1 + 0.2 + 0.9) / 4,
        "previous": (0.5 + 0.6 + 0.1) / 4,
        "next": (0.2 + 0.0 + 0.2) / 4,
        "to_cls": (0.1 + 0.5 + 0.0 + 0.0) / 4,
        "to_sep": (0.4 + 0.4 + 0.2 + 0.9) / 4,
        "to_punct": (0.3 + 0.0 + 0.2 + 0.1) / 4,
        "sep_to_sep": 0.9,
        "other_to_sep": (0.4 + 0.4 + 0.2) / 3,
        "to_first": (0.5 + 0.0 + 0.0) / 3,
    }
    assert dict(zip(QUANTITIES, values.tolist(), strict=True)) == pytest.approx(expected)
    assert oracle(rows, ["cls", "other", "punct", "sep"]) == pytest.approx(expected)


@given(maps.corpora, st.integers(0, 5), st.booleans(), st.sampled_from([0.1, 3.0, 30.0]))
def test_random_attention_with_any_padding(kinds_list, pad, causal, scale):
    literal = partial(oracle, causal=causal)
    measures.check_one_batch(measure, literal, QUANTITIES, kinds_list, causal=causal, pad=pad, scale=scale)


@given(maps.corpora, st.data(), st.integers(1, 8), st.lists(st.integers(0, 4), min_size=1, max_size=3))
def test_any_order_batch_size_padding_and_merge(kinds_list, data, batch_size, pads):
    order = data.draw(st.permutations(range(len(kinds_list))))
    measures.check_any_way(measure, oracle, QUANTITIES, kinds_list, order, batch_size, pads)


def test_a_segment_without_special_tokens_is_absent_not_zero():
    found = measure(*maps.show([maps.encode(0, ["other", "punct"])], [maps.scores(0, 2)]))
    absent = [name for name, value in zip(QUANTITIES, found[0, 0].tolist(), strict=True) if math.isnan(value)]
    assert absent == ["to_cls", "to_sep", "sep_to_sep", "other_to_sep"]


@pytest.mark.parametrize("mode", ["corrected", "paper"])
def test_the_demo_model_in_batches_of_any_size(demo, source, mode):
    long = " ".join(["A river runs, quietly, through the town."] * 3)
    text = source(f"It is old.\n{long}\n\n{long}\n\n")
    chosen = Settings(max_length=24, limit=5, mode=mode)
    segments = measures.model_segments(demo, text, chosen)
    for batch_tokens in (1, 48, 10_000):
        request = Request("surface_patterns", demo.checkpoint, text, chosen)
        result = compute(request, None, Execution("cpu", batch_tokens), model=demo)
        assert result.segments.tolist() == [len(segments)] * len(QUANTITIES)
        for name in QUANTITIES:
            np.testing.assert_allclose(result[name], reference.corpus(oracle, segments, name), atol=1e-5, rtol=0)


@pytest.mark.parametrize("path", measures.published(), ids=lambda path: path.name.partition(".")[0])
def test_published_maps(path):
    measures.check_published(path, measure, oracle, QUANTITIES)
