"""Turns of pages that run: they share one interpreter, and a few at a time are sooner done than all at once."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager

MAX_RUNNING_PAGES = 2
TURN_TIMEOUT_S = 2.0  # seconds that a page waits for its turn: an earlier page may be loading a large model

_turns = threading.Semaphore(MAX_RUNNING_PAGES)


@contextmanager
def page_turn() -> Iterator[None]:
    """Wait at most TURN_TIMEOUT_S seconds until fewer than MAX_RUNNING_PAGES pages run."""
    has_turn = _turns.acquire(timeout=TURN_TIMEOUT_S)
    try:
        yield
    finally:
        if has_turn:
            _turns.release()
