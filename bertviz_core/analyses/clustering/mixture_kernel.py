"""The native kernel for sums of s log2 s: built by the system's C++ compiler on first use, in about 0.1 s.

It is built again in every process that needs it, into a folder that is gone at once, so that no stale or foreign file
is ever loaded. Where there is no compiler, the caller has a torch path.
"""

from __future__ import annotations

import ctypes
import shutil
import subprocess
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from torch import Tensor

SOURCE = Path(__file__).with_suffix(".cpp")
LANES = 16  # the kernel reads positions in vectors of so many
Kernel = Callable[[int, int, int, int, int], None]


@cache
def build() -> Kernel | None:
    """The compiled function, or None where it cannot be had."""
    compiler = shutil.which("g++") or shutil.which("c++")
    if compiler is None:
        return None
    with TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        library = Path(folder) / "mixture_kernel.so"
        command = [compiler, "-O3", "-march=native", "-shared", "-fPIC", "-o", str(library), str(SOURCE)]
        try:
            subprocess.run(command, check=True, capture_output=True, timeout=60)
            function = ctypes.CDLL(str(library)).mixture_sums
        except (OSError, subprocess.SubprocessError):
            return None
    function.argtypes = [ctypes.c_void_p, ctypes.c_long, ctypes.c_long, ctypes.c_long, ctypes.c_void_p]
    function.restype = None
    return function


def mixture_sums(kernel: Kernel, maps: Tensor) -> Tensor:
    """(head, head) float64 sums of s log2 s, upper triangle and diagonal, from positive float32 maps (head, position).

    The number of positions must be a multiple of LANES. Every thread that torch may use takes a share of them.
    """
    import torch

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
