"""The native kernel is only ever a faster way to the same sums."""

import numpy as np
import pytest
import torch

from bertviz_core.analyses.clustering import divergence


@pytest.fixture
def kernel():
    built = divergence.build_kernel()
    if built is None:
        pytest.skip("no C++ compiler here")
    return built


@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("heads, positions", [(1, 16), (5, 1040), (9, 4096)])
def test_native_and_torch_sums_equal_the_literal_ones(kernel, heads: int, positions: int, threads: int) -> None:
    maps = torch.from_numpy(np.random.default_rng(0).random((heads, positions), dtype=np.float32)) ** 6 + 1e-30
    before = torch.get_num_threads()
    torch.set_num_threads(threads)
    try:
        native = divergence.kernel_sums(kernel, maps)
    finally:
        torch.set_num_threads(before)
    p = maps.double().numpy()
    for a in range(heads):
        for b in range(heads):
            s = p[a] + p[b]
            wanted = (s * np.log2(s)).sum() if b >= a else 0.0
            assert native[a, b] == pytest.approx(wanted, abs=3e-7 * positions)
            assert divergence.torch_sums(maps)[a, b] == pytest.approx(wanted, abs=3e-7 * positions)


def test_without_a_compiler_there_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(divergence.shutil, "which", lambda name: None)
    assert divergence.build_kernel.__wrapped__() is None


def test_a_source_that_does_not_compile_is_no_kernel(monkeypatch: pytest.MonkeyPatch, tmp_path) -> None:
    broken = tmp_path / "broken.cpp"
    broken.write_text("this is not C++")
    monkeypatch.setattr(divergence, "SOURCE", broken)
    assert divergence.build_kernel.__wrapped__() is None
