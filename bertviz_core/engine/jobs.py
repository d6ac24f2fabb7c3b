"""A bounded queue of jobs that can be cancelled, equal ones shared by their key."""

import logging
import threading
from collections.abc import Callable, Collection
from dataclasses import dataclass, field
from typing import Any, Literal

from bertviz_core.engine.progress import Progress
from bertviz_core.errors import BertvizError, Cancelled, QueueFull, Unexpected
from bertviz_core.settings import LOCAL, Access

State = Literal["waiting", "running", "done", "failed", "cancelled"]
log = logging.getLogger(__name__)


Runner = Callable[[Any, Progress], None]  # performs a task; raises Cancelled soon after its progress is cancelled


@dataclass(eq=False)
class Job:
    """A task of one or several sessions; when the last of them leaves, it is cancelled.

    Attributes:
        key: The key of its results.
        tasks: From each session that requested it to what the runner would compute for it: the same, of equal files
            that each session has uploaded for itself, under its own name. The first that has not left is performed.
        performed: The task that is performed, or was the last; None before.
        progress: How far it is.
        state: Whether it waits, runs or has ended.
        error: Why it has ended, once the state is "failed" or "cancelled".
    """

    key: str
    title: str
    tasks: dict[str, Any] = field(default_factory=dict)
    performed: Any = None
    progress: Progress = field(default_factory=Progress)
    state: State = "waiting"
    error: BertvizError | None = None

    @property
    def sessions(self) -> Collection[str]:
        """The sessions that requested it and have not left."""
        return self.tasks.keys()

    @property
    def finished(self) -> bool:
        """Whether it has ended."""
        return self.state in ("done", "failed", "cancelled")

    def finish(self, state: State, error: BertvizError | None = None) -> "Job":
        """Set the error, then the final state: whoever reads the state may read the error next."""
        self.error, self.state = error, state
        return self


class JobQueue:
    """The jobs of one device, as many as `access` allows, performed one after another in a thread."""

    def __init__(self, runner: Runner, access: Access = LOCAL) -> None:
        self._runner = runner
        self._access = access
        self._jobs: list[Job] = []  # the unfinished jobs, of which the first one runs
        self._lock = threading.Lock()

    def submit(self, key: str, title: str, task: Any, session_id: str) -> Job:
        """Queue a job, or join that of the same key which is not cancelled.

        Raises:
            QueueFull: No more may wait.
        """
        with self._lock:
            if job := next((job for job in self._jobs if job.key == key and job.sessions), None):
                job.tasks[session_id] = task
                return job
            if len(self.jobs_of(session_id)) >= (1 if self._access.public else self._access.jobs):
                hint = "Wait for the last one to finish, or cancel it in the sidebar."
                raise QueueFull("You cannot queue more jobs.", hint=hint)
            if len(self._jobs) >= self._access.jobs:
                what = f"The queue is full: {self._access.jobs} jobs are unfinished."
                raise QueueFull(what, hint="Try again when some have finished.")
            self._jobs.append(job := Job(key, title, {session_id: task}))
            if len(self._jobs) == 1:  # The thread is a daemon, so that the end of the server waits for no job.
                threading.Thread(target=self._work, name="jobs", daemon=True).start()
            return job

    def leave(self, job: Job, session_id: str) -> None:
        """Withdraw this session's request; when the last session leaves, the job is cancelled, at once if it waits."""
        with self._lock:
            job.tasks.pop(session_id, None)
            if not job.sessions and not job.finished:
                job.progress.cancelled.set()
                if job in self._jobs[1:]:
                    self._jobs.remove(job)
                    job.finish("cancelled", Cancelled())

    def join(self, job: Job, session_id: str) -> bool:
        """Whether an unfinished job which is not cancelled has this session now, too."""
        with self._lock:
            is_joined = job in self._jobs and bool(job.sessions)
            if is_joined:
                job.tasks.setdefault(session_id, next(iter(job.tasks.values())))
            return is_joined

    def leave_all(self, session_id: str) -> None:
        """Withdraw all requests of a session."""
        for job in self.jobs_of(session_id):
            self.leave(job, session_id)

    def jobs_of(self, session_id: str) -> list[Job]:
        """The unfinished jobs that a session requested."""
        return [job for job in list(self._jobs) if session_id in job.sessions]

    def unfinished(self) -> list[Job]:
        """All jobs that wait or run, in their order."""
        return list(self._jobs)

    def before(self, job: Job) -> int:
        """Number of jobs ahead of this one."""
        jobs = list(self._jobs)
        return jobs.index(job) if job in jobs else 0

    def _work(self) -> None:
        job: Job | None = self._jobs[0]
        while job:
            job.state = "running"
            state, error = self._perform(job)
            with self._lock:
                self._jobs.remove(job)
                job.finish(state, error)
                job = self._jobs[0] if self._jobs else None

    def _perform(self, job: Job) -> tuple[State, BertvizError | None]:
        """Perform the task of a session; where it fails and its session has left, whose files are then gone, that of
        another session."""
        while True:
            with self._lock:
                session, job.performed = next(iter(job.tasks.items()), ("", None))
            state, error = outcome(self._runner, job.performed, job.progress, job.title)
            if state != "failed" or session in job.sessions or not job.sessions:
                return state, error


def outcome(runner: Runner, task: Any, progress: Progress, title: str) -> tuple[State, BertvizError | None]:
    """Perform a task to its final state and error, whatever it raises."""
    try:
        progress.start("Starting")
        runner(task, progress)
    except Cancelled as error:
        return "cancelled", error
    except BertvizError as error:
        return "failed", error
    except BaseException as error:  # A panic in Rust is no Exception.
        log.exception("%s failed", title)
        return "failed", Unexpected(error)
    return "done", None
