"""Jensen-Shannon divergences between all pairs of heads (docs/methods.md, section 9; Figure 6).

JS(P, Q) = H((P + Q) / 2) - (H(P) + H(Q)) / 2 = (ln 2 / 2) [(S_pp + S_qq) / 2 - S_pq] nats, with s = p + q and S_pq the
sum of s log2 s over positions (row, column): one logarithm for each pair and position, and JS(P, P) is exactly 0.

Sums are float32 within a chunk of positions and float64 across chunks: off by about 1e-7 nats a row. Pairs that are
close are computed again without cancellation. On a CPU with a compiler a kernel is about nine times as fast as torch;
on a CUDA device with Triton, which comes with PyTorch there, another one reads the maps once.
"""

import ctypes
import math
import shutil
import subprocess
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict
from functools import cache, partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Self

import numpy as np
import torch
from torch import Tensor

from bertviz_core.analyses.base.accumulators import SegmentSums, as_tensor
from bertviz_core.analyses.base.request import Request
from bertviz_core.analyses.base.result import Provenance
from bertviz_core.analyses.behaviors import QUANTITIES, Thresholds
from bertviz_core.analyses.clustering.embedding import dendrogram, embed
from bertviz_core.analyses.clustering.result import Clustering
from bertviz_core.analyses.entropy import measure as entropy
from bertviz_core.analyses.entropy.result import QUANTITIES as ENTROPY_QUANTITIES
from bertviz_core.analyses.surface_patterns import measure as surface_patterns
from bertviz_core.analyses.surface_patterns.result import QUANTITIES as SURFACE_QUANTITIES
from bertviz_core.engine.packing import PackedValues
from bertviz_core.inputs.encoding import Batch
from bertviz_core.inputs.segments import Segments
from bertviz_core.inputs.tensors import device_of_sums, in_float64
from bertviz_core.models.attention import LayerAttention
from bertviz_core.models.model import AttentionModel

SMOOTHING = 0.001  # The release has 0.001 / N + 0.999 A in place of A.
TINY = 1e-30  # It stands for a weight of 0, so that 0 log 0 is 0 to any precision without a special case.
RECOMPUTED_NATS = 1e-5  # Pairs that differ by fewer nats a row are computed again.
CHUNK = 1024  # positions that are summed in float32
CPU_BUFFER = 1 << 18  # elements of a head's mixtures that fit into a CPU's cache
GPU_BUFFER = 1 << 26  # elements that keep a GPU busy
BELOW_ONE = 1 - 2**-24  # the largest float32 below 1
SOURCE = Path(__file__).with_name("mixture_kernel.cpp")
LANES = 16  # positions per vector of the kernel
Kernel = Callable[[int, int, int, int, int], None]


class DivergenceSums(SegmentSums[LayerAttention]):
    """Accumulates the averages that decide behaviors, and JS between all pairs of heads.

    JS(P, Q) = H((P + Q) / 2) - (H(P) + H(Q)) / 2 is summed over the rows of real tokens, in nats (docs/methods.md,
    section 9). The maps of a batch are kept from its first layer to its last.

    Attributes:
        smoothed: Whether maps are smoothed, as the release does.
        tokens: How many rows have been summed.
        divergence: (head, head) sums over rows, float64, heads of all layers counted layer by layer.
        maps: (head, position) float32 maps of the batch in progress; None between batches.
    """

    def __init__(self, smoothed: bool, *args: Any) -> None:
        super().__init__(*args)
        self.arguments = (smoothed, *args)
        self.smoothed = smoothed
        self.tokens = 0
        layers, heads = self.top.shape[:2]
        square = (layers * heads, layers * heads)
        self.divergence = torch.zeros(square, dtype=torch.float64, device=device_of_sums(self.device))
        self.maps: Tensor | None = None

    def update(self, batch: Batch, layer: LayerAttention) -> None:
        """Add one layer of a batch; its layers come in order, and with the last one the divergences are added."""
        super().update(batch, layer)
        layers, heads = self.top.shape[:2]
        weights = layer.weights
        if self.smoothed:
            weights = SMOOTHING * batch.row_weights[:, None, None] + (1 - SMOOTHING) * weights
        weights = weights * batch.mask[:, None, :, None]  # The rows of padding become 0.
        weights = weights.transpose(0, 1).flatten(1)  # (head, position)
        size = weights.shape[1]
        if self.maps is None:
            self.maps = weights.new_zeros(layers * heads, LANES * -(-size // LANES))
        first = layer.layer * heads
        end = first + heads
        self.maps[first:end, :size] = weights
        if layer.layer == layers - 1:
            self.divergence += divergences(self.maps, batch.tokens())
            self.tokens += batch.tokens()
            self.maps = None

    def merge(self, other: Self) -> None:
        super().merge(other)
        self.divergence += other.divergence
        self.tokens += other.tokens

    def state(self) -> PackedValues:
        return super().state() | {"divergence": self.divergence, "tokens": self.tokens}

    def restore(self, state: PackedValues) -> None:
        super().restore(state)
        self.divergence = as_tensor(state["divergence"], self.divergence)
        self.tokens = state["tokens"]


def behavior_values(batch: Batch, attention: LayerAttention, smoothed: bool = False) -> Tensor:
    """(batch, head, quantity) for surface_patterns.QUANTITIES and entropy.QUANTITIES."""
    return torch.cat([surface_patterns.measure(batch, attention), entropy.measure(batch, attention, smoothed)], -1)


def accumulator(model: AttentionModel, request: Request) -> DivergenceSums:
    """The accumulator for one pass; mode "as in the paper" compares 0.001 / N + 0.999 A, as the release does
    (docs/methods.md, section 9)."""
    smoothed = request.settings.paper
    known = SURFACE_QUANTITIES + ENTROPY_QUANTITIES
    values = partial(behavior_values, smoothed=smoothed)
    return DivergenceSums(smoothed, known, values, model.layers, model.heads, model.device)


def finish(sums: DivergenceSums, segments: Segments, provenance: Provenance) -> Clustering:
    """Create the result: mean divergences per token, their embedding by the run's seed, and their dendrogram.

    Args:
        sums: The sums over the whole corpus; in mode "as in the paper" these themselves take the place of the means.
        segments: The corpus as it was read.
        provenance: What the result was computed from.
    """
    divergence = sums.divergence.cpu().numpy() / (1 if sums.smoothed else sums.tokens)
    seed = provenance["settings"]["seed"]
    embedding, stress = embed(divergence, seed)
    linkage, order = dendrogram(divergence)
    return Clustering(
        provenance=provenance,
        divergence=divergence,
        averages=sums.result()["mean"][[sums.quantities.index(name) for name in QUANTITIES]],
        tokens=sums.tokens,
        embedding=embedding,
        stress=stress,
        linkage=linkage,
        order=order,
        mds_seed=seed,
        root=False,
        thresholds=asdict(Thresholds()),
        named={},
    )


def divergences(maps: Tensor, rows: int) -> Tensor:
    """Sum JS between two heads' rows over all rows, for all pairs of heads (docs/methods.md, section 9).

    Args:
        maps: (head, position) float32, contiguous, a position being a row and a key; the number of positions is a
            multiple of LANES. They are changed in place: 0 becomes TINY. A position that holds 0 for every head counts
            nothing.
        rows: How many rows are not padding, for the limit RECOMPUTED_NATS, which is per row.

    Returns:
        (head, head) float64, symmetric, in nats.
    """
    maps.clamp_(min=TINY)
    sums = _sums(maps)
    own = sums.diagonal()
    divergence = ((own[:, None] + own) / 2 - sums).triu(1) * (math.log(2) / 2)
    _redo_close(maps, divergence, RECOMPUTED_NATS * rows)
    return divergence + divergence.T


def _sums(maps: Tensor) -> Tensor:
    """`torch_sums` by the fastest way that there is."""
    if maps.device.type == "cpu" and (kernel := build_kernel()):
        return kernel_sums(kernel, maps)
    if maps.device.type == "cuda" and (sums := load_gpu_kernel(str(maps.device))):
        return sums(maps)
    return torch_sums(maps)


def torch_sums(maps: Tensor) -> Tensor:
    """(head, head) float64: sum over positions of s log2 s, s = p + q; upper triangle and diagonal, 0 below."""
    device = device_of_sums(str(maps.device))
    sums = torch.zeros(len(maps), len(maps), dtype=torch.float64, device=device)
    for part in _parts(maps, len(maps)):
        for head in range(len(maps)):
            mixture = part[head] + part[head:]
            sums[head, head:] += in_float64(mixture.log2().mul_(mixture).sum(-1)).sum(-1)
    return sums


def _parts(maps: Tensor, heads: int) -> Iterator[Tensor]:
    """(head, chunk, position) views, of as many chunks as the buffer holds of so many heads; then one of the rest."""
    buffer = CPU_BUFFER if maps.device.type == "cpu" else GPU_BUFFER
    chunks = maps.shape[1] // CHUNK
    whole = maps[:, : chunks * CHUNK].unflatten(1, (chunks, CHUNK))
    count = max(1, buffer // (heads * CHUNK))
    yield from whole.split(count, 1)
    yield maps[:, None, chunks * CHUNK :]


def _redo_close(maps: Tensor, divergence: Tensor, limit: float) -> None:
    """Replace sums under `limit`, in place, by the sum of (s/4) [2 d atanh d + log(1 - d^2)], d = (p - q) / s."""
    close = (divergence < limit).triu(1).cpu().numpy()
    for head in np.flatnonzero(close.any(1)).tolist():
        others = torch.from_numpy(np.flatnonzero(close[head]))
        divergence[head, others] = 0.0
        for part in _parts(maps, len(others)):
            p = part[head]
            q = part[others]
            s = p + q
            d = ((p - q) / s).clamp_(-BELOW_ONE, BELOW_ONE)
            terms = (2 * d * d.atanh()).add_(d.square().neg_().log1p_()).mul_(s)
            divergence[head, others] += in_float64(terms.sum(-1)).sum(-1) / 4


@cache
def build_kernel() -> Kernel | None:
    """Compile the kernel and load it; None without a compiler, or if that fails."""
    compiler = shutil.which("g++") or shutil.which("c++")
    if compiler is None:
        return None
    with TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        library = f"{folder}/mixture_kernel.so"
        command = [compiler, "-O3", "-march=native", "-shared", "-fPIC", "-o", library, str(SOURCE)]
        try:
            subprocess.run(command, check=True, capture_output=True, timeout=60)
            function = ctypes.CDLL(library).mixture_sums
        except (OSError, subprocess.SubprocessError):
            return None
    function.argtypes = [ctypes.c_void_p, ctypes.c_long, ctypes.c_long, ctypes.c_long, ctypes.c_void_p]
    function.restype = None
    return function


@cache
def load_gpu_kernel(device: str) -> Callable[[Tensor], Tensor] | None:
    """The kernel in Triton for a CUDA device, from maps (head, position) to sums (head, head); None without Triton, or
    where it cannot compile, for which it needs a C compiler."""
    try:
        from bertviz_core.analyses.clustering.mixture_triton import mixture_sums

        mixture_sums(torch.ones(1, LANES, device=device))
    except torch.OutOfMemoryError:
        raise  # So that the batch is halved.
    except Exception:  # Those of Triton's compiler have no class in common.
        return None
    return mixture_sums


def kernel_sums(kernel: Kernel, maps: Tensor) -> Tensor:
    """As `torch_sums`, of positive maps (head, position): every thread that torch may use takes a share of the
    positions."""
    heads, positions = maps.shape
    threads = torch.get_num_threads()
    share = LANES * -(-positions // (LANES * threads))
    starts = range(0, positions, share)
    sums = torch.zeros(len(starts), heads, heads, dtype=torch.float64)

    def part(index: int) -> None:
        length = min(share, positions - starts[index])
        first = maps.data_ptr() + starts[index] * maps.element_size()
        kernel(first, heads, length, maps.stride(0), sums[index].data_ptr())

    with ThreadPoolExecutor(threads) as pool:
        list(pool.map(part, range(len(starts))))
    return sums.sum(0)
