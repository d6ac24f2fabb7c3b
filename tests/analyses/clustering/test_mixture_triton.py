"""The kernel in Triton equals the literal sums for any number of heads and positions, to the same bits each time: by
Triton's interpreter, or with BERTVIZ_TEST_DEVICE=cuda on that GPU."""

import math
import os

import numpy as np
import pytest
import torch

from bertviz_core.analyses.clustering import measure
from tests.oracles.clustering import js

pytest.importorskip("triton")

from bertviz_core.analyses.clustering import mixture_triton

DEVICE = "cuda" if os.environ.get("BERTVIZ_TEST_DEVICE") == "cuda" else "cpu"


def random_maps(heads: int, positions: int) -> torch.Tensor:
    """Positive weights from 1e-30 to 1."""
    draw = np.random.default_rng(heads).uniform(-30, 0, (heads, positions))
    return torch.from_numpy((10**draw).astype(np.float32)).to(DEVICE)


def literal(maps: torch.Tensor) -> np.ndarray:
    """(head, head) float64 sums of s log2 s; upper triangle and diagonal."""
    weights = maps.tolist()
    sums = np.zeros((len(weights), len(weights)))
    for first, p in enumerate(weights):
        for second in range(first, len(weights)):
            sums[first, second] = math.fsum((a + b) * math.log2(a + b) for a, b in zip(p, weights[second], strict=True))
    return sums


@pytest.mark.parametrize(("heads", "positions"), [(1, 16), (5, 48), (16, 64), (19, 32)])
def test_any_number_of_heads_and_positions(heads: int, positions: int) -> None:
    maps = random_maps(heads, positions)
    np.testing.assert_allclose(mixture_triton.mixture_sums(maps).cpu().numpy(), literal(maps), rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("programs", [1, 3])
def test_chunks_and_spans_that_end_anywhere(monkeypatch: pytest.MonkeyPatch, programs: int) -> None:
    """Five chunks, the last one of half its length, by one program and by three, of which the last has less to do."""
    monkeypatch.setattr(mixture_triton, "CHUNK", 32)
    monkeypatch.setattr(mixture_triton, "PROGRAMS", programs)
    maps = random_maps(3, 4 * 32 + 16)
    found = mixture_triton.mixture_sums(maps)
    np.testing.assert_allclose(found.cpu().numpy(), literal(maps), rtol=1e-6, atol=1e-6)
    assert torch.equal(mixture_triton.mixture_sums(maps), found)


def test_divergences_of_rows_with_zeros_and_padding(monkeypatch: pytest.MonkeyPatch) -> None:
    """Four rows of four keys and one of padding; two heads are alike."""
    rows = np.random.default_rng(0).dirichlet(np.full(4, 0.3), (3, 4)).astype(np.float32)
    rows[0, 0] = [1, 0, 0, 0]
    rows[2] = rows[1]
    maps = torch.zeros(3, 32, device=DEVICE)
    maps[:, :16] = torch.from_numpy(rows.reshape(3, 16))
    monkeypatch.setattr(measure, "_sums", mixture_triton.mixture_sums)
    found = measure.divergences(maps, 4)
    expected = sum(js(p.astype(float), q.astype(float)) for p, q in zip(rows[0], rows[1], strict=True))
    assert found[0, 1] == pytest.approx(expected, abs=1e-6)
    assert found[0, 1] == found[1, 0] and found[1, 2] == 0
