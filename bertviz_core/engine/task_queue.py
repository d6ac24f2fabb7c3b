"""Tasks for workers: in their order, again when they fail, none far ahead of the first unfinished one."""

from __future__ import annotations

import heapq
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from bertviz_core.errors import BertvizError

TRIES = 3


class TaskFailed(Exception):
    """A worker says that it could not do its task; the text says why."""


@dataclass(order=True)
class Task:
    """Arguments of one call of a worker; tasks are given out by their number."""

    number: int
    arguments: tuple[Any, ...] = field(compare=False)
    tries: int = field(default=0, compare=False)


class TaskQueue:
    """The tasks of one run.

    Args:
        tasks: By their numbers; each is drawn when it is given out.

    Attributes:
        window: How far a task may be ahead of the first unfinished one, in numbers.
    """

    def __init__(self, tasks: Iterable[Task]) -> None:
        self._coming, self.window = iter(tasks), 1
        self._again: list[Task] = []
        self._running: set[int] = set()

    def next(self) -> Task | None:
        """The task to give out, or None: there is none, or the first unfinished one is too far behind."""
        task = heapq.heappop(self._again) if self._again else next(self._coming, None)
        if task is None:
            return None
        if task.number >= min(self._running, default=task.number) + self.window:
            heapq.heappush(self._again, task)
            return None
        self._running.add(task.number)
        return task

    def waits(self) -> bool:
        """Whether a task is ready to be given out."""
        task = self.next()
        if task is not None:
            self._running.discard(task.number)
            heapq.heappush(self._again, task)
        return task is not None

    def finish(self, task: Task, failure: str | None) -> None:
        """A task was done, or failed for a reason: then it is given out again.

        Raises:
            BertvizError: The task has failed three times.
        """
        self._running.discard(task.number)
        if failure is None:
            return
        task.tries += 1
        if task.tries == TRIES:
            raise BertvizError(
                f"Part {task.number + 1} of the corpus failed {TRIES} times: {failure}",
                hint="What was computed is stored: start it again, and it goes on from there.",
            )
        heapq.heappush(self._again, task)
