"""The inside of the process that checks what a reader brings: `python -m bertviz_core.corpora.checking FOLDER`.

A task comes in as JSON; the files 0, 1, ... are in the folder. They are recognized, joined and read to their end within
limits of time, memory and size. What is to be stored is written to the folder as `out`, and a line of JSON says what it
is, or which error it has. A process that passes a limit ends without an answer.
"""

import contextlib
import json
import os
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

from bertviz_core.corpora.readers import check
from bertviz_core.corpora.recognition import as_one, kinds
from bertviz_core.corpora.source import Source, from_bytes
from bertviz_core.errors import BertvizError, InputError

MEMORY = 500 << 20  # bytes beyond what the process has when it begins
NICE = 19  # pages come first


def main(folder: Path) -> None:
    """Check the files of one task, and print what they are."""
    task = json.load(sys.stdin)
    _limit(task["max_size"], task["seconds"])
    try:
        answer = _check(folder, task)
    except BertvizError as error:
        answer = {"error": error.what, "where": error.where, "hint": error.hint}
    print(json.dumps(answer), flush=True)
    os._exit(0)  # a large file's objects need no tidying


def _check(folder: Path, task: dict[str, Any]) -> dict[str, Any]:
    def bounded(data: bytes, name: str) -> Source:
        return replace(from_bytes(data, name), max_unpacked=task["max_unpacked"])

    given = [bounded(Path(folder, str(number)).read_bytes(), name) for number, name in enumerate(task["names"])]
    own, data, name, encoding = task["kind"], b"", task["names"][0], ""
    if task["fixed"]:
        data = Path(folder, "0").read_bytes()
    else:
        data, name, encoding = as_one(given)
        if not data.strip():
            raise InputError("The file is empty or contains only blank lines.", where=name, hint="Choose another file.")
    if len(data) > task["max_size"]:
        raise InputError(f"The file is over {task['max_size'] >> 20} MB.", where=name, hint="Use the command line.")
    source = bounded(data, name)
    if not task["fixed"]:
        possible = kinds(source)
        own = own if own in possible[: max(1, len(possible) - 1)] or possible == ("text",) else possible[0]
    check(own, source)
    Path(folder, "out").write_bytes(data)
    return {"kind": own, "name": name, "encoding": encoding}


def _limit(size: int, seconds: int) -> None:
    """Limit this process, where the system can; the first to end where memory runs out."""
    with contextlib.suppress(ImportError, OSError, ValueError):
        import resource

        os.nice(NICE)
        resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))
        resource.setrlimit(resource.RLIMIT_FSIZE, (2 * size, 2 * size))
        pages = int(Path("/proc/self/statm").read_text().split()[0])
        memory = pages * resource.getpagesize() + MEMORY
        resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
        Path("/proc/self/oom_score_adj").write_text("1000")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
