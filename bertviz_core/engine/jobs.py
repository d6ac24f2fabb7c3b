"""Background work: a bounded queue of jobs that can be cancelled; equal requests share a job by its key."""

from __future__ import annotations

import logging
import threading
import traceback
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Literal

from bertviz_core.access import LOCAL, Access
from bertviz_core.engine.progress import Progress
from bertviz_core.errors import BertvizError, Cancelled, QueueFull, unexpected

State = Literal["waiting", "running", "done", "failed", "cancelled"]
Runner = Callable[[Any, Progress], None]
log = logging.getLogger(__name__)


@dataclass(eq=False)
class Job:
    """One piece of work, and the sessions that requested it; when the last of them leaves, it is cancelled."""

    key: str  # equal keys, equal results
    title: str
    task: Any = None  # what the runner is given
    sessions: set[str] = field(default_factory=set)
    progress: Progress = field(default_factory=Progress)
    state: State = "waiting"
    error: BertvizError | None = None  # for people, once the state is "failed" or "cancelled"

    @property
    def finished(self) -> bool:
        return self.state in ("done", "failed", "cancelled")

    def finish(self, state: State, error: BertvizError | None = None) -> Job:
        """Set the error, then the final state: whoever reads the state may read the error next."""
        self.error = error
        self.state = state
        return self


class JobQueue:
    """The jobs of one device, run one after another in a thread; `access` says how many may wait and run. The runner
    performs a task: it blocks, writes the progress that it is given, and raises Cancelled soon after that asks for it.
    """

    def __init__(self, runner: Runner, access: Access = LOCAL) -> None:
        self._runner, self._access = runner, access
        self._jobs: list[Job] = []  # unfinished; the first one runs
        self._lock = threading.Lock()

    def submit(self, key: str, title: str, task: Any, session_id: str) -> Job:
        """Queue a job, or join the one of the same key that is not cancelled.

        Raises:
            QueueFull: as many jobs wait as may, in all or of this session.
        """
        with self._lock:
            if job := next((job for job in self._jobs if job.key == key and job.sessions), None):
                job.sessions.add(session_id)
                return job
            if len(self.jobs_of(session_id)) >= self._access.session_jobs:
                hint = "Wait for the last one to finish, or cancel it in the sidebar."
                raise QueueFull("You cannot queue more jobs.", hint=hint)
            if len(self._jobs) >= self._access.jobs:
                what = f"The queue is full: {self._access.jobs} jobs are unfinished."
                raise QueueFull(what, hint="Try again when some have finished.")
            self._jobs.append(job := Job(key, title, task, {session_id}))
            if len(self._jobs) == 1:  # a daemon: the server's end waits for no job
                threading.Thread(target=self._work, name="jobs", daemon=True).start()
            return job

    def leave(self, job: Job, session_id: str) -> None:
        """Withdraw this session's request; when the last session leaves, the job is cancelled, at once if it waits."""
        with self._lock:
            job.sessions.discard(session_id)
            if not job.sessions and not job.finished:
                job.progress.cancelled.set()
                if job in self._jobs[1:]:
                    self._jobs.remove(job)
                    job.finish("cancelled", Cancelled())

    def leave_all(self, session_id: str) -> None:
        """Withdraw all requests of this session."""
        for job in self.jobs_of(session_id):
            self.leave(job, session_id)

    def jobs_of(self, session_id: str) -> list[Job]:
        """The unfinished jobs that this session wants."""
        return [job for job in list(self._jobs) if session_id in job.sessions]

    def before(self, job: Job) -> int:
        """Number of jobs that run, or start, before this one."""
        with self._lock:
            return self._jobs.index(job) if job in self._jobs else 0

    def _work(self) -> None:
        """Perform the jobs until none is left."""
        job: Job | None = self._jobs[0]
        while job:
            job.state = "running"
            state, error = outcome(self._runner, job.task, job.progress, job.title)
            with self._lock:
                self._jobs.remove(job)
                job.finish(state, error)
                job = self._jobs[0] if self._jobs else None


def outcome(runner: Runner, task: Any, progress: Progress, title: str) -> tuple[State, BertvizError | None]:
    """Perform a task to a final state, even where it raises."""
    try:
        progress.start("Starting")
        runner(task, progress)
    except Cancelled as error:
        return "cancelled", error
    except BertvizError as error:
        return "failed", error
    except BaseException as error:  # a panic in Rust is not an Exception
        log.error("%s failed\n%s", title, traceback.format_exc())
        return "failed", unexpected(error)
    return "done", None
