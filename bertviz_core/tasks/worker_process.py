"""The inside of a worker process: `python -m bertviz_core.tasks.worker_process` performs the tasks that come in.

A line of JSON is a message. In: {"task": ...} and {"cancel": true}. Out: {"progress": ...} while a task runs, then
{"end": "done", "cancelled" or "failed", "error": ..., "broken": ...}, where broken says that the error was none that
the user can fix: such a process is not used again. The end of the input ends the process at once, whatever it does, so
that no worker outlives its server.
"""

import contextlib
import json
import logging
import os
import queue
import signal
import sys
import threading
from functools import partial
from pathlib import Path
from typing import IO, Any

from bertviz_core.analyses.local_runner import LastModel
from bertviz_core.engine.jobs import outcome
from bertviz_core.engine.progress import Progress
from bertviz_core.errors import Unexpected
from bertviz_core.tasks.tasks import Task, perform

EVERY = 0.2  # seconds between two messages of progress
NICE = 5  # pages come first


def main() -> None:
    """Perform tasks until the server has ended."""
    read, write = _streams()
    _step_back()
    tasks: queue.Queue[tuple[Task, Progress]] = queue.Queue()
    threading.Thread(target=_listen, args=(read, tasks), daemon=True).start()
    models = LastModel()
    while True:
        task, progress = tasks.get()
        done = threading.Event()
        reporter = threading.Thread(target=_report, args=(write, progress, done), daemon=True)
        reporter.start()
        state, error = outcome(partial(perform, models=models), task, progress, "a task")
        done.set()
        reporter.join()
        parts = error and [error.what, error.where, error.hint]
        _send(write, end=state, error=parts, broken=isinstance(error, Unexpected))


def _listen(read: IO[str], tasks: queue.Queue[tuple[Task, Progress]]) -> None:
    """Read the server's messages; a cancel is of the task that was read last."""
    progress = Progress()
    for line in read:
        message = json.loads(line)
        if "task" in message:
            progress = Progress()
            tasks.put((message["task"], progress))
        else:
            progress.cancelled.set()
    os._exit(1)


def _report(write: IO[str], progress: Progress, done: threading.Event) -> None:
    while not done.wait(EVERY):
        _send(write, progress=progress.snapshot())


def _send(write: IO[str], **message: Any) -> None:
    try:
        write.write(json.dumps(message) + "\n")
        write.flush()
    except OSError:  # the server has ended
        os._exit(1)


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
