"""Entropies equal the oracle: worked by hand, on random, demo-model and published attention, in both modes."""

import math
from functools import partial

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from bertviz_core.analyses.entropy.measure import measure
from bertviz_core.analyses.entropy.result import QUANTITIES
from bertviz_core.inputs.encoding import collate
from bertviz_core.models.attention import LayerAttention
from bertviz_core.settings import Settings
from tests.oracles import reference
from tests.support import maps, measures

TEXT = "Mills turn in the river, day and night. They feed the town.\nThe town sleeps.\n\nNobody counts the wheels.\n"


def test_worked_example():
    """[CLS] x, with the rows (1/2, 1/2) and (0, 1).

    The first row's entropy is -2 * 1/2 log 1/2 = log 2 = 0.6931 nats, the second's 0: their mean is 0.3466, and the row
    of [CLS] alone has 0.6931. The largest weights are 0.5 and 1, 0.75 on average; uniform attention to two tokens has
    log 2. Smoothed as in the release, with 0.9999 A + 0.0001 / 2, the second row becomes (0.00005, 0.99995).
    """
    batch = collate([maps.encode(0, ["cls", "other"])], maps.TOKENS, "cpu")
    weights = torch.tensor([[0.5, 0.5], [0.0, 1.0]])[None, None]
    values = measure(batch, LayerAttention(0, weights, None, False))[0, 0].tolist()
    assert values == pytest.approx([math.log(2) / 2, math.log(2), 0.75, math.log(2)])
    smoothed = measure(batch, LayerAttention(0, weights, None, False), smoothed=True)[0, 0].tolist()
    sure = -0.99995 * math.log(0.99995) - 0.00005 * math.log(0.00005)
    assert smoothed == pytest.approx([(math.log(2) + sure) / 2, math.log(2), 0.75, math.log(2)], abs=1e-6)


@given(
    maps.corpora,
    st.integers(0, 5),
    st.booleans(),
    st.booleans(),
    st.booleans(),
    st.sampled_from([0.1, 3.0, 10.0, 30.0]),
)
def test_random_attention_with_any_padding(kinds_list, pad, causal, full, smoothed, scale):
    oracle = partial(reference.entropy, smoothed=smoothed, causal=causal)
    way = {"causal": causal, "pad": pad, "full": full, "scale": scale}
    measures.check_one_batch(partial(measure, smoothed=smoothed), oracle, QUANTITIES, kinds_list, **way)


@pytest.mark.parametrize("shift", [-80.0, 80.0])
def test_scores_far_from_zero_lose_no_digits(shift):
    """Entropy does not change when every score moves by the same amount, though float32 has fewer digits there."""
    logits = maps.scores(0, 128, scale=4.0)
    examples = [maps.encode(0, ["cls"] + ["other"] * 127)]
    expected = [
        reference.entropy(rows, ["cls"] + ["other"] * 127)["entropy"] for rows in maps.literal(logits)[0].tolist()
    ]
    rounded = (logits + np.float32(shift)).astype(np.float32)
    found = measure(*maps.show(examples, [rounded]))[0, :, 0].tolist()
    assert found == pytest.approx(expected, abs=1e-5)


@pytest.mark.parametrize("mode", ["corrected", "paper"])
def test_the_demo_model_in_batches_of_any_size(demo, source, mode):
    oracle = partial(reference.entropy, smoothed=mode == "paper")
    settings = Settings(max_length=20, mode=mode)
    result, segments = measures.check_on_model("entropy", demo, source(TEXT), settings, oracle, QUANTITIES)
    lengths = [len(kinds) for _, kinds in segments]
    assert result.uniform == pytest.approx(sum(map(math.log, lengths)) / len(lengths), abs=1e-6)
    assert result.arrays()["uniform"] == result.uniform


@pytest.mark.parametrize("smoothed", [False, True])
@pytest.mark.parametrize("path", measures.published(), ids=lambda path: path.name.partition(".")[0])
def test_published_maps(path, smoothed):
    def oracle(rows, kinds, causal):
        return reference.entropy(rows, kinds, smoothed, causal)

    measures.check_published(path, partial(measure, smoothed=smoothed), oracle, QUANTITIES)
