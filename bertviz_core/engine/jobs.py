"""Long work beside the pages: jobs by key so that equal requests share one, a fair queue with bounds, and cancel."""

from __future__ import annotations

import logging
import threading
import traceback
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Literal

from bertviz_core.access import LOCAL, Access
from bertviz_core.engine.progress import Progress
from bertviz_core.errors import BertvizError, Cancelled, QueueFull, unexpected

REMEMBERED = 1000  # askers whose last turn is known; the others' is so long ago that they are next in any case
ANALYSES, DOWNLOADS = "analyses", "downloads"

State = Literal["waiting", "running", "done", "failed", "cancelled"]
Runner = Callable[[Any, Progress], None]
log = logging.getLogger(__name__)


@dataclass(eq=False)
class Job:
    """One piece of work, and who wants it.

    Attributes:
        key: Equal keys, equal results.
        title: For people.
        task: What the runner is given.
        lane: The queue; each has its own runner.
        then: (lane, task) of what follows once the task is done, each in its own lane's queue.
        askers: Readers who still want it; when the last of them leaves, it is cancelled.
        error: For people, once the state is "failed" or "cancelled".
    """

    key: str
    title: str
    task: Any = None
    lane: str = ANALYSES
    then: tuple[tuple[str, Any], ...] = ()
    askers: set[str] = field(default_factory=set)
    progress: Progress = field(default_factory=Progress)
    state: State = "waiting"
    error: BertvizError | None = None

    @property
    def finished(self) -> bool:
        return self.state in ("done", "failed", "cancelled")

    def finish(self, state: State, error: BertvizError | None = None) -> Job:
        """Set the error, then the final state: whoever reads the state may read the error next."""
        self.error = error
        self.state = state
        return self

    def next_task(self) -> None:
        """Wait for what follows, in its lane."""
        (self.lane, self.task), self.then = self.then[0], self.then[1:]
        self.progress, self.state = Progress(), "waiting"


class Lane:
    """Jobs that wait, and the runner of one at a time: the asker whose last turn is longest ago is next."""

    def __init__(self, runner: Runner) -> None:
        self.runner = runner
        self.waiting: list[Job] = []  # as they came
        self.running: Job | None = None
        self.thread: threading.Thread | None = None  # runs while there is work
        self._turns: dict[str, int] = {}  # asker -> number of the last turn, the latest at the end

    def order(self) -> list[Job]:
        """The waiting jobs in the order in which they will start."""
        waiting, turns = list(self.waiting), dict(self._turns)
        return [_next(waiting, turns) for _ in self.waiting]

    def start_next(self) -> Job | None:
        """Take the next job; None where nothing waits."""
        self.running = _next(self.waiting, self._turns) if self.waiting else None
        if len(self._turns) > REMEMBERED:
            del self._turns[next(iter(self._turns))]
        return self.running


def _next(waiting: list[Job], turns: dict[str, int]) -> Job:
    """Remove the next job, which is its asker's turn; of equal turns it is the job that came first."""
    pairs = ((job, asker) for job in waiting for asker in job.askers)
    job, asker = min(pairs, key=lambda pair: turns.get(pair[1], 0))
    latest = max(turns.values(), default=0)
    turns.pop(asker, None)
    turns[asker] = latest + 1
    waiting.remove(job)
    return job


class Jobs:
    """Everything that waits and runs, by lane. Nothing here calls a page.

    Args:
        runners: Lane -> what performs a task: it blocks, says where it is in the progress that it is given, and raises
            Cancelled soon after that asks for it.
        access: How many jobs may wait and run.
    """

    def __init__(self, runners: Mapping[str, Runner], access: Access = LOCAL) -> None:
        self._lanes = {name: Lane(runner) for name, runner in runners.items()}
        self._access = access
        self._unfinished: list[Job] = []
        self._lock = threading.Lock()

    def submit(
        self,
        key: str,
        title: str,
        task: Any,
        asker: str,
        lane: str = ANALYSES,
        then: tuple[tuple[str, Any], ...] = (),
    ) -> Job:
        """Queue a job (see Job), or join the one of the same key that is not cancelled.

        Raises:
            QueueFull: as many jobs wait as may, in all or of this asker.
        """
        with self._lock:
            job = next((job for job in self._unfinished if job.key == key and job.askers), None)
            if job is None:
                self._check_room(asker)
                job = Job(key, title, task, lane, then, {asker})
                self._unfinished.append(job)
                self._enqueue(job)
            job.askers.add(asker)
            return job

    def leave(self, job: Job, asker: str) -> None:
        """Take back what this asker asked for; the last who leaves cancels the job: at once where it waits."""
        with self._lock:
            job.askers.discard(asker)
            if job.state == "waiting" and not job.askers:
                self._lanes[job.lane].waiting.remove(job)
                self._end(job, "cancelled", Cancelled())
            elif not job.askers:
                job.progress.cancelled.set()

    def leave_all(self, asker: str) -> None:
        """Take back everything that this asker still wants."""
        for job in list(self._unfinished):
            self.leave(job, asker)

    def before(self, job: Job) -> int:
        """Number of jobs that start, or run, before this one."""
        with self._lock:
            lane = self._lanes[job.lane]
            return lane.order().index(job) + (lane.running is not None) if job in lane.waiting else 0

    def _check_room(self, asker: str) -> None:
        if sum(asker in job.askers for job in self._unfinished) >= self._access.session_jobs:
            raise QueueFull(
                "No more of your jobs can be queued.",
                hint="Wait for the last one to finish, or cancel it in the sidebar.",
            )
        if len(self._unfinished) >= self._access.jobs:
            raise QueueFull(
                f"The queue is full: {self._access.jobs} jobs are unfinished.",
                hint="Try again when some have finished.",
            )

    def _enqueue(self, job: Job) -> None:
        lane = self._lanes[job.lane]
        lane.waiting.append(job)
        if lane.thread is None:
            lane.thread = threading.Thread(target=self._work, args=(lane,), name="jobs", daemon=True)
            lane.thread.start()  # a daemon: the server's end waits for no job

    def _work(self, lane: Lane) -> None:
        while (job := self._next(lane)) is not None:
            state, error = outcome(partial(_perform, lane.runner, job), f"job {job.title}")
            with self._lock:
                if state != "done" or not job.then:
                    self._end(job, state, error)
                elif job.askers:
                    job.next_task()
                    self._enqueue(job)
                else:  # the cancel came when the task was done
                    self._end(job, "cancelled", Cancelled())

    def _next(self, lane: Lane) -> Job | None:
        with self._lock:
            job = lane.start_next()
            if job is None:
                lane.thread = None
            else:
                job.state = "running"
            return job

    def _end(self, job: Job, state: State, error: BertvizError | None) -> None:
        self._unfinished.remove(job)
        job.finish(state, error)


def outcome(work: Callable[[], None], title: str) -> tuple[State, BertvizError | None]:
    """Do some work to a final state, even where it raises."""
    try:
        work()
    except Cancelled as error:
        return "cancelled", error
    except BertvizError as error:
        return "failed", error
    except BaseException as error:  # a panic in Rust is not an Exception
        log.error("%s failed\n%s", title, traceback.format_exc())
        return "failed", unexpected(error)
    return "done", None


def _perform(runner: Runner, job: Job) -> None:
    job.progress.start("Starting")
    runner(job.task, job.progress)
