"""Progress of long work: counted, timed, and the place where a cancel takes effect."""

from __future__ import annotations

import threading
import time
from dataclasses import dataclass, field
from typing import Any

from bertviz_core.errors import Cancelled

COUNTS = ("stage", "done", "total", "unit", "before")


@dataclass
class Progress:
    """Written by a worker, read by anyone. `done` and `total` are in `unit`s; `total` 0 means not known yet.

    losses: what a training has reached so far in this stage, in nats a word.   before: how much of `done` an earlier
    job has done.
    """

    stage: str = "waiting"
    done: int = 0
    total: int = 0
    unit: str = "segments"
    started: float = field(default_factory=time.monotonic)
    cancelled: threading.Event = field(default_factory=threading.Event)
    losses: list[float] = field(default_factory=list)
    before: int = 0

    def start(self, stage: str, total: int = 0, unit: str = "segments", before: int = 0) -> None:
        """Begin a stage; raises Cancelled when someone asked for it."""
        self.stage, self.done, self.total, self.unit, self.started = stage, before, total, unit, time.monotonic()
        self.before = before
        self.losses = []
        self.advance(0)

    def advance(self, count: int) -> None:
        """Count work done; raises Cancelled when someone asked for it."""
        if self.cancelled.is_set():
            raise Cancelled()
        self.done += count

    def snapshot(self) -> dict[str, Any]:
        """Everything but the cancel, as JSON: what one process shows another."""
        elapsed = time.monotonic() - self.started
        counts = {name: getattr(self, name) for name in COUNTS}
        return counts | {"elapsed": elapsed, "losses": list(self.losses)}

    def restore(self, snapshot: dict[str, Any]) -> None:
        """Take over another process's `snapshot`."""
        self.started = time.monotonic() - snapshot["elapsed"]
        for name in (*COUNTS, "losses"):
            setattr(self, name, snapshot[name])

    @property
    def fraction(self) -> float:
        return min(1.0, self.done / self.total) if self.total else 0.0

    @property
    def rate(self) -> float:
        """Units a second since the stage began."""
        return (self.done - self.before) / max(time.monotonic() - self.started, 1e-6)

    @property
    def eta(self) -> float | None:
        """Seconds to go in this stage, None while that is not known."""
        return (self.total - self.done) / self.rate if self.total and self.done > self.before else None

    def __str__(self) -> str:
        if not self.total:
            return self.stage
        eta = f", about {self.eta:,.0f} s left" if self.eta is not None else ""
        slow = 0 < self.rate < 1
        pace = f"{1 / self.rate:,.0f} s each" if slow else f"{self.rate:,.0f} per second"
        return f"{self.stage}: {self.done:,} of {self.total:,} {self.unit}, {pace}{eta}"
