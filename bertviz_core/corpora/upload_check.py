"""Check of uploads: they are recognized, joined and read once to their end before they are stored, by a process with
limits of time, memory and size.

It is not the worker process, which performs jobs (bertviz_core/tasks.py). The limits of a process cannot be raised
again, and the worker's model alone takes more memory than a check may; a file that reaches a limit ends the process
that reads it, which would end another reader's job and throw the model away; and whoever gives a file would wait for
the jobs before it, which may take hours.

`python -m bertviz_core.corpora.upload_check FOLDER` reads a task as JSON and the files 0, 1, ... of the folder; it
writes the joined file there, as `out`, and prints what it contains, or an error, as JSON.
"""

import contextlib
import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from weakref import WeakSet

from bertviz_core.corpora import contents, format_detection
from bertviz_core.corpora.source import Source, from_bytes
from bertviz_core.errors import BertvizError, InputError
from bertviz_core.numbers import plural

MAX_RUNNING_CHECKS = 2  # checks that run; others wait
SECONDS_PER_CPU_SECOND = 10  # seconds for each second of a core that a check may take
NO_SPACE = "There is no space on the disk of the server to read it."
MEMORY = 500 << 20  # bytes beyond those of the process when it begins
ROOT = Path(__file__).parents[2]
COMMAND = (sys.executable, "-m", "bertviz_core.corpora.upload_check")
_threads = ThreadPoolExecutor(MAX_RUNNING_CHECKS, thread_name_prefix="upload check")
_checks: WeakSet["UploadCheck"] = WeakSet()
_lock = threading.Lock()


@dataclass(frozen=True)
class CheckedFiles:
    """Files that can be read, joined.

    Attributes:
        data: The bytes, in UTF-8 unless packed.
        name: The name of the first file, and how many more there are.
        encoding: The encoding that was converted; empty for UTF-8.
        contents: From each kind of corpus as which it can be read to what was read, in words; the page's kind, or else
            the most specific one, is the first.
        problem: Why they cannot be read as the page's kind, where they seem to be it; empty where they can.
    """

    data: bytes
    name: str
    encoding: str
    contents: dict[str, str]
    problem: str = ""


class UploadCheck:
    """A check of files that someone gives.

    Attributes:
        name: The name of the first file.
        checked: The joined files, once the check is done; `result()` raises InputError where they cannot be read, or
            take too long or too much memory.
    """

    def __init__(self, files: Sequence[tuple[str, bytes]], kind: str, *, fixed: bool, **limits: int) -> None:
        """Begin the check.

        Args:
            files: (name, bytes) of each file.
            kind: The kind of the corpus that the page reads, or "vectors".
            fixed: Whether the files must be of this kind; else they are read as what they are.
            limits: `max_size` and `max_unpacked`, in bytes, and `seconds` of a core.
        """
        task = {"kind": kind, "fixed": fixed, "names": [name for name, _ in files], "seconds": 10} | limits
        self.name = files[0][0]
        self._files = files
        self._size = sum(len(data) for _, data in files)
        self._ended = threading.Event()
        self._process: subprocess.Popen[bytes] | None = None
        self.checked: Future[CheckedFiles] = _threads.submit(self._run, task)
        with _lock:
            _checks.add(self)

    def end(self) -> None:
        """Stop, and forget the files."""
        self._ended.set()
        self._files = ()
        self._size = 0
        if process := self._process:
            process.kill()

    @property
    def size(self) -> int:
        """Bytes in memory: the files until they are checked, then the file to be stored."""
        if not self.checked.done():
            return self._size
        return 0 if self.checked.exception() else len(self.checked.result().data)

    def _run(self, task: dict[str, Any]) -> CheckedFiles:
        files, self._files = self._files, ()
        _check_size(self._size, self.name, task)
        with tempfile.TemporaryDirectory(prefix="bertviz-upload-") as folder:
            try:
                for number, (_, data) in enumerate(files):
                    Path(folder, str(number)).write_bytes(data)
            except OSError as error:
                raise InputError(NO_SPACE, where=self.name, hint="Try again later.") from error
            command, pipe = [*COMMAND, folder], subprocess.PIPE
            with subprocess.Popen(command, cwd=ROOT, stdin=pipe, stdout=pipe, stderr=subprocess.DEVNULL) as process:
                self._process = process
                try:
                    if self._ended.is_set():
                        process.kill()
                    output, _ = process.communicate(json.dumps(task).encode(), SECONDS_PER_CPU_SECOND * task["seconds"])
                    answer = json.loads(output)
                except (subprocess.TimeoutExpired, ValueError) as error:
                    process.kill()
                    what = _why(process.wait(), task["seconds"], is_late=isinstance(error, subprocess.TimeoutExpired))
                    hint = "Unpack or split it, or use the command line."
                    if self._ended.is_set():
                        what, hint = "The upload was interrupted.", "Upload it again."
                    raise InputError(what, where=self.name, hint=hint) from error
            if "error" in answer:
                raise InputError(answer["error"], where=answer["where"], hint=answer["hint"])
            return CheckedFiles(Path(folder, "out").read_bytes(), **answer)


def _why(status: int, seconds: int, *, is_late: bool) -> str:
    """Why files cannot be read whose check has ended with this exit status, or by its limit of time."""
    if is_late or -status == getattr(signal, "SIGXCPU", None):
        return f"It cannot be read: it takes more than {plural(seconds, 'seconds')} of a core."
    if -status == getattr(signal, "SIGXFSZ", None):
        return "It cannot be read: it would take too much space on the disk."
    return f"It cannot be read: it takes too much memory, more than {MEMORY >> 20} MB."


def bytes_in_memory() -> int:
    """Bytes of all checks in memory."""
    with _lock:
        checks = list(_checks)
    return sum(check.size for check in checks)


def _check_size(size: int, name: str, task: dict[str, Any]) -> None:
    if size > task["max_size"]:
        raise InputError(f"The file is over {task['max_size'] >> 20} MB.", where=name, hint="Use the command line.")


def main(folder: Path) -> None:
    """Perform the check that is described on standard input, with the files of a folder, and print the answer as
    JSON."""
    task = json.load(sys.stdin)
    _limit(task["max_size"], task["seconds"])
    try:
        answer = _check(folder, task)
    except BertvizError as error:
        answer = {"error": error.what, "where": error.where, "hint": error.hint}
    except OSError:  # The files are its own, and there.
        answer = {"error": NO_SPACE, "where": task["names"][0], "hint": "Try again later."}
    print(json.dumps(answer), flush=True)
    os._exit(0)  # The process ends without taking large objects apart.


def _check(folder: Path, task: dict[str, Any]) -> dict[str, Any]:
    """Write the joined files as `out`; returns the other fields of `CheckedFiles`."""
    files = [(Path(folder, str(number)).read_bytes(), name) for number, name in enumerate(task["names"])]
    kind = task["kind"]
    problem = ""
    if task["fixed"]:
        data, name = files[0]
        source, encoding = from_bytes(data, name, task["max_unpacked"]), ""
        _check_size(len(data), name, task)
        found = {kind: contents.describe(kind, source)}
    else:
        data, source, encoding = format_detection.join_files(files, task["max_unpacked"])
        if not data.strip():
            raise source.error("The file is empty or contains only blank lines.", "Choose another file.")
        _check_size(len(data), source.name, task)
        found, problem = _read(source, kind)
    Path(folder, "out").write_bytes(data)
    return {"name": source.name, "encoding": encoding, "contents": found, "problem": problem}


def _read(source: Source, kind: str) -> tuple[dict[str, str], str]:
    """Read files to their end as each kind that they are, that of the page first; returns what was read, by kind, and
    why they cannot be read as that of the page, where they seem to be it. Prose that begins like a corpus is text.

    Raises:
        InputError: They cannot be read as any of them; the error is that of the first.
    """
    *annotated, _ = format_detection.kinds(source)  # Every corpus can be read as text, and is not unless it is text.
    found = {}
    problems: dict[str, InputError] = {}
    for each in sorted(annotated, key=lambda other: other != kind) or [kind]:
        try:
            found[each] = contents.describe(each, source)
        except InputError as problem:
            problems[each] = problem
    if found:
        return found, problems[kind].what if kind in problems else ""
    if kind == "text" or not format_detection.is_prose(source):
        raise next(iter(problems.values()))
    return {"text": contents.describe("text", source)}, ""


def _limit(size: int, seconds: int) -> None:
    """Limit this process, if the system supports it, and make it the first to be killed when memory runs out."""
    with contextlib.suppress(ImportError, OSError, ValueError):
        import resource

        os.nice(19)  # the lowest priority
        resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 1))  # At the first the signal says why.
        resource.setrlimit(resource.RLIMIT_FSIZE, (2 * size, 2 * size))
        pages = int(Path("/proc/self/statm").read_text().split()[0])
        memory = pages * resource.getpagesize() + MEMORY
        resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
        Path("/proc/self/oom_score_adj").write_text("1000")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
