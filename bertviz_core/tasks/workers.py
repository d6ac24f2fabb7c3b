"""A worker: a separate process for long work, started when it is first needed and again when it has ended."""

from __future__ import annotations

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
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from bertviz_core.engine.progress import Progress
from bertviz_core.errors import SMALLER, BertvizError, Cancelled
from bertviz_core.tasks.tasks import Task

PATIENCE = 0.3  # seconds that a stage has to hear a cancel before it is ended with its process
POLL = 0.05
ROOT = Path(__file__).parents[2]
log = logging.getLogger(__name__)
COMMAND = (sys.executable, "-P", "-m", "bertviz_core.tasks.worker_process")


class Worker:
    """Performs one task at a time in a process that stays, with its last model, for the next one.

    The process is neither a fork nor one of `multiprocessing`'s: those would run Streamlit's script again, and pickle.

    Args:
        modules: What the process imports before its first task. A cancel meanwhile leaves it to get ready for the next.
    """

    def __init__(self, *modules: str) -> None:
        self._modules = modules
        self._process: Process | None = None
        atexit.register(self.close)

    def __call__(self, task: Task, progress: Progress) -> None:
        """Perform the task, and return when it is done.

        Raises:
            Cancelled: `progress` said so; a stage that does not hear of it in time was ended with its process.
            BertvizError: The task failed, or its process ended.
        """
        process = self._process if self._process and self._process.alive() else Process(self._modules)
        self._process = process
        try:
            while not process.ready:
                progress.start("Starting a worker process")
                process.ready = "ready" in process.hear(POLL)
            process.say(task=task)
            process.follow(progress)
        except (OSError, EOFError):
            raise _died(process.end()) from None

    def close(self) -> None:
        """End the process and its work."""
        if self._process is not None:
            self._process.end()


def _died(status: int) -> BertvizError:
    how = f"signal {-status}" if status < 0 else f"exit status {status}"
    return BertvizError(
        f"The worker process died ({how}); memory may have run out.",
        hint=f"{SMALLER} Or run it again, if the process was stopped.",
    )


class Process:
    """The running process, and lines of JSON to and from it."""

    def __init__(self, modules: Sequence[str]) -> None:
        self.ready = False
        path = os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH")]))
        self._popen = subprocess.Popen(
            [*COMMAND, *modules], stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=os.environ | {"PYTHONPATH": path}
        )
        self._heard: queue.Queue[dict[str, Any] | None] = queue.Queue()
        threading.Thread(target=self._listen, name="worker", daemon=True).start()

    def alive(self) -> bool:
        return self._popen.poll() is None

    def say(self, **message: Any) -> None:
        """Send one message; raises OSError where the process has ended."""
        assert self._popen.stdin
        self._popen.stdin.write(json.dumps(message).encode() + b"\n")
        self._popen.stdin.flush()

    def hear(self, seconds: float) -> dict[str, Any]:
        """The next message, empty where none comes in time; raises EOFError where the process is gone."""
        try:
            message = self._heard.get(timeout=seconds)
        except queue.Empty:
            return {}
        if message is None:
            raise EOFError
        return message

    def follow(self, progress: Progress) -> None:
        """Show the progress of a task to its end; raises the error that it ended with, or Cancelled."""
        ends = float("inf")
        while time.monotonic() <= ends:
            if ends == float("inf") and progress.cancelled.is_set():
                self.say(cancel=True)
                ends = time.monotonic() + PATIENCE
            message = self.hear(POLL)
            if "progress" in message:
                progress.restore(message["progress"])
            elif message.get("end") == "done":
                return
            elif message.get("end") == "failed":
                if message["broken"]:
                    self.end()
                what, where, hint = message["error"]
                raise BertvizError(what, where=where, hint=hint)
            elif "end" in message:
                raise Cancelled()
        self.end()
        raise Cancelled()

    def end(self) -> int:
        """Kill the process; returns its exit status, a negative signal number where a signal ended it."""
        self._popen.kill()
        status = self._popen.wait()
        with contextlib.suppress(OSError):  # of a message that it did not read
            assert self._popen.stdin
            self._popen.stdin.close()
        return status

    def _listen(self) -> None:
        """Pass messages on. What an installed analysis prints before the output is reserved for them is logged."""
        assert self._popen.stdout
        try:
            with self._popen.stdout as lines:
                for line in lines:
                    if message := _message(line):
                        self._heard.put(message)
                    elif line.strip():
                        log.info("printed by the worker: %s", line.decode("utf-8", "replace").rstrip())
        finally:
            self._heard.put(None)


def _message(line: bytes) -> dict[str, Any] | None:
    try:
        message = json.loads(line)
    except ValueError:
        return None
    return message if isinstance(message, dict) else None
