"""How far long work has come: a worker writes it, others read it, and it takes the order to stop."""

import threading
import time
from dataclasses import dataclass, field
from typing import Any

from bertviz_core.errors import Cancelled
from bertviz_core.numbers import duration

SOON = 1.0  # seconds
LOADING = "Loading the model"  # the name of a stage


@dataclass
class Progress:
    """State of long work, which a worker changes while others read it; times in seconds of the monotonic clock.

    Attributes:
        done: How much of the stage is done, in units.
        total: How much there is in the stage; 0 where that is not known yet.
        unit: What is counted, in the plural.
        started: When the stage began.
        cancelled: Set to stop the work.
        losses: The losses of a training in this stage, in nats a word.
        before: How much an earlier job had done.
        pass_number: The number of the pass, from 1.
        passes: How many passes there are.
        subject: Whose pass it is.
        begun: When the first pass began.
    """

    stage: str = "waiting"
    done: int = 0
    total: int = 0
    unit: str = "segments"
    started: float = field(default_factory=time.monotonic)
    cancelled: threading.Event = field(default_factory=threading.Event)
    losses: list[float] = field(default_factory=list)
    before: int = 0
    pass_number: int = 1
    passes: int = 1
    subject: str = ""
    begun: float = field(default_factory=time.monotonic)

    def start_pass(self, number: int, passes: int, subject: str) -> None:
        """Begin one of several passes; raises Cancelled when someone asked for it."""
        if number == 1:
            self.begun = time.monotonic()
        self.pass_number = number
        self.passes = passes
        self.subject = subject
        self.start(LOADING)

    def start(self, stage: str, total: int = 0, unit: str = "segments") -> None:
        """Begin a stage; raises Cancelled when someone asked for it."""
        self.stage = stage
        self.total = total
        self.unit = unit
        self.started = time.monotonic()
        self.done = 0
        self.before = 0
        self.losses = []
        self.advance(0)

    def advance(self, count: int) -> None:
        """Count work done; raises Cancelled when someone asked for it."""
        if self.cancelled.is_set():
            raise Cancelled()
        self.done += count

    def snapshot(self) -> dict[str, Any]:
        """All fields but `cancelled`, as JSON, for another process of this machine, where the clock is the same."""
        return {name: value for name, value in vars(self).items() if name != "cancelled"}

    @property
    def fraction(self) -> float:
        """Share of the work that is done, from 0 to 1; passes count as equally long."""
        part = min(1.0, self.done / total) if (total := self.total) else 0.0
        return (self.pass_number - 1 + part) / self.passes

    @property
    def rate(self) -> float:
        """Units a second; 0 within the first SOON seconds of a stage, whose rate says little about the rest."""
        seconds = time.monotonic() - self.started
        return (self.done - self.before) / seconds if seconds >= SOON else 0.0

    @property
    def eta(self) -> float | None:
        """Seconds to go in this stage and in the passes after this one, each of which is taken to be as long as the
        mean of those so far; None while the rate is not known."""
        if not self.total or not (rate := self.rate):
            return None
        left = (self.total - self.done) / rate
        passes_so_far = time.monotonic() - self.begun + left
        return left + (self.passes - self.pass_number) * passes_so_far / self.pass_number

    @property
    def brief(self) -> str:
        """How far the pass is in a few words, as "34%, 12 per s, about 40 s left"."""
        parts = [f"{self.done / self.total:.0%}"] if self.total else [self.stage]
        parts += [f"{self.rate:,.0f} per s"] if self.rate >= 1 else []
        parts += [f"about {duration(left)} left"] if (left := self.eta) is not None else []
        return ", ".join(parts)

    def __str__(self) -> str:
        subject = f"Pass {self.pass_number} of {self.passes} ({self.subject}): " if self.passes > 1 else ""
        if not self.total:
            return subject + self.stage
        text = f"{subject}{self.stage}: {self.done:,} of {self.total:,} {self.unit}"
        if rate := self.rate:
            text += f", {1 / rate:,.0f} s each" if rate < 1 else f", {rate:,.0f} per second"
        if (left := self.eta) is not None:
            text += f", about {duration(left)} left"
        return text
