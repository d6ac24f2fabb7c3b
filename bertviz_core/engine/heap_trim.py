"""Gives freed memory back to the system: batches of ever new shapes leave holes in the C library's heap, which small
objects that stay would otherwise keep resident for good."""

import ctypes
from collections.abc import Callable
from contextlib import suppress
from functools import cache


def give_back() -> None:
    """Return the heap's free pages to the system, where the C library is glibc; elsewhere nothing happens."""
    if trim := _malloc_trim():
        trim(0)


@cache
def _malloc_trim() -> Callable[[int], int] | None:
    with suppress(AttributeError, OSError, TypeError):  # Another C library, and Windows, have no such function.
        return ctypes.CDLL(None).malloc_trim
    return None
