"""Long work beside the pages: one worker, jobs by key so that equal requests share one, progress and cancel."""

from __future__ import annotations

import logging
import threading
import traceback
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any, Literal

from bertviz_core.engine.progress import Progress
from bertviz_core.errors import BertvizError, Cancelled

KEPT = 200  # finished jobs remembered
State = Literal["waiting", "running", "done", "failed", "cancelled"]
log = logging.getLogger(__name__)


@dataclass
class Job:
    """One piece of work. `error` is for people; a programming error is logged whole and shown in one line."""

    key: str
    title: str
    progress: Progress = field(default_factory=Progress)
    state: State = "waiting"
    error: BertvizError | None = None
    device: str = ""

    @property
    def finished(self) -> bool:
        return self.state in ("done", "failed", "cancelled")

    def cancel(self) -> None:
        """Ask it to stop; it does at the next batch."""
        self.progress.cancelled.set()


class Jobs:
    """A queue with one worker thread: the device does one thing at a time, and nothing here calls a page."""

    def __init__(self) -> None:
        self._pool = ThreadPoolExecutor(max_workers=1, thread_name_prefix="analysis")
        self._jobs: dict[str, Job] = {}
        self._lock = threading.Lock()

    def get(self, key: str) -> Job | None:
        """The job of this key, running or finished; None where there was none."""
        return self._jobs.get(key)

    def submit(self, key: str, title: str, work: Callable[[Progress], Any]) -> Job:
        """Queue the work, unless an unfinished job of the same key exists: that one is returned."""
        with self._lock:
            job = self._jobs.get(key)
            if job is None or job.finished:
                job = self._jobs[key] = Job(key, title)
                future = self._pool.submit(self._run, job, work)
                future.add_done_callback(_raise_nothing)
                self._forget_old()
            return job

    def waiting_before(self, job: Job) -> int:
        """How many unfinished jobs were asked for earlier."""
        keys = [key for key, other in self._jobs.items() if not other.finished]
        return keys.index(job.key) if job.key in keys else 0

    def _run(self, job: Job, work: Callable[[Progress], Any]) -> None:
        job.state = "running"
        try:
            job.progress.start("Starting")
            work(job.progress)
            job.state = "done"
        except Cancelled as error:
            job.error, job.state = error, "cancelled"
        except BertvizError as error:
            job.error, job.state = error, "failed"
        except Exception as error:
            log.error("job %s failed\n%s", job.title, traceback.format_exc())
            said = f"The job failed unexpectedly ({type(error).__name__}: {str(error)[:200]})."
            job.error = BertvizError(said, hint="Earlier results stay. The server's log has the details.")
            job.state = "failed"

    def _forget_old(self) -> None:
        finished = [key for key, job in self._jobs.items() if job.finished]
        for key in finished[: max(0, len(finished) - KEPT)]:
            del self._jobs[key]


def _raise_nothing(future: Future[None]) -> None:
    """A job's errors are in the job; reading the future's keeps it from being reported twice."""
    future.exception()
