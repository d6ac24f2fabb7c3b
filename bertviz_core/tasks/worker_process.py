"""The inside of a worker process: `python -m bertviz_core.tasks.worker_process` performs the tasks that come in.

It imports the modules that its arguments name first. A line of JSON is a message. In: {"task": ...} and
{"cancel": true}. Out: {"ready": true} when it has imported them, {"progress": ...} while a task runs, then {"end":
"done", "cancelled" or "failed", "error": ..., "broken": ...}, where broken says that the error was none that the user
can fix: such a process is not used again. The end of the input ends the process at once, whatever it does, so that no
worker outlives its server.
"""

from __future__ import annotations

import contextlib
import json
import logging
import os
import queue
import signal
import sys
import threading
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import IO, Any

from bertviz_core.engine.jobs import outcome
from bertviz_core.engine.progress import Progress
from bertviz_core.errors import Unexpected
from bertviz_core.tasks.tasks import Performer, Task

EVERY = 0.2  # seconds between two messages of progress
NICE = 5  # pages come first


class Server:
    """The messages to and from the process that asks for tasks."""

    def __init__(self, read: IO[str], write: IO[str]) -> None:
        self._read, self._write = read, write
        self._lock = threading.Lock()
        self._tasks: queue.Queue[tuple[Task, Progress]] = queue.Queue()
        threading.Thread(target=self._listen, daemon=True).start()

    def next_task(self) -> tuple[Task, Progress]:
        return self._tasks.get()

    def say(self, **message: Any) -> None:
        try:
            with self._lock:
                self._write.write(json.dumps(message) + "\n")
                self._write.flush()
        except OSError:  # the server has ended
            os._exit(1)

    def _listen(self) -> None:
        """Read the server's messages; a cancel is of the task that was read last."""
        progress = Progress()
        for line in self._read:
            message = json.loads(line)
            if "task" in message:
                progress = Progress()
                self._tasks.put((message["task"], progress))
            else:
                progress.cancelled.set()
        os._exit(1)


def main() -> None:
    """Perform tasks until the server has ended."""
    server = Server(*_streams())
    _step_back()
    for module in sys.argv[1:]:
        import_module(module)
    server.say(ready=True)
    performer = Performer()
    while True:
        task, progress = server.next_task()
        done = threading.Event()
        reporter = threading.Thread(target=_report, args=(server, progress, done), daemon=True)
        reporter.start()
        state, error = outcome(partial(performer.perform, task, progress), "a task")
        done.set()
        reporter.join()
        parts = error and [error.what, error.where, error.hint]
        server.say(end=state, error=parts, broken=isinstance(error, Unexpected))


def _report(server: Server, progress: Progress, done: threading.Event) -> None:
    while not done.wait(EVERY):
        server.say(progress=progress.snapshot())


def _streams() -> tuple[IO[str], IO[str]]:
    """Reserve standard input and output for the messages: what a library prints goes to standard error."""
    read, write = os.dup(0), os.dup(1)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.dup2(2, 1)
    os.write(write, b"\n")  # ends a line that an import has begun
    return open(read, encoding="utf-8"), open(write, "w", encoding="utf-8")  # noqa: PTH123


def _step_back() -> None:
    """Give way to the server: ignore Ctrl-C, run at a lower priority, and be the one to end where memory runs out."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    with contextlib.suppress(AttributeError, OSError):
        os.nice(NICE)
    with contextlib.suppress(OSError):
        Path("/proc/self/oom_score_adj").write_text("500")


if __name__ == "__main__":
    logging.basicConfig(stream=sys.stderr)
    main()
