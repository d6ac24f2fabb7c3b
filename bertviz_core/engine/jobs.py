"""A bounded queue of jobs that can be cancelled, equal ones shared by their key; and the progress of long work."""

import logging
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Literal

from bertviz_core.errors import BertvizError, Cancelled, QueueFull, Unexpected
from bertviz_core.settings import LOCAL, Access

State = Literal["waiting", "running", "done", "failed", "cancelled"]
log = logging.getLogger(__name__)


@dataclass
class Progress:
    """State of long work, which a worker changes while others read it; times in seconds of the monotonic clock."""

    stage: str = "waiting"
    done: int = 0  # of the stage, in units
    total: int = 0  # 0 where not known yet
    unit: str = "segments"
    started: float = field(default_factory=time.monotonic)  # the stage
    cancelled: threading.Event = field(default_factory=threading.Event)  # set to stop the work
    losses: list[float] = field(default_factory=list)  # of a training in this stage, in nats a word
    before: int = 0  # done by an earlier job
    pass_number: int = 1
    passes: int = 1
    subject: str = ""  # whose pass it is
    begun: float = field(default_factory=time.monotonic)  # the first pass

    def start_pass(self, number: int, passes: int, subject: str) -> None:
        """Begin one of several passes; raises Cancelled when someone asked for it."""
        if number == 1:
            self.begun = time.monotonic()
        self.pass_number = number
        self.passes = passes
        self.subject = subject
        self.start("Loading the model")

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
        return (self.done - self.before) / max(time.monotonic() - self.started, 1e-6)

    @property
    def eta(self) -> float | None:
        """Seconds to go in this stage, or in all passes where there are several; None while that is not known."""
        if self.passes > 1:
            return (time.monotonic() - self.begun) * (1 / fraction - 1) if (fraction := self.fraction) else None
        return (self.total - self.done) / rate if self.total and (rate := self.rate) > 0 else None

    def __str__(self) -> str:
        subject = f"Pass {self.pass_number} of {self.passes} ({self.subject}): " if self.passes > 1 else ""
        if not self.total:
            return subject + self.stage
        rate = self.rate
        pace = f"{1 / rate:,.0f} s each" if 0 < rate < 1 else f"{rate:,.0f} per second"
        eta = f", about {left:,.0f} s left" if (left := self.eta) is not None else ""
        return f"{subject}{self.stage}: {self.done:,} of {self.total:,} {self.unit}, {pace}{eta}"


Runner = Callable[[Any, Progress], None]  # performs a task; raises Cancelled soon after its progress is cancelled


@dataclass(eq=False)
class Job:
    """A task, and the sessions that requested it; when the last of them leaves, it is cancelled."""

    key: str  # of its results
    title: str
    task: Any = None  # for the runner
    sessions: set[str] = field(default_factory=set)
    progress: Progress = field(default_factory=Progress)
    state: State = "waiting"
    error: BertvizError | None = None  # once the state is "failed" or "cancelled"

    @property
    def finished(self) -> bool:
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
        self._jobs: list[Job] = []  # unfinished; the first one runs
        self._lock = threading.Lock()

    def submit(self, key: str, title: str, task: Any, session_id: str) -> Job:
        """Queue a job, or join that of the same key which is not cancelled; raises QueueFull where no more may wait."""
        with self._lock:
            if job := next((job for job in self._jobs if job.key == key and job.sessions), None):
                job.sessions.add(session_id)
                return job
            if len(self.jobs_of(session_id)) >= (1 if self._access.public else self._access.jobs):
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
        for job in self.jobs_of(session_id):
            self.leave(job, session_id)

    def jobs_of(self, session_id: str) -> list[Job]:
        return [job for job in list(self._jobs) if session_id in job.sessions]

    def before(self, job: Job) -> int:
        """Number of jobs ahead of this one."""
        jobs = list(self._jobs)
        return jobs.index(job) if job in jobs else 0

    def _work(self) -> None:
        job: Job | None = self._jobs[0]
        while job:
            job.state = "running"
            state, error = outcome(self._runner, job.task, job.progress, job.title)
            with self._lock:
                self._jobs.remove(job)
                job.finish(state, error)
                job = self._jobs[0] if self._jobs else None


def outcome(runner: Runner, task: Any, progress: Progress, title: str) -> tuple[State, BertvizError | None]:
    """Perform a task to its final state and error, whatever it raises."""
    try:
        progress.start("Starting")
        runner(task, progress)
    except Cancelled as error:
        return "cancelled", error
    except BertvizError as error:
        return "failed", error
    except BaseException as error:  # a panic in Rust is not an Exception
        log.exception("%s failed", title)
        return "failed", Unexpected(error)
    return "done", None
