"""Divergences equal the literal form, whatever the padding, the batches, and the way they are computed."""

import math
import sys
from dataclasses import asdict
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from bertviz_core.analyses.base.request import Request
from bertviz_core.analyses.behaviors import QUANTITIES, Thresholds
from bertviz_core.analyses.clustering import measure as divergence
from bertviz_core.analyses.clustering.measure import DivergenceSums, behavior_values
from bertviz_core.analyses.clustering.result import Clustering
from bertviz_core.analyses.entropy.result import QUANTITIES as ENTROPY_QUANTITIES
from bertviz_core.analyses.run.compute import compute
from bertviz_core.analyses.surface_patterns.result import QUANTITIES as SURFACE_QUANTITIES
from bertviz_core.inputs.encoding import Encoded, collate
from bertviz_core.inputs.segments import Segments
from bertviz_core.models.attention import LayerAttention, forward
from bertviz_core.models.checkpoint import find_checkpoint
from bertviz_core.models.loading import load
from bertviz_core.settings import Settings
from tests.oracles import clustering as reference
from tests.support.families import FAMILIES, save

SHORT = Settings(max_length=24)
LAYERS, HEADS = 2, 3
TOKENS = SimpleNamespace(pad=0, cls=2, sep=3, punctuation=np.array([5, 6]), structural=np.array([2, 3]))
TEXT = "The cat sat on the mat , and slept .\nThe dog slept near the door .\n\nA river runs .\n"


def random_maps(lengths: list[int], seed: int = 0, sharpness: float = 4.0) -> list[np.ndarray]:
    """(layer, head, query, key) float32 maps for each length; one head holds zeros, and two are near twins."""
    rng = np.random.default_rng(seed)
    found = []
    for n in lengths:
        logits = rng.normal(size=(LAYERS, HEADS, n, n)) * sharpness
        logits[1, 1] = logits[0, 2] + 1e-4 * rng.normal(size=(n, n))
        weights = np.exp(logits - logits.max(-1, keepdims=True))
        weights[1, 2] *= np.tri(n)
        found.append((weights / weights.sum(-1, keepdims=True)).astype(np.float32))
    return found


def accumulate(
    segments: list[np.ndarray], groups: list[list[int]], width: int = 0, smoothed: bool = False
) -> DivergenceSums:
    """Feed the segments in the given batches; padding rows hold full distributions, as they do in a model."""
    known = [f"quantity {i}" for i in range(len(SURFACE_QUANTITIES + ENTROPY_QUANTITIES))]
    total = DivergenceSums(smoothed, known, behavior_values, LAYERS, HEADS, "cpu")
    for group in groups:
        part = total.new_empty()
        feed(part, [segments[i] for i in group], width)
        total.merge(part)
    return total


def feed(part: DivergenceSums, maps: list[np.ndarray], width: int = 0) -> None:
    examples = [Encoded(i, "", np.full(m.shape[-1], 7), np.zeros(m.shape[-1], int)) for i, m in enumerate(maps)]
    longest = max(width, *(m.shape[-1] for m in maps))
    if longest > max(map(len, examples)):  # a longer example that is taken away again leaves its padding
        batch = collate([*examples, Encoded(9, "", np.full(longest, 7), np.zeros(longest, int))], TOKENS, "cpu")
        masks = (batch.ids, batch.types, batch.mask, batch.cls, batch.sep, batch.punctuation, batch.special)
        batch = type(batch)(batch.examples[:-1], *(mask[:-1] for mask in masks))
    else:
        batch = collate(examples, TOKENS, "cpu")
    weights = torch.zeros(len(maps), LAYERS, HEADS, longest, longest)
    for row, one in enumerate(maps):
        n = one.shape[-1]
        weights[row, :, :, :n, :n] = torch.from_numpy(one)
        weights[row, :, :, n:, :n] = torch.rand(LAYERS, HEADS, longest - n, n).softmax(-1)
    for layer in range(LAYERS):
        part.update(batch, LayerAttention(layer, weights[:, layer], None, False))


def mean(sums: DivergenceSums) -> np.ndarray:
    return sums.divergence.numpy() / sums.tokens


@pytest.fixture(params=["native", "torch"])
def way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    if request.param == "torch":
        monkeypatch.setattr(divergence, "build_kernel", lambda: None)
    elif divergence.build_kernel() is None:
        pytest.skip("no C++ compiler here")


def test_worked_example(way: None) -> None:
    """Two heads on a segment of two tokens, with natural logarithms:

    row 1: P = (1, 0), Q = (0, 1): the mixture is (1/2, 1/2), of entropy ln 2 = 0.6931, and both rows have entropy 0, so
        JS = 0.6931;
    row 2: P = (1, 0), Q = (1/2, 1/2): the mixture is (3/4, 1/4), of entropy 0.5623, less the mean entropy of the rows,
        (0 + 0.6931) / 2 = 0.3466: JS = 0.2158.

    The divergence is their mean, (0.6931 + 0.2158) / 2 = 0.4544 nats per token.
    """
    maps = np.zeros((LAYERS, HEADS, 2, 2), np.float32)
    maps[:] = [[1, 0], [1, 0]]
    maps[0, 1] = [[0, 1], [0.5, 0.5]]
    found = mean(accumulate([maps], [[0]]))
    assert found[0, 1] == pytest.approx(0.4544, abs=1e-4)
    assert found[1, 0] == found[0, 1]
    assert found[0, 2] == 0  # heads with the same maps


@pytest.mark.parametrize("sharpness", [0.02, 1.0, 12.0])
def test_equals_the_literal_form(way: None, sharpness: float) -> None:
    segments = random_maps([9, 17, 4], sharpness=sharpness)
    found = mean(accumulate(segments, [[0, 1], [2]]))
    sums, tokens = reference.sums(segments)
    assert np.abs(found - sums / tokens).max() < 1e-6
    assert sums.max() / tokens > found[0, 0] == 0


@pytest.mark.parametrize("sharpness", [0.02, 4.0])
def test_close_heads_keep_their_small_divergence(way: None, sharpness: float) -> None:
    segments = random_maps([12, 6], sharpness=sharpness)
    found = mean(accumulate(segments, [[0, 1]]))[2, HEADS + 1]
    sums, tokens = reference.sums(segments, form=reference.js_by_ratios)
    assert 0 < found < 1e-8
    assert found == pytest.approx(sums[2, HEADS + 1] / tokens, rel=2e-3)


def test_twins_are_at_no_distance(way: None) -> None:
    maps = random_maps([33])[0]
    maps[1, 0] = maps[0, 1]
    assert mean(accumulate([maps], [[0]]))[1, HEADS] == 0


def test_as_in_the_paper_smooths_as_the_release_does(way: None) -> None:
    segments = random_maps([7, 10], sharpness=12.0)
    found = accumulate(segments, [[0, 1]], smoothed=True)
    wanted, _ = reference.sums(segments, smoothed=True)
    assert np.abs(found.divergence.numpy() - wanted).max() < 1e-5
    assert np.abs(wanted - reference.sums(segments)[0]).max() > 1e-3


@settings(max_examples=40, deadline=None)
@given(
    lengths=st.lists(st.integers(2, 40), min_size=1, max_size=5),
    seed=st.integers(0, 99),
    width=st.integers(0, 50),
    sharpness=st.sampled_from([0.01, 1.0, 8.0]),
    data=st.data(),
)
def test_properties(lengths: list[int], seed: int, width: int, sharpness: float, data: st.DataObject) -> None:
    segments = random_maps(lengths, seed, sharpness)
    order = data.draw(st.permutations(range(len(lengths))))
    cut = data.draw(st.integers(0, len(lengths)))
    found = mean(accumulate(segments, [group for group in (order[:cut], order[cut:]) if group], width))
    assert (found == found.T).all()
    assert (np.diagonal(found) == 0).all()
    assert found.min() >= 0
    assert found.max() <= math.log(2) + 1e-6
    alone = mean(accumulate(segments, [[i] for i in range(len(lengths))]))
    assert np.abs(found - alone).max() < 1e-6


def test_long_rows_go_through_many_chunks(way: None) -> None:
    maps = np.concatenate([random_maps([90], seed)[0] for seed in range(2)], 1)[:, :HEADS]
    found = mean(accumulate([maps], [[0]]))
    p, q = (maps[0, head].astype(float) for head in (0, 1))
    wanted = np.mean([reference.js(p[i], q[i]) for i in range(90)])
    assert found[0, 1] == pytest.approx(wanted, abs=1e-6)


@pytest.fixture(scope="module")
def result(tiny, source) -> Clustering:
    return compute(Request("clustering", tiny.checkpoint, source(TEXT), SHORT), None, model=tiny)


def maps_of(model, source, options: Settings) -> list[np.ndarray]:
    """(layer, head, query, key) of every segment, one at a time."""
    found = []
    for example in Segments(source, model.tokens, options):
        layers: list[LayerAttention] = []
        forward(model, collate([example], model.tokens, "cpu"), layers.append)
        found.append(np.stack([layer.weights[0].numpy() for layer in layers]))
    return found


def test_a_model_from_text_to_divergence(tiny, source, result: Clustering) -> None:
    sums, tokens = reference.sums(maps_of(tiny, source(TEXT), SHORT))
    assert result.tokens == tokens == result.provenance["tokens"]
    assert np.abs(result.divergence - sums / tokens).max() < 1e-6


@pytest.mark.parametrize("family", ["gpt2", "modernbert", "xlnet"])  # causal, local, returned in the ordinary way
def test_other_families(family: str, source, tmp_path: Path) -> None:
    model = load(find_checkpoint(str(save(FAMILIES[family], tmp_path))), "cpu")
    found = compute(Request("clustering", model.checkpoint, source(TEXT), SHORT), None, model=model)
    sums, tokens = reference.sums(maps_of(model, source(TEXT), SHORT))
    assert np.abs(found.divergence - sums / tokens).max() < 1e-6
    assert found.divergence.max() > 0.01


def test_a_model_as_in_the_paper(tiny, source) -> None:
    options = Settings(max_length=24, mode="paper")
    found = compute(Request("clustering", tiny.checkpoint, source(TEXT), options), None, model=tiny)
    sums, _ = reference.sums(maps_of(tiny, source(TEXT), options), smoothed=True)
    assert np.abs(found.divergence - sums).max() < 1e-5


def test_averages_are_those_of_the_other_analyses(tiny, source, result: Clustering) -> None:
    for name in ("surface_patterns", "entropy"):
        other = compute(Request(name, tiny.checkpoint, source(TEXT), SHORT), None, model=tiny)
        for quantity in set(other.quantities) & set(QUANTITIES):
            assert np.allclose(result[quantity], other[quantity], atol=1e-7)


def test_thresholds_and_names_change_labels_alone(result: Clustering) -> None:
    values = {name: float(result[name][1, 0]) for name in QUANTITIES}
    strict, lax = Thresholds(), Thresholds(*(value - 0.01 for value in values.values()))
    for thresholds in (strict, lax):
        found = result.labeled(thresholds, {})
        assert found.behaviors[1, 0] == reference.behavior(values, asdict(thresholds))
        assert found.divergence is result.divergence
    assert result.labeled(lax, {}).behaviors[1, 0] == "to_punct"
    assert result.labeled(lax, {"2-1": "obj"}).behaviors[1, 0] == "linguistic"


def test_without_a_compiler_or_with_a_broken_source_there_is_no_kernel(monkeypatch, tmp_path) -> None:
    (broken := tmp_path / "broken.cpp").write_text("this is not C++")
    monkeypatch.setattr(divergence, "SOURCE", broken)
    assert divergence.build_kernel.__wrapped__() is None
    monkeypatch.setattr(divergence.shutil, "which", lambda name: None)
    assert divergence.build_kernel.__wrapped__() is None


def test_without_triton_there_is_no_kernel_of_a_gpu(monkeypatch) -> None:
    monkeypatch.setitem(sys.modules, "bertviz_core.analyses.clustering.mixture_triton", None)
    assert divergence.load_gpu_kernel.__wrapped__("cpu") is None
