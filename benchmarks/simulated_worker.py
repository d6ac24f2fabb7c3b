"""A worker that sleeps in place of a chunk, in a module that Ray's processes can import."""

from __future__ import annotations

import time


class Simulated:
    """Gives the same sums for every chunk."""

    def take_state(self, state: bytes) -> None:
        """The sums to give."""
        self.state = state

    def compute(self, seconds: float, data: bytes) -> bytes:
        """Sleep, and give the sums."""
        time.sleep(seconds)
        return self.state
