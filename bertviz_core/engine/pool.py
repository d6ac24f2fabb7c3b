"""Workers in processes of their own, on this machine or on several, by Ray: they are given bytes and give bytes.

Ray itself pickles what goes between these processes, all of them ours. Nothing that a user gave is unpickled: corpora,
models and sums go as plain bytes. Definitions: docs/scale.md.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Generator, Iterable
from contextlib import AbstractContextManager, suppress
from typing import Any

from bertviz_core.engine.progress import Progress
from bertviz_core.engine.ray_cluster import INLINE, ROOT, check_ray, connect, reason
from bertviz_core.engine.task_queue import TRIES, Task, TaskFailed, TaskQueue
from bertviz_core.errors import BertvizError, SettingsError

Steps = Generator[Any, Any, None]  # yields calls, and is sent what each returns
AHEAD = 2  # tasks that a worker is given at once, so that it never waits for the next one
WINDOW = 4  # times the workers: how far tasks may be ahead of the first unfinished one, whose results have to wait
POLL = 0.1  # seconds between two looks for a cancel
PATIENCE = 60  # seconds that those which have started wait for the other workers
NO_WORKER = 300  # seconds without any worker that end a job


class WorkerLost(BertvizError):
    """A worker's process has ended, outside of a task."""


class Pool(AbstractContextManager["Pool"]):
    """Workers that perform one method's tasks; a context that ends them.

    A worker that is lost is replaced, and its tasks are given to another one; where there is no room for the new one,
    or it fails three times, those that are left do the work.

    Args:
        worker: Class of the workers, importable by name wherever they run.
        workers: How many; 0 for one on each GPU of a cluster, or each CPU where there is none.
        address: Of a running cluster, as Ray takes it; empty to start one on this machine.
        device: "cpu" keeps the workers from GPUs.
        prepare: Yields the calls that make a new worker ready for tasks, and is sent what each returns; raises
            WorkerLost where the worker is of no use.
    """

    def __init__(
        self,
        worker: type,
        workers: int,
        address: str,
        device: str,
        prepare: Callable[[Any], Iterable[Any]] = lambda worker: (),
    ) -> None:
        check_ray()
        os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
        os.environ.setdefault("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")
        os.environ.update(INLINE)  # of arguments; the workers' own environment has it for results
        import ray

        self.ray, self.prepare = ray, prepare
        self._own = not ray.is_initialized()
        self.workers: list[Any] = []
        self._coming: dict[Any, tuple[Any, Steps]] = {}  # workers that are starting, by the call that has to return
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
        self.workers, self._coming = [], {}
        if self._own:
            self.ray.shutdown()

    def get(self, ref: Any, progress: Progress) -> Any:
        """What a call returns; raises Cancelled while it is waited for."""
        while not self.ray.wait([ref], timeout=POLL)[0]:
            progress.advance(0)
        return self.ray.get(ref)

    def gather(self, progress: Progress) -> None:
        """Wait for the workers that are starting, but not long for the last ones: those can join later.

        Raises:
            WorkerLost: There is none.
        """
        while self._coming and (not self.workers or time.monotonic() < self._last_start + PATIENCE):
            ready, _ = self.ray.wait(list(self._coming), num_returns=len(self._coming), timeout=POLL)
            progress.advance(0)
            self._join(ready)
        if not self.workers:
            raise WorkerLost("No worker is left.", hint="What was computed is stored: start it again.")

    def call(self, method: str, *arguments: Any, progress: Progress | None = None) -> dict[Any, Any]:
        """What one method of every worker returns; where a worker has ended, it is replaced and WorkerLost raised."""
        progress = progress or Progress()
        self.gather(progress)
        calls = {worker: getattr(worker, method).remote(*arguments) for worker in self.workers}
        answers, lost = {}, None
        for worker, ref in calls.items():
            try:
                answers[worker] = self.get(ref, progress)
            except self.ray.exceptions.RayError as error:
                self._replace(worker)
                lost = WorkerLost(f"A worker process ended: {reason(error)}", hint="Try again.")
        if lost:
            raise lost
        return answers

    def run(self, method: str, tasks: Iterable[Task], take: Callable[[Task, Any], None], progress: Progress) -> None:
        """Perform the tasks, and give each result to `take` as it comes; `take` may raise TaskFailed.

        Raises:
            BertvizError: A task has failed three times, or no worker is left.
            Cancelled: `progress` says so.
        """
        self.gather(progress)
        queue = TaskQueue(tasks)
        running: dict[Any, tuple[Any, Task]] = {}
        try:
            while self._give_out(method, queue, running) or running:
                waiting = [*running, *self._coming]
                ready, others = self.ray.wait(waiting, num_returns=1, timeout=POLL)
                ready += self.ray.wait(others, num_returns=len(others), timeout=0)[0] if ready and others else []
                progress.advance(0)
                self._join([ref for ref in ready if ref in self._coming])
                for ref in ready:
                    if ref in running:
                        worker, task = running.pop(ref)
                        queue.finish(task, self._result(ref, worker, task, take))
        finally:
            for ref in running:
                with suppress(Exception):
                    self.ray.cancel(ref)

    def _give_out(self, method: str, queue: TaskQueue, running: dict[Any, tuple[Any, Task]]) -> bool:
        """Give tasks to workers that have room, those with none first; whether some task waits for a worker."""
        queue.window = WINDOW * AHEAD * max(1, len(self.workers))
        counts = dict.fromkeys(self.workers, 0)
        for worker, _ in running.values():
            if worker in counts:
                counts[worker] += 1
        for round_number in range(AHEAD):
            for worker in [worker for worker, count in counts.items() if count <= round_number]:
                task = queue.next()
                if task is None:
                    return False
                running[getattr(worker, method).remote(*task.arguments)] = worker, task
        return bool(self.workers) or queue.waits()

    def _result(self, ref: Any, worker: Any, task: Task, take: Callable[[Task, Any], None]) -> str | None:
        """Give the result to `take`; why that cannot be, or None."""
        try:
            take(task, self.ray.get(ref))
        except TaskFailed as error:
            return str(error)
        except self.ray.exceptions.RayTaskError as error:
            return reason(error)
        except self.ray.exceptions.RayError as error:
            self._replace(worker)
            return f"a worker process ended ({reason(error)})"
        return None

    def _replace(self, worker: Any) -> None:
        """Start another worker in place of a lost one, unless that has been done."""
        if worker in self.workers:
            self.workers.remove(worker)
            self._last = time.monotonic()
            self._kill(worker)  # where it is only out of reach
            self._start()

    def _kill(self, worker: Any) -> None:
        with suppress(Exception):
            self.ray.kill(worker)

    def _start(self) -> None:
        """Ask for a worker, which joins the others when it is ready; until then they do its work."""
        worker, self._last_start = self._class.remote(), time.monotonic()
        steps = self._steps(worker)
        self._coming[next(steps)] = worker, steps

    def _steps(self, worker: Any) -> Steps:
        yield worker.__ray_ready__.remote()
        yield from self.prepare(worker)

    def _join(self, ready: Iterable[Any]) -> None:
        """Go on with the workers whose calls have returned; one that fails is asked for again, but not without end."""
        for ref in ready:
            worker, steps = self._coming.pop(ref)
            try:
                self._coming[steps.send(self.ray.get(ref))] = worker, steps
            except StopIteration:
                self._failures = 0
                self.workers.append(worker)
            except (self.ray.exceptions.RayError, WorkerLost) as error:
                self._kill(worker)
                self._failures += 1
                if self._failures < TRIES:
                    self._start()
                elif not self.workers and not self._coming:
                    raise WorkerLost(
                        f"Worker processes do not start: {reason(error)}",
                        hint="What was computed is stored: fix this and start it again.",
                    ) from error
        if self.workers:
            self._last = time.monotonic()
        elif time.monotonic() - self._last > NO_WORKER:
            raise WorkerLost(
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
