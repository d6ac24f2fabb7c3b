"""Files of strangers, checked in a process of their own: its limits, its end, and the memory that checks take."""

import gzip
import time
from collections.abc import Iterator
from contextlib import suppress

import psutil
import pytest

from bertviz_core.corpora import upload_check
from bertviz_core.corpora.upload_check import MAX_RUNNING_CHECKS, UploadCheck
from bertviz_core.errors import InputError

MB = 1 << 20
TEXT = b"The cat sat on the mat.\n"
PACKED = gzip.compress(b"a\n" * (MB // 2)) * 200  # takes a minute to read

# In place of the check: it has the same limits.
FILLS = """
import json, sys
from bertviz_core.corpora import upload_check
task = json.load(sys.stdin)
upload_check._limit(task["max_size"], task["seconds"])
bytearray(2 * upload_check.MEMORY)
print("{}")
"""


def begin(data: bytes = TEXT, seconds: int = 1) -> UploadCheck:
    limits = {"max_size": 50 * MB, "max_unpacked": 500 * MB, "seconds": seconds}
    return UploadCheck([("given.txt", data)], "text", fixed=False, **limits)


def processes() -> list[psutil.Process]:
    """Those of checks."""
    found = []
    for child in psutil.Process().children(recursive=True):
        with suppress(psutil.NoSuchProcess):  # it has ended meanwhile
            if "bertviz_core.corpora.upload_check" in child.cmdline():
                found.append(child)
    return found


@pytest.fixture(autouse=True)
def no_process_is_left() -> Iterator[None]:
    yield
    psutil.wait_procs(processes(), 20)
    assert not processes()


@pytest.mark.parametrize(
    "data",
    [PACKED, gzip.compress(b"") * 500_000 + gzip.compress(TEXT)],
    ids=["lines that unpack", "packed files without content"],
)
def test_a_file_that_takes_minutes_to_read_is_refused_after_its_seconds(data: bytes) -> None:
    check = begin(data)
    with pytest.raises(InputError, match="takes more than 1 second of a core"):
        check.checked.result()


def test_a_file_that_fills_the_memory_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(upload_check, "COMMAND", (upload_check.COMMAND[0], "-c", FILLS))
    with pytest.raises(InputError, match="takes too much memory, more than"):
        begin(seconds=60).checked.result()


def test_a_reader_who_leaves_ends_the_process() -> None:
    check = begin(PACKED, seconds=60)
    while not processes():
        time.sleep(0.01)
    check.end()
    with pytest.raises(InputError, match="interrupted") as caught:
        check.checked.result()
    assert caught.value.hint == "Upload it again."


def test_files_are_counted_until_they_are_checked_and_kept_no_longer() -> None:
    before = upload_check.bytes_in_memory()
    running = [begin(PACKED, seconds=60) for _ in range(MAX_RUNNING_CHECKS)]
    before += MAX_RUNNING_CHECKS * len(PACKED)
    while len(processes()) < MAX_RUNNING_CHECKS:
        time.sleep(0.01)
    waiting = [begin(b"x" * MB) for _ in range(3)]
    assert upload_check.bytes_in_memory() == before + 3 * MB
    waiting[0].end()
    assert upload_check.bytes_in_memory() == before + 2 * MB
    for check in (*running, *waiting):
        check.end()
    for check in waiting:
        with pytest.raises(InputError, match="interrupted"):
            check.checked.result()


def test_what_was_checked_is_counted_until_it_is_stored() -> None:
    check = begin(TEXT * 1000, seconds=60)
    assert check.checked.result().data == TEXT * 1000
    assert check.size == len(TEXT) * 1000
