"""Memory that is freed goes back to the system."""

import ctypes
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from bertviz_core.engine import heap


def resident() -> int:
    """Bytes."""
    return 4096 * int(Path("/proc/self/statm").read_text().split()[1])


@pytest.mark.skipif(sys.platform != "linux" or heap._function("malloc_trim") is None, reason="another C library")
def test_holes_in_the_heap_are_given_back():
    """Every second array stays, so that the heap cannot shrink at its end."""
    arrays = [np.ones(100_000, dtype=np.uint8) for _ in range(4000)]  # below the least size that is mapped alone
    del arrays[::2]
    before = resident()
    heap.give_back()
    assert before - resident() > 100_000_000
    assert all(array[0] == 1 for array in arrays)


REPEATED = """
import resource, numpy as np
from bertviz_core.engine import heap
if {reuse}:
    heap.reuse()
def use():
    arrays = [np.ones(3 * 2**20, dtype=np.uint8) for _ in range(5)]
    del arrays
use()
before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
for _ in range(20):
    use()
print(resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before)
"""


def new_pages(reuse: bool) -> int:
    """How many pages of memory a fresh process gets while it uses 15 MiB over and over."""
    code = REPEATED.format(reuse=reuse)
    return int(subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout)


@pytest.mark.skipif(sys.platform != "linux" or heap._function("mallopt") is None, reason="another C library")
def test_freed_memory_is_used_again():
    pages = 15 * 2**20 // 4096
    assert new_pages(reuse=False) > 10 * pages
    assert new_pages(reuse=True) < pages / 10


def test_another_library_has_nothing_to_call(monkeypatch):
    heap._function.cache_clear()
    monkeypatch.setattr(ctypes, "CDLL", lambda name: object())
    heap.reuse.cache_clear()
    heap.reuse()
    heap.give_back()
    heap.reuse.cache_clear()
    heap._function.cache_clear()
