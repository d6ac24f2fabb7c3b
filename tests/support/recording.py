"""Writes down the calls of functions as they happen, in this process and in those that call `record` too."""

import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType

ROOT = Path(__file__).parents[2]


def record(file: Path) -> None:
    """From now on append a line to a file for each call of a function of the pages or the core, in this thread and in
    those that begin later: "function path". Functions within others have a dot in front of their names."""
    folders = tuple(f"{ROOT / name}/" for name in ("bertviz_core", "pages"))
    stream = file.open("a", buffering=1, encoding="utf-8")

    def called(frame: FrameType, event: str, _argument: object) -> None:
        code = frame.f_code
        if event == "call" and code.co_filename.startswith(folders) and not code.co_name.startswith("<"):
            stream.write(f"{code.co_name} {code.co_filename.removeprefix(f'{ROOT}/')}\n")

    threading.setprofile(called)
    sys.setprofile(called)


@contextmanager
def recorded(file: Path) -> Iterator[None]:
    """Record inside the block."""
    record(file)
    try:
        yield
    finally:
        sys.setprofile(None)
        threading.setprofile(None)


def calls(file: Path) -> list[tuple[str, str]]:
    """(function, file) of each call so far, in order."""
    return [(name, path) for name, path in map(str.split, file.read_text().splitlines())]
