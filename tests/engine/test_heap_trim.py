"""Memory that is freed goes back to the system."""

import ctypes
import sys
from pathlib import Path

import numpy as np
import pytest

from bertviz_core.engine import heap_trim


def resident() -> int:
    """Bytes."""
    return 4096 * int(Path("/proc/self/statm").read_text().split()[1])


@pytest.mark.skipif(sys.platform != "linux" or heap_trim._malloc_trim() is None, reason="another C library")
def test_holes_in_the_heap_are_given_back():
    """Every second array stays, so that the heap cannot shrink at its end."""
    arrays = [np.ones(100_000, dtype=np.uint8) for _ in range(4000)]  # below the least size that is mapped alone
    del arrays[::2]
    before = resident()
    heap_trim.give_back()
    assert before - resident() > 100_000_000
    assert all(array[0] == 1 for array in arrays)


def test_another_library_has_nothing_to_call(monkeypatch):
    heap_trim._malloc_trim.cache_clear()
    monkeypatch.setattr(ctypes, "CDLL", lambda name: object())
    heap_trim.give_back()
    heap_trim._malloc_trim.cache_clear()
