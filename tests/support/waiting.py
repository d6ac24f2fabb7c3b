"""Waiting for what other threads do, and work that is cancelled on its way."""

import time

from bertviz_core.engine.jobs import Job
from bertviz_core.engine.progress import Progress


def until(true, seconds: float = 60) -> None:
    ends = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < ends, "waited in vain"
        time.sleep(0.01)


def wait_for(job: Job) -> Job:
    until(lambda: job.finished)
    return job


class Stops(Progress):
    """Is cancelled in a stage after so many tokens, or a share of them, beside those of an earlier job."""

    def __init__(self, after: float, stage: str = "Running the model") -> None:
        super().__init__()
        self.after, self.last_stage = after, stage

    def advance(self, count: int) -> None:
        super().advance(count)
        after = self.after * (self.total if self.after < 1 else 1)
        if self.stage.startswith(self.last_stage) and self.done - self.before > after:
            self.cancelled.set()
