"""Tasks for workers: in their order, again when they fail, none far ahead of the first unfinished one."""

from __future__ import annotations

import heapq
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from bertviz_core.errors import BertvizError

TRIES = 3


@dataclass(order=True)
class Task:
    """Arguments of one call of a worker; tasks are given out by their number.

    Attributes:
        alone: Whether its worker may have no other task: this one may have ended a worker.
    """

    number: int
    arguments: tuple[Any, ...] = field(compare=False)
    failures: int = field(default=0, compare=False)
    alone: bool = field(default=False, compare=False)


class TaskQueue:
    """The tasks of one run.

    Args:
        tasks: By their numbers; each is drawn when it is given out.

    Attributes:
        window: How far a task may be ahead of the first unfinished one, in numbers.
    """

    def __init__(self, tasks: Iterable[Task]) -> None:
        self._coming, self.window = iter(tasks), 1
        self._waiting: list[Task] = []
        self._running: set[int] = set()

    def __bool__(self) -> bool:
        """Whether there is a task to give out, now or later."""
        if not self._waiting:
            self._waiting.extend(task for task in [next(self._coming, None)] if task)
        return bool(self._waiting)

    def next(self, is_free: bool) -> Task | None:
        """The task to give to a worker, which is free or has others, or None: there is none for it, or the first
        unfinished one is too far behind."""
        if not self or self._waiting[0].number >= min(self._running, default=self._waiting[0].number) + self.window:
            return None
        if self._waiting[0].alone and not is_free:
            return None
        task = heapq.heappop(self._waiting)
        self._running.add(task.number)
        return task

    def finish(self, task: Task) -> None:
        self._running.discard(task.number)

    def put_back(self, task: Task, failure: str | None = None) -> None:
        """A task was not done, or has failed for a reason: it is given out again.

        Raises:
            BertvizError: The task has failed three times.
        """
        self._running.discard(task.number)
        task.failures += failure is not None
        if task.failures == TRIES:
            raise BertvizError(
                f"Part {task.number + 1} of the corpus failed {TRIES} times: {failure}",
                hint="What was computed is stored: start it again, and it goes on from there.",
            )
        heapq.heappush(self._waiting, task)
