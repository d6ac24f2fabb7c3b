"""The sums of mixture_kernel.cpp on a GPU, in Triton: s log2 s, s = p + q, over positions, for every pair of heads.

A program has a tile of pairs and a span of positions. All tiles of a span run side by side, so that the device's memory
is read once and its cache then; each step of the formula stays in registers. No program adds to what another one has,
and spans are added up in a fixed order, so that the bits are the same in every run.
"""

import torch
import triton
import triton.language as tl
from torch import Tensor

TILE = 16  # heads by as many heads
LANES = 16  # positions of a step
CHUNK = 1024  # positions that are summed in float32 before the sum goes on in float64
PROGRAMS = 1 << 14  # they keep a GPU busy, while their sums take some 60 MB


def mixture_sums(maps: Tensor) -> Tensor:
    """Sum s log2 s over positions, for every pair of heads.

    Args:
        maps: (head, position) float32, contiguous, all values positive and normal; the number of positions is a
            multiple of LANES.

    Returns:
        (head, head) float64: upper triangle and diagonal, 0 below.
    """
    heads, positions = maps.shape
    tiles = torch.triu_indices(*2 * [triton.cdiv(heads, TILE)], dtype=torch.int32, device=maps.device)
    spans = triton.cdiv(PROGRAMS, tiles.shape[1])
    span = CHUNK * triton.cdiv(positions, CHUNK * spans)
    spans = triton.cdiv(positions, span)
    sums = torch.zeros(spans, heads, heads, dtype=torch.float64, device=maps.device)
    with torch.cuda.device_of(maps):
        _add_span[tiles.shape[1], spans](maps, tiles[0], tiles[1], sums, heads, positions, span, TILE, LANES, CHUNK)
    return sums.sum(0).triu()


@triton.jit  # type: ignore[untyped-decorator]
def _add_span(
    maps: tl.tensor,
    first_tiles: tl.tensor,
    second_tiles: tl.tensor,
    sums: tl.tensor,
    heads: tl.tensor,
    positions: tl.tensor,
    span: tl.tensor,
    TILE: tl.constexpr,
    LANES: tl.constexpr,
    CHUNK: tl.constexpr,
) -> None:
    """Sum one tile of pairs over one span, into `sums` (span, head, head)."""
    first = tl.load(first_tiles + tl.program_id(0)) * TILE + tl.arange(0, TILE)
    second = tl.load(second_tiles + tl.program_id(0)) * TILE + tl.arange(0, TILE)
    lanes = tl.arange(0, LANES)[None, None, :]
    # A tile at the edge reads the last head again, whose sums it does not store.
    p_maps = maps + tl.minimum(first, heads - 1).to(tl.int64)[:, None, None] * positions + lanes
    q_maps = maps + tl.minimum(second, heads - 1).to(tl.int64)[None, :, None] * positions + lanes
    total = tl.zeros((TILE, TILE), tl.float64)
    start = tl.program_id(1) * span
    end = tl.minimum(start + span, positions)
    for chunk in range(start, end, CHUNK):
        of_chunk = tl.zeros((TILE, TILE, LANES), tl.float32)
        for position in range(chunk, tl.minimum(chunk + CHUNK, end), LANES):
            s = tl.load(p_maps + position) + tl.load(q_maps + position)
            of_chunk = tl.fma(s, _log2(s), of_chunk)
        total += tl.sum(of_chunk, 2).to(tl.float64)
    rows = tl.program_id(1).to(tl.int64) * heads + first[:, None]
    is_pair = (first < heads)[:, None] & (second < heads)[None, :]
    tl.store(sums + rows * heads + second[None, :], total, is_pair)


@triton.jit  # type: ignore[untyped-decorator]
def _log2(s: tl.tensor) -> tl.tensor:
    """log2 by the bits, as in mixture_kernel.cpp: off by at most 9e-8, on every device."""
    bits = s.to(tl.int32, bitcast=True)
    exponent = (bits - 0x3F3504F3) >> 23  # The bits of sqrt 1/2.
    t = (bits - (exponent << 23)).to(tl.float32, bitcast=True) - 1.0
    p = tl.fma(t, -0.14620353, 0.23420985)
    p = tl.fma(p, t, -0.24882181)
    p = tl.fma(p, t, 0.2870756)
    p = tl.fma(p, t, -0.36024198)
    p = tl.fma(p, t, 0.48092404)
    p = tl.fma(p, t, -0.72135276)
    p = tl.fma(p, t, 1.4426949)
    return tl.fma(p, t, exponent.to(tl.float32))
