"""Reach equals the oracle: worked by hand, on random attention, on models, in chunks; planted heads do as planted."""

import math
from functools import partial

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from bertviz_core.analyses.base.request import Request
from bertviz_core.analyses.reach import quantities as reach
from bertviz_core.analyses.reach.measure import accumulator
from bertviz_core.analyses.reach.result import KEPT, OFFSETS, QUANTITIES, TENTHS
from bertviz_core.analyses.run.compute import compute
from bertviz_core.inputs.encoding import collate
from bertviz_core.inputs.segments import Segments
from bertviz_core.models.attention import AttentionInternals, LayerAttention, forward
from bertviz_core.settings import Execution, Settings
from tests.oracles import reach as oracle
from tests.support import maps, measures

OF_MAPS = [name for name in QUANTITIES if name != "output"]
TEXT = "Mills turn in the river, day and night. They feed the town.\nThe town sleeps.\n\nNobody counts the wheels.\n"


def measure(batch, attention):
    """(batch, head, quantity) of one layer."""
    return reach.measure(batch, reach.look(batch, attention), attention.causal, [attention.mask])[0]


def strongest_pairs(batch, attention):
    return [each[0] for each in reach.strongest_pairs(batch, reach.look(batch, attention), attention.causal)]


def literal(rows, kinds, causal=False):
    shares = dict(zip(OFFSETS, oracle.offsets(rows, causal), strict=True))
    return oracle.quantities(rows, kinds, causal) | {"output": math.nan} | shares


def with_variance(values):
    """Values by name with the spread squared: the root of a variance near 0 has few digits of float32."""
    return values | {"spread": values["spread"] ** 2}


def measured_with_variance(batch, attention):
    values = measure(batch, attention)
    values[..., QUANTITIES.index("spread")] **= 2
    return values


def test_worked_example():
    """[CLS] x y [SEP], and the rows written out. Distances are 0 to 3 on both sides; every row sums to 1, all to 4.

    |i - j| = 1: 0.2 + (0.5 + 0.0) + (0.6 + 0.2) + 0.1 = 1.6; = 2: 0.3 + 0.4 + 0.0 + 0.0 = 0.7; = 3: 0.4 + 0.0 = 0.4.
    Mean: (1.6 + 2 * 0.7 + 3 * 0.4) / 4 = 1.05. Mean of squares: (1.6 + 4 * 0.7 + 9 * 0.4) / 4 = 2, so that the standard
    deviation is sqrt(2 - 1.05 * 1.05). Uniform attention: (16 - 1) / 12 = 1.25. [SEP] gets (0.4 + 0.4 + 0.2 + 0.9) / 4
    = 0.475 of a row, more than 0.3, [CLS] (0.1 + 0.5) / 4 = 0.15. Of x and y the larger weight is 0.6, from y to x.
    These two are the ordinary tokens, at a distance of 1.
    """
    rows = [[0.1, 0.2, 0.3, 0.4], [0.5, 0.1, 0.0, 0.4], [0.0, 0.6, 0.2, 0.2], [0.0, 0.0, 0.1, 0.9]]
    batch = collate([maps.encode(0, ["cls", "other", "other", "sep"])], maps.TOKENS, "cpu")
    attention = LayerAttention(0, torch.tensor(rows)[None, None], None, False)
    found = dict(zip((*QUANTITIES, *OFFSETS), measure(batch, attention)[0, 0].tolist(), strict=True))
    expected = {"distance": 1.05, "spread": math.sqrt(2 - 1.05**2), "beyond": 0.0, "uniform": 1.25}
    sinks = {"sink_sep": 1.0, "sink_cls": 0.0, "sink_first": math.nan, "output": math.nan}
    sinks |= {"distance_ordinary": 1.0, "uniform_ordinary": 1.0}
    offsets = {"-1": (0.5 + 0.6 + 0.1) / 4, "0": 1.3 / 4, "1": (0.2 + 0.0 + 0.2) / 4, "3": 0.4 / 4, "over 10": 0.0}
    assert {name: found[name] for name in (*expected, *sinks, *offsets)} == pytest.approx(
        expected | sinks | offsets, nan_ok=True
    )
    weight, query, key = (each.item() for each in strongest_pairs(batch, attention))
    assert (weight, query, key) == (pytest.approx(0.6), 2, 1)


@given(maps.corpora, st.integers(0, 5), st.booleans(), st.sampled_from([0.1, 3.0, 30.0]))
def test_random_attention_with_any_padding(kinds_list, pad, causal, scale):
    way = {"causal": causal, "pad": pad, "scale": scale}

    def expected(rows, kinds):
        return with_variance(literal(rows, kinds, causal))

    names = (*QUANTITIES, *OFFSETS)
    measures.check_one_batch(measured_with_variance, expected, names, kinds_list, **way)


@given(maps.corpora, st.integers(0, 5), st.booleans())
def test_the_strongest_pair_of_random_attention(kinds_list, pad, causal):
    examples = [maps.encode(number, kinds) for number, kinds in enumerate(kinds_list)]
    logits = [maps.scores(number, len(kinds)) for number, kinds in enumerate(kinds_list)]
    weights, queries, keys = strongest_pairs(*maps.show(examples, logits, causal=causal, pad=pad))
    for row, kinds in enumerate(kinds_list):
        for head, rows in enumerate(maps.literal(logits[row], causal)[0].tolist()):
            expected = oracle.act(rows, kinds, causal)
            if expected is None:
                assert weights[row, head].isnan()
            else:
                found = (weights[row, head].item(), queries[row, head].item(), keys[row, head].item())
                assert found == (pytest.approx(expected[0], abs=1e-5), *expected[1:])


@pytest.mark.parametrize("causal", [False, True])
def test_a_pair_without_weight_is_of_two_ordinary_tokens(causal):
    weights = torch.zeros(1, 1, 5, 5)
    weights[..., 0] = 1.0
    batch = collate([maps.encode(0, ["cls", "other", "punct", "other", "sep"])], maps.TOKENS, "cpu")
    weight, query, key = (each.item() for each in strongest_pairs(batch, LayerAttention(0, weights, None, causal)))
    assert weight == 0 and (query, key) == ((3, 1) if causal else (1, 3))


@pytest.mark.parametrize("causal", [False, True])
def test_inputs_of_many_groups_of_rows(causal):
    kinds = ["cls", *["other"] * 150, "sep"]
    logits = [maps.scores(0, len(kinds), heads=1)]
    found = measure(*maps.show([maps.encode(0, kinds)], logits, causal=causal))[0, 0].tolist()
    expected = literal(maps.literal(logits[0], causal)[0, 0].tolist(), kinds, causal)
    np.testing.assert_allclose(found, [expected[name] for name in (*QUANTITIES, *OFFSETS)], rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("at_once", [1, 2, 7, 50])
def test_any_number_of_maps_at_a_time(monkeypatch, at_once):
    """Of inputs and heads whose numbers it may not divide."""
    kinds = [["cls", *["other"] * length, "sep"] for length in (30, 17, 1)]
    examples = [maps.encode(number, each) for number, each in enumerate(kinds)]
    shown = maps.show(examples, [maps.scores(number, len(each), heads=4) for number, each in enumerate(kinds)])
    expected = reach.look(*shown)
    monkeypatch.setattr(reach, "CACHED", at_once * 32**2)
    torch.testing.assert_close(tuple(reach.look(*shown)), tuple(expected), equal_nan=True)


def test_planted_heads():
    """To the previous token, whose distance is 1 in all rows but the first; to a sink; and one that gives nothing."""
    n = 40
    previous = torch.eye(n).roll(1, 0)
    previous[0] = torch.eye(n)[0]
    to_sep = torch.zeros(n, n)
    to_sep[:, -1] = 1.0
    weights = torch.stack([previous, to_sep, torch.full((n, n), 1 / n)])[None]
    values = torch.ones(1, 3, n, 4) * torch.tensor([1.0, 2.0, 0.0])[None, :, None, None]
    scores = AttentionInternals(values, values, values, 1.0, weights, None, weights, weights @ values)
    batch = collate([maps.encode(0, ["cls", *["other"] * (n - 2), "sep"])], maps.TOKENS, "cpu")
    found = measure(batch, LayerAttention(0, weights, None, False, scores=scores))[0]
    by_name = dict(zip((*QUANTITIES, *OFFSETS), found.T.tolist(), strict=True))
    assert by_name["distance"][0] == pytest.approx((n - 1) / n)
    assert by_name["-1"][0] == pytest.approx((n - 1) / n)
    assert by_name["sink_sep"] == [0.0, 1.0, 0.0]
    assert by_name["output"] == pytest.approx([1.0, 2.0, 0.0]), "beside a mean of 1"
    assert by_name["distance"][2] == pytest.approx(by_name["uniform"][2]) == pytest.approx((n * n - 1) / 3 / n)


def test_attention_to_a_learned_sink_is_left_out_of_distances():
    """Rows that sum to less than 1 are divided by what goes to tokens."""
    weights = torch.rand(1, 2, 12, 12)
    batch = collate([maps.encode(0, ["other"] * 12)], maps.TOKENS, "cpu")
    pair = [measure(batch, LayerAttention(0, each, None, False)) for each in (weights, weights / 2)]
    of_distances = [*range(3), *range(len(QUANTITIES), len(QUANTITIES) + len(OFFSETS))]
    torch.testing.assert_close(*(each[..., of_distances] for each in pair))
    whole, half = (reach.look(batch, LayerAttention(0, each, None, False)).diagonals for each in (weights, weights / 2))
    torch.testing.assert_close(whole, 2 * half)


def literal_result(model, source, settings):
    """What the oracle makes of each segment, by [segment][layer][head]: quantities, and the strongest pair."""
    segments = zip(
        Segments(source, model.tokens, settings), measures.model_segments(model, source, settings), strict=True
    )
    return [
        [literal_layer(*each, kinds) for each in zip(seen, values_of(model, example), strict=True)]
        for example, (seen, kinds) in segments
    ]


def values_of(model, example):
    """The values (head, token, width) of each layer, which the maps are multiplied with."""
    values = []
    batch = collate([example], model.tokens, "cpu")
    forward(model, batch, lambda each: values.append(each.scores.value[0]))
    return values


def literal_layer(layer, values, kinds):
    outputs = [(torch.tensor(rows) @ value).tolist() for rows, value in zip(layer, values, strict=True)]
    relative = oracle.relative_outputs(outputs)
    return [
        (literal(rows, kinds) | {"output": output}, oracle.act(rows, kinds))
        for rows, output in zip(layer, relative, strict=True)
    ]


def test_the_demo_model_in_batches_of_any_size(demo, source):
    settings = Settings(max_length=20, seed=3)
    text = source(TEXT)
    expected = literal_result(demo, text, settings)
    for batch_tokens in (1, 40, 10_000):
        request = Request("reach", demo.checkpoint, text, settings)
        result = compute(request, None, Execution("cpu", batch_tokens), model=demo)
        for layer, head in np.ndindex(demo.layers, demo.heads):
            of_head = [segment[layer][head] for segment in expected]
            for name in result.present:
                mean = sum(values[name] for values, _ in of_head) / len(of_head)
                assert result[name][layer, head] == pytest.approx(mean, abs=1e-4), name
            shares = [sum(values[name] for values, _ in of_head) / len(of_head) for name in OFFSETS]
            np.testing.assert_allclose(result.offsets[:, layer, head], shares, atol=1e-5)
            check_acts(result, layer, head, [act for _, act in of_head], settings.seed)


def check_acts(result, layer, head, acts, seed):
    """Each input with an act is counted in its tenth, and the inputs with the lowest draws are kept there."""
    for tenth in range(TENTHS):
        inside = [number for number, act in enumerate(acts) if act and min(int(act[0] * TENTHS), TENTHS - 1) == tenth]
        assert result.act_counts[layer, head, tenth] == len(inside)
        kept = list(result.acts((layer, head), tenth))
        assert [act.number for act in kept] == oracle.drawn(inside, seed, KEPT)
        for act in kept:
            weight, query, key = acts[act.number]
            assert (act.value, act.query, act.key) == (pytest.approx(weight, abs=1e-5), query, key)
            assert len(act.tokens) > max(query, key)
    assert (result.act_numbers[layer, head][result.act_counts[layer, head] == 0] == -1).all()


def test_sums_of_chunks_and_saved_sums_are_the_same(tiny, source):
    """As they are merged by chunk, and as bytes are sent from one process to another."""
    text = source("\n\n".join("a b c . " * k + "\nd e ." for k in range(1, 12)))
    settings = Settings(max_length=16)
    request = Request("reach", tiny.checkpoint, text, settings)
    segments = Segments(text, tiny.tokens, settings)
    examples = list(segments)
    whole, merged = accumulator(tiny, request), accumulator(tiny, request)
    fill(tiny, whole, examples)
    for part in (examples[:4], examples[4:]):
        sums = accumulator(tiny, request)
        fill(tiny, sums, part)
        merged.merge(merged.from_bytes(sums.to_bytes()))
    found = merged.fields(segments)
    for name, value in whole.fields(segments).items():
        if isinstance(value, np.ndarray):
            np.testing.assert_allclose(found[name], value, rtol=1e-9, err_msg=name)
        else:
            assert found[name] == value, name


def fill(model, sums, examples):
    """One batch for each example."""
    for example in examples:
        part = sums.new_empty()
        batch = collate([example], model.tokens, "cpu")
        forward(model, batch, partial(part.update, batch))
        sums.merge(part)
