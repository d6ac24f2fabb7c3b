"""How the C library keeps freed memory, where it is glibc; elsewhere nothing happens."""

import ctypes
from collections.abc import Callable
from contextlib import suppress
from functools import cache

# Of malloc.h: the free memory at the end of the heap, and the size of a block, from which they go back to the system.
TRIM_THRESHOLD, MMAP_THRESHOLD = -1, -3
MOST_FREE = 2**28
LARGEST_BLOCK = 2**25  # the most that glibc allows


@cache
def reuse() -> None:
    """Let freed memory be used again: else the system takes back the maps of each layer and clears the pages of those
    of the next, again and again."""
    if mallopt := _function("mallopt"):
        mallopt(TRIM_THRESHOLD, MOST_FREE)
        mallopt(MMAP_THRESHOLD, LARGEST_BLOCK)


def give_back() -> None:
    """Return the heap's free pages to the system: batches of ever new shapes leave holes in it, which small objects
    that stay would otherwise keep resident for good."""
    if trim := _function("malloc_trim"):
        trim(0)


@cache
def _function(name: str) -> Callable[..., int] | None:
    with suppress(AttributeError, OSError, TypeError):  # Another C library, and Windows, have no such function.
        return getattr(ctypes.CDLL(None), name)
    return None
