"""A worker: a separate process for long work, started when it is first needed and again when it has ended; and what
goes on inside of it: `python -m bertviz_core.tasks.workers` performs the tasks that come in.

A line of JSON is a message. In: {"task": ...} and {"cancel": true}. Out: {"progress": ...} while a task runs, then
{"end": "done", "cancelled" or "failed", "error": ..., "broken": ...}, where broken says that the user cannot fix
the error: such a process is not used again. The end of the input ends the process at once, whatever it does, so
that no worker outlives its server.
"""

import atexit
import contextlib
import json
import logging
import math
import os
import queue
import signal
import subprocess
import sys
import threading
import time
from functools import partial
from pathlib import Path
from typing import IO, Any

from bertviz_core.analyses.model_pass import LastModelCache
from bertviz_core.engine.jobs import Progress, outcome
from bertviz_core.errors import SMALLER, BertvizError, Cancelled, Unexpected
from bertviz_core.tasks import Task, perform

PATIENCE = 0.3  # seconds that a stage has to react to a cancel before it is ended with its process
POLL = 0.05
ROOT = Path(__file__).parents[2]
log = logging.getLogger(__name__)
COMMAND = (sys.executable, "-P", "-m", "bertviz_core.tasks.workers")


class Worker:
    """Performs one task at a time in a process that stays, with its last model, for the next one.

    The process is neither a fork nor one of `multiprocessing`'s: those would run Streamlit's script again, and pickle.
    """

    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None
        self._messages: queue.Queue[dict[str, Any] | None] = queue.Queue()  # None at the end of the process
        atexit.register(self.close)

    def __call__(self, task: Task, progress: Progress) -> None:
        """Perform the task, and return when it is done.

        Raises:
            Cancelled: `progress` said so; a stage that does not react in time was ended with its process.
            BertvizError: The task failed, or its process ended.
        """
        if not self._process or self._process.poll() is not None:
            progress.start("Starting a worker process")
            path = os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH")]))
            environment, pipe = os.environ | {"PYTHONPATH": path}, subprocess.PIPE
            self._process = subprocess.Popen(COMMAND, stdin=pipe, stdout=pipe, env=environment)
            self._messages = queue.Queue()
            threading.Thread(target=_listen, args=(self._process.stdout, self._messages), daemon=True).start()
        try:
            self._send(task=task)
            self._follow(progress)
        except (OSError, EOFError):
            raise _died(self.close()) from None

    def close(self) -> int:
        """Kill the process; returns its exit status, a negative signal number where a signal ended it."""
        if not self._process:
            return 0
        self._process.kill()
        status = self._process.wait()
        with contextlib.suppress(OSError):  # of a message that it did not read
            assert self._process.stdin
            self._process.stdin.close()
        return status

    def _send(self, **message: Any) -> None:
        """Send one message; raises OSError where the process has ended."""
        assert self._process and self._process.stdin
        self._process.stdin.write(json.dumps(message).encode() + b"\n")
        self._process.stdin.flush()

    def _follow(self, progress: Progress) -> None:
        """Show the progress of a task to its end; raises the error that it ended with, or Cancelled."""
        ends = math.inf
        while time.monotonic() <= ends:
            if ends == math.inf and progress.cancelled.is_set():
                self._send(cancel=True)
                ends = time.monotonic() + PATIENCE
            try:
                message = self._messages.get(timeout=POLL)
            except queue.Empty:
                continue
            if message is None:
                raise EOFError
            if "progress" in message:
                progress.restore(message["progress"])
            elif message.get("end") == "done":
                return
            elif message.get("end") == "failed":
                if message["broken"]:
                    self.close()
                what, where, hint = message["error"]
                raise BertvizError(what, where=where, hint=hint)
            elif "end" in message:
                raise Cancelled()
        self.close()
        raise Cancelled()


def _listen(lines: IO[bytes], messages: queue.Queue[dict[str, Any] | None]) -> None:
    """Pass messages on; what an installed analysis prints before the output is reserved for them is logged."""
    with lines:
        for line in lines:
            with contextlib.suppress(ValueError):
                message = json.loads(line)
                if isinstance(message, dict):
                    messages.put(message)
                    continue
            if line.strip():
                log.info("printed by the worker: %s", line.decode("utf-8", "replace").rstrip())
    messages.put(None)


def _died(status: int) -> BertvizError:
    how = f"signal {-status}" if status < 0 else f"exit status {status}"
    hint = f"{SMALLER} Or run it again, if the process was stopped."
    return BertvizError(f"The worker process died ({how}); memory may have run out.", hint=hint)


EVERY = 0.2  # seconds between two messages of progress
NICE = 19  # pages come first


def main() -> None:
    """Perform tasks until the server has ended."""
    read, write = _streams()
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the server's
    with contextlib.suppress(AttributeError, OSError):
        os.nice(NICE)
    with contextlib.suppress(OSError):
        Path("/proc/self/oom_score_adj").write_text("500")  # the first to be killed when memory runs out
    tasks: queue.Queue[tuple[Task, Progress]] = queue.Queue()
    threading.Thread(target=_receive, args=(read, tasks), daemon=True).start()
    models = LastModelCache()
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


def _receive(read: IO[str], tasks: queue.Queue[tuple[Task, Progress]]) -> None:
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


if __name__ == "__main__":
    logging.basicConfig(stream=sys.stderr)
    main()
