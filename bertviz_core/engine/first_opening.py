"""The first opening of a model: by a process with limits of time and memory, before the server itself opens it.

A tokenizer, a configuration or weights that somebody made to do harm can end the process that reads them, or stop all
of its other threads. The server of the app therefore opens only what was opened before by a process that may end: this
one, or the worker process of the jobs (bertviz_core/tasks.py), which has the same limits while it loads a model. What
was opened is remembered in the store by the fingerprint of its files. The model that ships is trusted.

`python -m bertviz_core.engine.first_opening` reads a model as JSON from standard input, and prints a line of JSON for
each stage and for an error.
"""

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager, suppress
from importlib.metadata import version
from pathlib import Path
from typing import Any

from bertviz_core.engine.store import DAY, Store
from bertviz_core.errors import BertvizError, ModelError, StoreError
from bertviz_core.inputs import tokenizer_file
from bertviz_core.models import checkpoint as checkpoints
from bertviz_core.models import devices, loading
from bertviz_core.models.checkpoint import SHIPPED_MODELS, Checkpoint
from bertviz_core.models.checkpoint_files import tokenizer_folder
from bertviz_core.settings import app_offload

MEMORY = 2 << 30  # bytes that reading a tokenizer may take, and those that a model may take beyond its weights
WEIGHTS_AT_ONCE = 3  # a model's weights may be in memory so many times: as in the file, and while they are converted
THREAD_MEMORY = 200 << 20  # bytes of address space that a thread of PyTorch takes
TOKENIZER_SECONDS = 30  # of a core, to read a tokenizer
MODEL_SECONDS = 300  # to load a model, and one more for each BYTES_PER_SECOND of its weights
BYTES_PER_SECOND = 20 * 10**6
SECONDS_PER_CPU_SECOND = 10  # seconds for each second of a core
DAYS = 365  # until what was opened is forgotten
FAILED_S = 60  # seconds until a model that could not be opened is tried again
ROOT = Path(__file__).parents[2]
COMMAND = (sys.executable, "-P", "-m", "bertviz_core.engine.first_opening")
HINT = "Choose another model, or use the command line, which has no such limits."


class FirstOpenings:
    """The models that were opened before, and those that are being opened, one at a time.

    Attributes:
        store: Where it is remembered which models were opened.
    """

    def __init__(self, store: Store) -> None:
        self.store = store
        self._lock = threading.Lock()
        self._openings: dict[str, tuple[Future[None], float]] = {}  # by fingerprint, with the time when it began
        self._threads = ThreadPoolExecutor(1, thread_name_prefix="first opening")

    def open(self, checkpoint: Checkpoint, dtype: str = "float32") -> Future[None]:
        """The first opening of a model, done where it was opened before; `result()` raises ModelError for a model that
        cannot be opened, or takes too much time or memory."""
        key = checkpoint.fingerprint()
        with self._lock:
            opening, began = self._openings.get(key, (None, 0.0))
            is_over = opening is not None and opening.done() and opening.exception() is not None
            if opening is None or (is_over and time.monotonic() > began + FAILED_S):
                opening = self._begin(checkpoint, dtype)
                self._openings[key] = opening, time.monotonic()
            return opening

    def _begin(self, checkpoint: Checkpoint, dtype: str) -> Future[None]:
        if checkpoint.folder not in SHIPPED_MODELS.values() and not was_opened(self.store, checkpoint):
            return self._threads.submit(self._open, checkpoint, dtype)
        done: Future[None] = Future()
        done.set_result(None)
        return done

    def _open(self, checkpoint: Checkpoint, dtype: str) -> None:
        open_in_process(checkpoint, dtype)
        remember(self.store, checkpoint)


def was_opened(store: Store, checkpoint: Checkpoint) -> bool:
    """Whether a model of these files was opened before, by these versions of the libraries that read them."""
    with suppress(StoreError):
        return store.read(_name(checkpoint)) == _versions()
    return False


def remember(store: Store, checkpoint: Checkpoint) -> None:
    """Remember that a model was opened; where nothing can be stored it will be opened by a process once more."""
    with suppress(StoreError):
        store.write(_name(checkpoint), _versions(), expire=DAYS * DAY)


def _name(checkpoint: Checkpoint) -> str:
    return f"opened/{checkpoint.fingerprint()}"


def _versions() -> bytes:
    return " ".join(version(name) for name in ("tokenizers", "transformers", "torch")).encode()


def open_in_process(checkpoint: Checkpoint, dtype: str = "float32") -> None:
    """Open a model in a process of its own with limits, and forget it; raises ModelError where that fails."""
    task = {"name": checkpoint.name, "folder": str(checkpoint.folder.absolute()), "revision": checkpoint.revision}
    limit = SECONDS_PER_CPU_SECOND * (TOKENIZER_SECONDS + _seconds(checkpoint))
    path = os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH")]))
    env = os.environ | {"PYTHONPATH": path, "OMP_NUM_THREADS": "1", "CUDA_VISIBLE_DEVICES": ""}
    pipe, nowhere = subprocess.PIPE, subprocess.DEVNULL
    with subprocess.Popen(COMMAND, env=env, stdin=pipe, stdout=pipe, stderr=nowhere) as process:
        try:
            output, _ = process.communicate(json.dumps(task | {"dtype": dtype}).encode(), limit)
        except subprocess.TimeoutExpired:
            process.kill()
            output, _ = process.communicate()
    messages = [json.loads(line) for line in output.splitlines()]
    if error := next((each["error"] for each in messages if "error" in each), None):
        what, where, hint = error
        raise ModelError(what, where=where, hint=hint)
    if not messages or "done" not in messages[-1]:
        stage = messages[-1]["stage"] if messages else "files"
        what = (
            f"The model {checkpoint.name!r} cannot be opened: its {stage} would take too much time or memory to read."
        )
        raise ModelError(what, hint=HINT)


def _seconds(checkpoint: Checkpoint) -> int:
    """Seconds of a core that loading a model may take."""
    return MODEL_SECONDS + sum(path.stat().st_size for path in _weights(checkpoint)) // BYTES_PER_SECOND


def _memory(checkpoint: Checkpoint, dtype: str) -> int:
    """Bytes that loading a model may take."""
    size = sum(path.stat().st_size for path in _weights(checkpoint)) + checkpoint.parameters() * devices.BYTES[dtype]
    return MEMORY + WEIGHTS_AT_ONCE * int(size)


def _weights(checkpoint: Checkpoint) -> list[Path]:
    return list(checkpoint.folder.glob("*.safetensors"))


@contextmanager
def limited_loading(checkpoint: Checkpoint, dtype: str) -> Iterator[None]:
    """Limit this process while it loads a model, and only then: it ends where the model takes too much time, and mostly
    where it takes too much memory. The drivers of a GPU reserve more addresses than any limit allows."""
    from bertviz_core.models.libraries import torch

    memory = None
    if not torch.cuda.is_available():
        memory = _memory(checkpoint, dtype) + THREAD_MEMORY * torch.get_num_threads()
    with _limited(memory, seconds=SECONDS_PER_CPU_SECOND * _seconds(checkpoint), of_a_core=False):
        yield


@contextmanager
def _limited(memory: int | None, seconds: int, *, of_a_core: bool) -> Iterator[None]:
    """Limits of this process, if the system supports them: bytes beyond those that it has, and seconds, of a core or
    of the clock, after which the system ends it."""
    if sys.platform == "win32":  # which has no such limits
        yield
        return
    import resource

    undo: list[Callable[[], object]] = []

    def limit(kind: int, value: int) -> None:
        before = resource.getrlimit(kind)
        resource.setrlimit(kind, (value if before[1] == resource.RLIM_INFINITY else min(value, before[1]), before[1]))
        undo.append(lambda: resource.setrlimit(kind, before))

    with suppress(OSError, ValueError):
        if of_a_core:
            limit(resource.RLIMIT_CPU, int(time.process_time()) + seconds)
        else:
            signal.alarm(seconds)
            undo.append(lambda: signal.alarm(0))
        if memory is not None:
            pages = int(Path("/proc/self/statm").read_text().split()[0])
            limit(resource.RLIMIT_AS, pages * resource.getpagesize() + memory)
    try:
        yield
    finally:
        for restore in undo:
            restore()


def main() -> None:
    """Open the model that is described on standard input, and print what comes of it."""
    task = json.load(sys.stdin)
    dtype = task.pop("dtype")
    with suppress(AttributeError, OSError):  # Windows has no such function.
        os.nice(5)  # Pages come before it, but a reader waits for it.
        Path("/proc/self/oom_score_adj").write_text("1000")
    from bertviz_core.models.libraries import logging

    logging.set_verbosity_error()
    try:
        _open(checkpoints.reopen(**task), dtype)
    except BertvizError as error:
        _print(error=[error.what, error.where, error.hint])
    else:
        _print(done=True)
    os._exit(0)  # The process ends without taking large objects apart.


def _open(checkpoint: Checkpoint, dtype: str) -> None:
    _print(stage="tokenizer")
    with _limited(MEMORY, TOKENIZER_SECONDS, of_a_core=True):
        tokens = loading.load_tokens(checkpoint)
        tokenizer_file.notices(tokens, tokenizer_folder(checkpoint.folder))
    _print(stage="weights")
    with _limited(_memory(checkpoint, dtype), _seconds(checkpoint), of_a_core=True):
        loading.load_to_view(checkpoint, "cpu", dtype, app_offload())


def _print(**message: Any) -> None:
    print(json.dumps(message), flush=True)


if __name__ == "__main__":
    main()
