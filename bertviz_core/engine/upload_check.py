"""Files that a reader brings are recognized and read to their end in a process of their own, before they are stored."""

import json
import os
import subprocess
import sys
import tempfile
import threading
from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bertviz_core.errors import InputError

AT_ONCE = 4  # checks; each takes one core and 500 MB at most, and others wait
PATIENCE = 10  # times its seconds of a core, after which a check ends whatever it does
ROOT = Path(__file__).parents[2]
COMMAND = (sys.executable, "-P", "-m", "bertviz_core.corpora.checking")
_threads = ThreadPoolExecutor(AT_ONCE, thread_name_prefix="upload check")


@dataclass(frozen=True)
class Checked:
    """Files that can be read, as one.

    Attributes:
        data: The bytes to store, in UTF-8 unless they are packed.
        name: Of the file, or of the first and how many more.
        kind: What they are to be read as.
        encoding: The encoding that was not UTF-8; empty where it was.
    """

    data: bytes
    name: str
    kind: str
    encoding: str


class Check:
    """A check that waits or runs.

    Args:
        files: (name, bytes) of each.
        kind: The kind of corpus that the page reads, or "vectors".
        fixed: Whether the files must be of this kind; else they are taken for what they are.
        max_size: Bytes that they may have together.
        max_unpacked: Bytes that they may unpack to.
        seconds: Of a core, that reading them may take.
    """

    def __init__(
        self,
        files: Sequence[tuple[str, bytes]],
        kind: str,
        *,
        fixed: bool,
        max_size: int,
        max_unpacked: int,
        seconds: int = 10,
    ) -> None:
        self.name = files[0][0]
        self._ended = threading.Event()
        self._process: subprocess.Popen[bytes] | None = None
        task = {"kind": kind, "fixed": fixed, "max_size": max_size, "max_unpacked": max_unpacked, "seconds": seconds}
        self._future: Future[Checked] = _threads.submit(self._run, files, task)

    def done(self, seconds: float = 0.0) -> bool:
        """Whether it is over, at once or within so many seconds."""
        try:
            self._future.exception(seconds)
        except TimeoutError:
            return False
        return True

    def result(self) -> Checked:
        """What was found; raises InputError for files that cannot be read, or take too much."""
        return self._future.result()

    def end(self) -> None:
        """Stop it."""
        self._ended.set()
        if process := self._process:
            process.kill()

    def _run(self, files: Sequence[tuple[str, bytes]], task: dict[str, Any]) -> Checked:
        if sum(len(data) for _, data in files) > task["max_size"]:
            what = f"The file is over {task['max_size'] >> 20} MB."
            raise InputError(what, where=self.name, hint="Use the command line.")
        with tempfile.TemporaryDirectory(prefix="bertviz-upload-") as folder:
            for number, (_, data) in enumerate(files):
                Path(folder, str(number)).write_bytes(data)
            found = self._ask(folder, task | {"names": [name for name, _ in files]})
            if "error" in found:
                raise InputError(found["error"], where=found["where"], hint=found["hint"])
            return Checked(Path(folder, "out").read_bytes(), found["name"], found["kind"], found["encoding"])

    def _ask(self, folder: str, task: dict[str, Any]) -> dict[str, str]:
        path = os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH")]))
        with subprocess.Popen(
            [*COMMAND, folder],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=os.environ | {"PYTHONPATH": path},
        ) as self._process:
            try:
                if self._ended.is_set():
                    self._process.kill()
                answer, _ = self._process.communicate(json.dumps(task).encode(), PATIENCE * task["seconds"])
                found: dict[str, str] = json.loads(answer)
                return found
            except (subprocess.TimeoutExpired, ValueError):
                self._process.kill()
        what = "The upload was interrupted." if self._ended.is_set() else "It takes too much time or memory to read."
        raise InputError(what, where=self.name, hint="Unpack or split it, or use the command line.")
