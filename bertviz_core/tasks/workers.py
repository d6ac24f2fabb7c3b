"""A worker: a separate process for long work, started when it is first needed and again when it has ended."""

import atexit
import contextlib
import json
import logging
import os
import queue
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import IO, Any

from bertviz_core.engine.progress import Progress
from bertviz_core.errors import SMALLER, BertvizError, Cancelled
from bertviz_core.tasks.tasks import Task

PATIENCE = 0.3  # seconds that a stage has to react to a cancel before it is ended with its process
POLL = 0.05
ROOT = Path(__file__).parents[2]
log = logging.getLogger(__name__)
COMMAND = (sys.executable, "-P", "-m", "bertviz_core.tasks.worker_process")


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
            self._start()
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

    def _start(self) -> None:
        path = os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH")]))
        environment, pipe = os.environ | {"PYTHONPATH": path}, subprocess.PIPE
        self._process = subprocess.Popen(COMMAND, stdin=pipe, stdout=pipe, env=environment)
        self._messages = queue.Queue()
        threading.Thread(target=_listen, args=(self._process.stdout, self._messages), daemon=True).start()

    def _send(self, **message: Any) -> None:
        """Send one message; raises OSError where the process has ended."""
        assert self._process and self._process.stdin
        self._process.stdin.write(json.dumps(message).encode() + b"\n")
        self._process.stdin.flush()

    def _follow(self, progress: Progress) -> None:
        """Show the progress of a task to its end; raises the error that it ended with, or Cancelled."""
        ends = float("inf")
        while time.monotonic() <= ends:
            if ends == float("inf") and progress.cancelled.is_set():
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
            try:
                message = json.loads(line)
            except ValueError:
                message = None
            if isinstance(message, dict):
                messages.put(message)
            elif line.strip():
                log.info("printed by the worker: %s", line.decode("utf-8", "replace").rstrip())
    messages.put(None)


def _died(status: int) -> BertvizError:
    how = f"signal {-status}" if status < 0 else f"exit status {status}"
    return BertvizError(
        f"The worker process died ({how}); memory may have run out.",
        hint=f"{SMALLER} Or run it again, if the process was stopped.",
    )
