"""Workers in processes of their own, on this machine or on several, by Ray: they are given bytes and give bytes.

Ray itself pickles what goes between these processes, all of them ours. Nothing that a user gave is unpickled: corpora,
models and sums go as plain bytes. Definitions: docs/scale.md.
"""

from __future__ import annotations

import os
import time
from collections import deque
from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager, suppress
from typing import Any

from bertviz_core.engine.progress import Progress
from bertviz_core.engine.ray_cluster import INLINE, ROOT, connect, reason
from bertviz_core.engine.task_queue import TRIES, Task, TaskQueue
from bertviz_core.errors import BertvizError, SettingsError

AHEAD = 2  # tasks that a worker is given at once, so that it never waits for the next one
WINDOW = 4  # times the tasks of all workers: how far tasks may be ahead of the first unfinished one; results wait
POLL = 0.1  # seconds between two looks for a cancel
PATIENCE = 60  # seconds that those which have started wait for the other workers
NO_WORKER = 300  # seconds without any worker that end a job


class Pool(AbstractContextManager["Pool"]):
    """Workers that perform one method's tasks; a context that ends them.

    A worker that is lost is replaced, and its tasks are given to another one; where there is no room for the new one,
    or it fails three times, those that are left do the work.

    Args:
        worker: Class of the workers, importable by name wherever they run.
        workers: How many; 0 for one on each GPU of a cluster, or each CPU where there is none.
        address: Of a running cluster, as Ray takes it; empty to start one on this machine.
        device: "cpu" keeps the workers from GPUs.

    Attributes:
        workers: The workers that are ready, each with the calls that it performs one after another: (call, its task).
    """

    def __init__(self, worker: type, workers: int, address: str, device: str) -> None:
        os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
        os.environ.setdefault("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")
        os.environ.update(INLINE)  # of arguments; the workers' own environment has it for results
        import ray

        self.ray = ray
        self._own = not ray.is_initialized()
        self.workers: dict[Any, deque[tuple[Any, Task]]] = {}
        self._preparation: tuple[Any, ...] = ("__ray_ready__",)  # a method and its arguments
        self._coming: dict[Any, tuple[Any, tuple[Any, ...]]] = {}  # call that prepares a worker -> worker, preparation
        self._failures, self._last, self._last_start = 0, time.monotonic(), time.monotonic()
        if self._own:
            connect(address, workers)
        try:
            self._class, count = self._placed(worker, workers, device)
            for _ in range(count):
                self._start()
        except BaseException:
            self.close()
            raise

    def __exit__(self, *error: object) -> None:
        self.close()

    def close(self) -> None:
        """End the workers, and the cluster if it was started here."""
        for worker in [*self.workers, *(worker for worker, _ in self._coming.values())]:
            self._kill(worker)
        self.workers, self._coming = {}, {}
        if self._own:
            self.ray.shutdown()

    def gather(self, progress: Progress) -> None:
        """Wait for the workers that are starting, but not long for the last ones: those can join later.

        Raises:
            BertvizError: There is none.
        """
        while self._coming and (not self.workers or time.monotonic() < self._last_start + PATIENCE):
            ready, _ = self.ray.wait(list(self._coming), num_returns=len(self._coming), timeout=POLL)
            progress.advance(0)
            self._join(ready)
        if not self.workers:
            raise BertvizError("No worker is left.", hint="What was computed is stored: start it again.")

    def prepare(self, progress: Progress, method: str, *arguments: Any) -> list[Any]:
        """Call a method of every worker, and of those that join later before they are given tasks.

        Returns:
            What it returned in each worker that is ready.

        Raises:
            BertvizError: As the method raised it, or no worker is left. After any other error a worker is replaced.
            Cancelled: `progress` says so.
        """
        self.gather(progress)
        self._preparation = (method, *arguments)
        for _ in range(TRIES):
            calls = [(worker, self._prepare(worker)) for worker in self.workers]
            if answers := [answer for each in calls for answer in self._answers(*each, progress)]:
                return answers
            self.gather(progress)
        raise BertvizError(f"The workers failed {TRIES} times.", hint="Try again.")

    def _answers(self, worker: Any, call: Any, progress: Progress) -> list[Any]:
        """What the call returned; nothing where the worker was lost or failed, which is then replaced."""
        while not self.ray.wait([call], timeout=POLL)[0]:
            progress.advance(0)
        try:
            return [self.ray.get(call)]
        except self.ray.exceptions.RayError as error:
            if isinstance(cause := getattr(error, "cause", None), BertvizError):
                raise cause from error
            self._replace(worker)
            return []

    def run(self, method: str, tasks: Iterable[Task], take: Callable[[Task, Any], None], progress: Progress) -> None:
        """Perform the tasks, and give each result to `take` as it comes.

        Raises:
            BertvizError: A task has failed three times, or no worker is left.
            Cancelled: `progress` says so.
        """
        self.gather(progress)
        queue = TaskQueue(tasks)
        try:
            while True:
                self._give_out(method, queue)
                first = {calls[0][0]: worker for worker, calls in self.workers.items() if calls}
                if not first and not queue:
                    return
                waiting = [*first, *self._coming]
                self.ray.wait(waiting, num_returns=1, timeout=POLL)
                ready, _ = self.ray.wait(waiting, num_returns=len(waiting), timeout=0)  # all: none waits behind others
                progress.advance(0)
                self._join([call for call in ready if call in self._coming])
                for call in ready:
                    if call in first:
                        self._settle(first[call], queue, take)
        finally:
            for calls in self.workers.values():
                for call, _ in calls:
                    with suppress(Exception):
                        self.ray.cancel(call)
                calls.clear()

    def _give_out(self, method: str, queue: TaskQueue) -> None:
        """Give tasks to workers that have room, those with none first."""
        queue.window = WINDOW * AHEAD * max(1, len(self.workers))
        for count in range(AHEAD):
            for worker, calls in self.workers.items():
                if len(calls) > count or any(task.alone for _, task in calls):
                    continue
                if task := queue.next(is_free=not calls):
                    calls.append((getattr(worker, method).remote(*task.arguments), task))

    def _settle(self, worker: Any, queue: TaskQueue, take: Callable[[Task, Any], None]) -> None:
        """Give the result of a worker's first call to `take`. Where the worker is lost with several calls, any may have
        ended it, as an answer can be lost too: each is given out again, alone, and has failed only then."""
        call, task = self.workers[worker].popleft()
        try:
            take(task, self.ray.get(call))
            queue.finish(task)
        except self.ray.exceptions.RayTaskError as error:
            kind = "" if isinstance(error.cause, BertvizError) else f"{type(error.cause).__name__}: "
            queue.put_back(task, kind + reason(error))
        except self.ray.exceptions.RayError as error:
            tasks = [task, *(other for _, other in self._replace(worker))]
            for each in tasks:
                each.alone = True
                queue.put_back(each, None if tasks[1:] else f"a worker process ended ({reason(error)})")

    def _replace(self, worker: Any) -> Iterable[tuple[Any, Task]]:
        """Start another worker in place of a lost one; returns the calls that the lost one has not performed."""
        calls = self.workers.pop(worker)
        self._last = time.monotonic()
        self._kill(worker)  # where it is only out of reach
        self._start()
        return calls

    def _kill(self, worker: Any) -> None:
        with suppress(Exception):
            self.ray.kill(worker)

    def _start(self) -> None:
        """Ask for a worker, which joins the others when it is prepared; until then they do its work."""
        worker, self._last_start = self._class.remote(), time.monotonic()
        self._coming[self._prepare(worker)] = worker, self._preparation

    def _prepare(self, worker: Any) -> Any:
        method, *arguments = self._preparation
        return getattr(worker, method).remote(*arguments)

    def _join(self, ready: Iterable[Any]) -> None:
        """Take in the workers that are prepared; one that fails is asked for again, but not without end."""
        for call in ready:
            worker, preparation = self._coming.pop(call)
            try:
                self.ray.get(call)
            except self.ray.exceptions.RayError as error:
                self._kill(worker)
                self._failures += 1
                if self._failures < TRIES:
                    self._start()
                elif not self.workers and not self._coming:
                    raise BertvizError(
                        f"Worker processes do not start: {reason(error)}",
                        hint="What was computed is stored: fix this and start it again.",
                    ) from error
                continue
            if preparation is not self._preparation:  # another pass has begun meanwhile
                self._coming[self._prepare(worker)] = worker, self._preparation
            else:
                self._failures = 0
                self.workers[worker] = deque()
        if self.workers:
            self._last = time.monotonic()
        elif time.monotonic() - self._last > NO_WORKER:
            raise BertvizError(
                f"No worker could be started for {NO_WORKER} s.",
                hint="Look whether the cluster has free CPUs. What was computed is stored: start it again.",
            )

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
        environment = INLINE | {"PYTHONPATH": path, "OMP_WAIT_POLICY": "PASSIVE", "TOKENIZERS_PARALLELISM": "false"}
        share = min(1.0, gpus / count)
        options = {"num_cpus": 1, "num_gpus": share, "runtime_env": {"env_vars": environment}, "max_restarts": 0}
        return self.ray.remote(worker).options(**options), count
