"""Workers in processes of their own, on this machine or on several, by Ray: they are given bytes and give bytes.

Ray itself pickles what goes between these processes, all of them ours. Nothing that a user gave is unpickled: corpora,
models and sums go as plain bytes. Definitions: docs/scale.md.
"""

from __future__ import annotations

import heapq
import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Self

from bertviz_core.engine.progress import Progress
from bertviz_core.errors import BertvizError, SettingsError

ROOT = Path(__file__).parents[2]
TRIES = 3
AHEAD = 2  # tasks that a worker is given at once, so that it never waits for the next one
WINDOW = 4  # times the workers: how far tasks may be ahead of the first unfinished one, whose results have to wait
POLL = 0.1  # seconds between two looks for a cancel
OBJECT_STORE = 1_000_000_000  # bytes, of a cluster that is started here


class TaskFailed(Exception):
    """A worker says that it could not do its task; the text says why."""


class WorkerLost(BertvizError):
    """A worker's process has ended, outside of a task."""


@dataclass(order=True)
class Task:
    """Arguments of one call of a worker; tasks are given out by their number."""

    number: int
    arguments: tuple[Any, ...] = field(compare=False)
    tries: int = field(default=0, compare=False)


def check_ray() -> None:
    """Raises SettingsError where Ray is not installed."""
    if find_spec("ray") is None:
        raise SettingsError(
            "Several workers need Ray, which is not installed.",
            hint="Install it with `pip install ray`, or compute without workers.",
        )


class Pool:
    """Workers that perform one method's tasks; a context that ends them.

    A worker that is lost is replaced, and its tasks are given to another one.

    Args:
        worker: Class of the workers, importable by name wherever they run.
        workers: How many; 0 for one on each GPU of a cluster, or each CPU where there is none.
        address: Of a running cluster, as Ray takes it; empty to start one on this machine.
        device: "cpu" keeps the workers from GPUs.
        prepare: Called with each new worker, before it is given tasks.
    """

    def __init__(
        self,
        worker: type,
        workers: int,
        address: str,
        device: str,
        prepare: Callable[[Any], None] = lambda worker: None,
    ) -> None:
        check_ray()
        os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
        os.environ.setdefault("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")
        import ray

        self.ray, self.prepare = ray, prepare
        self._own = not ray.is_initialized()
        self.workers: list[Any] = []
        if self._own:
            _connect(address, workers)
        try:
            self._class, count = self._placed(worker, workers, device)
            for _ in range(count):
                self.workers.append(self._start())
        except BaseException:
            self.close()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def close(self) -> None:
        """End the workers, and the cluster if it was started here."""
        for worker in self.workers:
            with suppress(Exception):
                self.ray.kill(worker)
        self.workers = []
        if self._own:
            self.ray.shutdown()

    def call(self, method: str, *arguments: Any, progress: Progress | None = None) -> list[Any]:
        """What one method of every worker returns."""
        refs = [getattr(worker, method).remote(*arguments) for worker in self.workers]
        waiting = refs
        while waiting:
            _, waiting = self.ray.wait(waiting, num_returns=len(waiting), timeout=POLL)
            if progress:
                progress.advance(0)
        try:
            return list(self.ray.get(refs))
        except self.ray.exceptions.RayError as error:
            raise WorkerLost(f"A worker process ended: {_reason(error)}", hint="Try again.") from error

    def replace_lost(self) -> None:
        """Start a worker in place of each whose process has ended."""
        for place, worker in enumerate(self.workers):
            try:
                self.ray.get(worker.__ray_ready__.remote())
            except self.ray.exceptions.RayError:
                self.workers[place] = self._class.remote()

    def run(self, method: str, tasks: Iterable[Task], take: Callable[[Task, Any], None], progress: Progress) -> None:
        """Perform the tasks, and give each result to `take` as it comes; `take` may raise TaskFailed.

        Raises:
            BertvizError: A task has failed three times.
            Cancelled: `progress` says so.
        """
        coming, again = iter(tasks), list[Task]()
        running: dict[Any, tuple[Any, Task]] = {}
        try:
            while self._give_out(method, coming, again, running):
                ready, others = self.ray.wait(list(running), num_returns=1, timeout=POLL)
                ready += self.ray.wait(others, num_returns=len(others), timeout=0)[0] if ready and others else []
                progress.advance(0)
                for ref in ready:
                    worker, task = running.pop(ref)
                    if (reason := self._result(ref, worker, task, take)) is not None:
                        _count_failure(task, reason)
                        heapq.heappush(again, task)
        finally:
            for ref in running:
                with suppress(Exception):
                    self.ray.cancel(ref)

    def _give_out(
        self, method: str, coming: Iterator[Task], again: list[Task], running: dict[Any, tuple[Any, Task]]
    ) -> bool:
        """Give tasks to workers that have room; False where none is left or running."""
        room = dict.fromkeys(self.workers, AHEAD)
        for worker, _ in running.values():
            if worker in room:
                room[worker] -= 1
        for free in range(1, AHEAD + 1):
            for worker in [worker for worker, left in room.items() if left >= AHEAD + 1 - free]:
                task = self._next(coming, again, running)
                if task is None:
                    return bool(running)
                running[getattr(worker, method).remote(*task.arguments)] = worker, task
        return True

    def _next(self, coming: Iterator[Task], again: list[Task], running: dict[Any, tuple[Any, Task]]) -> Task | None:
        """The task to give out, or None: there is none, or the first unfinished one is too far behind."""
        if again:
            return heapq.heappop(again)
        task = next(coming, None)
        if task is None:
            return None
        first = min((other.number for _, other in running.values()), default=task.number)
        if task.number >= first + WINDOW * len(self.workers) * AHEAD:
            heapq.heappush(again, task)
            return None
        return task

    def _result(self, ref: Any, worker: Any, task: Task, take: Callable[[Task, Any], None]) -> str | None:
        """Give the result to `take`; why that cannot be, or None."""
        try:
            take(task, self.ray.get(ref))
        except TaskFailed as error:
            return str(error)
        except self.ray.exceptions.RayTaskError as error:
            return _reason(error)
        except self.ray.exceptions.RayError as error:
            if worker in self.workers:
                self.workers[self.workers.index(worker)] = self._start()
            return f"a worker process ended ({_reason(error)})"
        return None

    def _placed(self, worker: type, workers: int, device: str) -> tuple[Any, int]:
        """The class with the resources of each worker, and how many; raises SettingsError where that is too many."""
        resources = self.ray.cluster_resources()
        cpus, gpus = int(resources.get("CPU", 0)), 0 if device == "cpu" else int(resources.get("GPU", 0))
        count = workers or gpus or cpus
        if count > cpus:
            raise SettingsError(
                f"{count} workers need {count} CPUs, and the cluster has {cpus}.",
                hint=f"Choose at most {cpus} workers.",
            )
        path = os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH")]))
        environment = {"PYTHONPATH": path, "OMP_WAIT_POLICY": "PASSIVE", "TOKENIZERS_PARALLELISM": "false"}
        share = min(1.0, gpus / count)
        options = {"num_cpus": 1, "num_gpus": share, "runtime_env": {"env_vars": environment}, "max_restarts": 0}
        return self.ray.remote(worker).options(**options), count

    def _start(self) -> Any:
        worker = self._class.remote()
        self.prepare(worker)
        return worker


def _connect(address: str, workers: int) -> None:
    import logging

    import ray

    quiet: dict[str, Any] = {"log_to_driver": False, "logging_level": logging.ERROR}
    try:
        if address:
            ray.init(address=address, **quiet)
        else:
            ray.init("local", num_cpus=workers, include_dashboard=False, object_store_memory=OBJECT_STORE, **quiet)
    except (ConnectionError, RuntimeError, ValueError) as error:
        raise SettingsError(
            f"The Ray cluster at {address or 'this machine'} cannot be reached ({_reason(error)}).",
            hint="Start it with `ray start --head`, or omit --ray.",
        ) from error


def _count_failure(task: Task, reason: str) -> None:
    task.tries += 1
    if task.tries == TRIES:
        raise BertvizError(
            f"Part {task.number + 1} of the corpus failed {TRIES} times: {reason}",
            hint="What was computed is kept: start it again, and it goes on from there.",
        )


def _reason(error: BaseException) -> str:
    """The first line of what an error says."""
    cause = getattr(error, "cause", None) or error
    return (str(cause).strip().splitlines() or [type(cause).__name__])[0][:300]
