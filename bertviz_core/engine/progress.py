"""Progress of long work: counts, timing, and the points where a cancel takes effect."""

import threading
import time
from dataclasses import dataclass, field
from typing import Any

from bertviz_core.errors import Cancelled


@dataclass
class Progress:
    """State of long work, written by a worker and read by any thread; times in seconds of the monotonic clock."""

    stage: str = "waiting"
    done: int = 0  # how much of the stage, in units
    total: int = 0  # 0 where it is not known yet
    unit: str = "segments"
    started: float = field(default_factory=time.monotonic)  # the stage
    cancelled: threading.Event = field(default_factory=threading.Event)  # set to stop the work
    losses: list[float] = field(default_factory=list)  # of a training in this stage, in nats a word
    before: int = 0  # how much of `done` an earlier job has done
    pass_number: int = 1
    passes: int = 1
    subject: str = ""  # whose pass it is
    begun: float = field(default_factory=time.monotonic)  # the first pass

    def start_pass(self, number: int, passes: int, subject: str) -> None:
        """Begin one of several passes; raises Cancelled when someone asked for it."""
        if number == 1:
            self.begun = time.monotonic()
        self.pass_number, self.passes, self.subject = number, passes, subject
        self.start("Loading the model")

    def start(self, stage: str, total: int = 0, unit: str = "segments", before: int = 0) -> None:
        """Begin a stage; raises Cancelled when someone asked for it."""
        self.stage, self.done, self.total, self.unit, self.started = stage, before, total, unit, time.monotonic()
        self.before, self.losses = before, []
        self.advance(0)

    def advance(self, count: int) -> None:
        """Count work done; raises Cancelled when someone asked for it."""
        if self.cancelled.is_set():
            raise Cancelled()
        self.done += count

    def snapshot(self) -> dict[str, Any]:
        """Everything but the cancel, as JSON: what one process shows another, whose clock is the same."""
        return {name: value for name, value in vars(self).items() if name != "cancelled"}

    def restore(self, snapshot: dict[str, Any]) -> None:
        """Take over another process's `snapshot`."""
        vars(self).update(snapshot)

    @property
    def fraction(self) -> float:
        """Share of the work that is done, from 0 to 1; passes count as equally long."""
        part = min(1.0, self.done / self.total) if self.total else 0.0
        return (self.pass_number - 1 + part) / self.passes

    @property
    def rate(self) -> float:
        """Units a second since the stage began."""
        return (self.done - self.before) / max(time.monotonic() - self.started, 1e-6)

    @property
    def eta(self) -> float | None:
        """Seconds to go in this stage, or in all passes where there are several; None while that is not known."""
        if self.passes > 1:
            return (time.monotonic() - self.begun) * (1 / self.fraction - 1) if self.fraction else None
        return (self.total - self.done) / self.rate if self.total and self.done > self.before else None

    def __str__(self) -> str:
        subject = f"Pass {self.pass_number} of {self.passes} ({self.subject}): " if self.passes > 1 else ""
        if not self.total:
            return subject + self.stage
        eta = f", about {self.eta:,.0f} s left" if self.eta is not None else ""
        pace = f"{1 / self.rate:,.0f} s each" if 0 < self.rate < 1 else f"{self.rate:,.0f} per second"
        return f"{subject}{self.stage}: {self.done:,} of {self.total:,} {self.unit}, {pace}{eta}"
