"""Tasks of jobs as JSON, and the worker process that performs them: models and files by location, results by the store.

To a worker go {"task": ...} and {"cancel": true}; from it come {"progress": ...} while a task runs, then {"end": one of
"done", "cancelled" and "failed", "error": ..., "broken": ...}. A broken process, whose error no user can fix, is not
used again. The process ends with its server.
"""

import atexit
import json
import logging
import math
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import suppress
from dataclasses import replace
from functools import partial
from multiprocessing import Pipe, connection
from pathlib import Path
from typing import Any

from bertviz_core.analyses.base.registry import ANALYSES
from bertviz_core.analyses.base.request import Request
from bertviz_core.analyses.run import compute, run_pass
from bertviz_core.corpora.source import Source, from_path
from bertviz_core.engine import first_opening
from bertviz_core.engine.jobs import outcome
from bertviz_core.engine.progress import LOADING, Progress
from bertviz_core.engine.store import Store
from bertviz_core.engine.uploads import Uploads
from bertviz_core.errors import SMALLER, BertvizError, Cancelled, DownloadNeeded, InputError, Unexpected
from bertviz_core.head_atlas import stored_site
from bertviz_core.models import checkpoint, model_sources
from bertviz_core.models.model import AttentionModel
from bertviz_core.paper_report.report import ReportRequest
from bertviz_core.settings import Execution, Settings, access_from_environment, app_execution

SHORT = 5  # letters: a name of fewer may be a word of a sentence
CANCEL_GRACE_S = 0.3  # seconds between a cancel and the end of a process that does not react
PROGRESS_INTERVAL_S = 0.1  # seconds between progress messages
ROOT = Path(__file__).parents[1]
COMMAND = (sys.executable, "-P", "-m", "bertviz_core.tasks")
Task = Mapping[str, Any]  # JSON


def analyses(to_compute: Iterable[Request], store: Store) -> Task:
    """The task to compute and store these requests; raises InputError where a corpus is only in memory."""
    return {"store": str(store.folder), "requests": [_as_json(request) for request in to_compute]}


def download(names: Sequence[str], to_compute: Iterable[Request], store: Store) -> Task:
    """The task to fetch the files of hub models, and to compute and store those of these requests that the last one
    can serve."""
    return {**analyses(to_compute, store), "download": [*names]}


def report(request: ReportRequest, store: Store) -> Task:
    """The task to compute and store what a report lacks; raises InputError as `analyses` does."""
    return {"store": str(store.folder), "report": _as_json(request)}


def atlas(request: ReportRequest, store: Store) -> Task:
    """The task to write and store the site of what is stored for a report; raises InputError as `analyses` does."""
    return {"store": str(store.folder), "atlas": _as_json(request)}


def under_own_names(error: BertvizError, performed: Task, own: Task) -> BertvizError:
    """An error of a task as the reader of an equal one sees it: with the names that the reader has for the files."""
    others = _names(performed)
    what, where, hint = error.what, error.where, error.hint
    for digest, name in _names(own).items():
        other = others.get(digest, name)
        where = _with_name(where, other, name)
        if name not in where and where.startswith(other[:SHORT]):  # The end of a long name has been cut off.
            where = name
        if len(other) >= SHORT:
            what, hint = _with_name(what, other, name), _with_name(hint, other, name)
    return BertvizError(what, where=where, hint=hint)


def _with_name(text: str, other: str, name: str) -> str:
    return re.sub(rf"(?<!\w){re.escape(other)}(?!\w)", lambda _: name, text)


def _names(part: Any) -> dict[str, str]:
    """From digest to name, of every file in a task."""
    if isinstance(part, Mapping):
        if part.keys() >= {"digest", "locator"}:
            return {part["digest"]: part["name"]}
        part = list(part.values())
    if not isinstance(part, list):
        return {}
    return {digest: name for each in part for digest, name in _names(each).items()}


def perform(task: Task, progress: Progress, load: run_pass.Load) -> None:
    """Perform a task with models from `load`; raises BertvizError, or Cancelled where `progress` says so."""
    store = Store(Path(task["store"]))
    execution = app_execution()
    if fields := task.get("atlas"):
        request = _open_report(fields, store)
        stored_site.compute(request, store, progress, lambda _: load(request.requests()[:1], execution))
        return
    if fields := task.get("report"):
        request = _open_report(fields, store)
        if failed := request.compute(store, execution, progress, load):
            names = ", ".join(ANALYSES[name].title for name in failed)
            raise BertvizError(f"Not computed: {names}.", hint=next(iter(failed.values())))
        return
    to_compute = task["requests"]
    if to_fetch := task.get("download"):
        for number, name in enumerate(to_fetch, 1):
            progress.start_pass(number, len(to_fetch), name)
            model = _as_json(_download(name, progress))
        to_compute = [each | {"checkpoint": model} for each in to_compute]
    to_compute = [_open_request(each, store) for each in to_compute]
    if to_fetch:
        to_compute = list(filter(run_pass.can_compute, to_compute))
    compute.compute_all(to_compute, store, execution, progress, load)
    for each in {request.checkpoint.fingerprint(): request.checkpoint for request in to_compute}.values():
        first_opening.remember(store, each)


def _limited(load: run_pass.Load) -> run_pass.Load:
    """The same with limits of time and memory for this process while it loads a model."""

    def load_limited(together: Sequence[Request], execution: Execution) -> AttentionModel:
        with first_opening.limited_loading(together[0].checkpoint, together[0].settings.dtype):
            return load(together, execution)

    return load_limited


def _download(name: str, progress: Progress) -> checkpoint.Checkpoint:
    access = access_from_environment()
    try:
        return checkpoint.find_checkpoint(name, access=access)
    except DownloadNeeded as needed:
        progress.start(f"Downloading {needed.name}", round(needed.size / 1e6), "MB")
    before = model_sources.downloaded()
    with ThreadPoolExecutor(1) as pool:
        running = pool.submit(checkpoint.download, name, access)
        while wait(
            [running], 5 * PROGRESS_INTERVAL_S
        ).not_done:  # Each round walks the hub's folder, so it comes less often.
            progress.done = min(round((model_sources.downloaded() - before) / 1e6), progress.total)
    return running.result()


def _as_json(part: Any) -> Any:
    """A part of a task; raises InputError for a corpus that no other process can read."""
    match part:
        case Source(locator=""):
            hint = "Upload it again, or name another folder for the store with BERTVIZ_STORE."
            raise InputError("The corpus is not in the store, so no job can read it.", where=part.name, hint=hint)
        case Source():
            return {name: getattr(part, name) for name in ("name", "digest", "locator", "max_unpacked")}
        case checkpoint.Checkpoint():
            return {"name": part.name, "folder": str(part.folder.absolute()), "revision": part.revision}
        case Request() | ReportRequest():
            return _as_json(vars(part))
        case Settings():
            return part.to_json()
        case Mapping():
            return {name: _as_json(value) for name, value in part.items()}
    return part


def _open_report(fields: Mapping[str, Any], store: Store) -> ReportRequest:
    corpora = {kind: _open_source(source, store) for kind, source in fields["corpora"].items()}
    model = checkpoint.reopen(**fields["checkpoint"])
    return ReportRequest(model, corpora, Settings(**fields["settings"]), fields["max_cost"])


def _open_request(fields: Mapping[str, Any], store: Store) -> Request:
    model = checkpoint.reopen(**fields["checkpoint"])
    source = _open_source(fields["source"], store)
    settings = Settings(**fields["settings"])
    others = {role: _open_source(each, store) for role, each in fields["others"].items()}
    return Request(
        analysis=fields["analysis"],
        checkpoint=model,
        source=source,
        settings=settings,
        options=fields["options"],
        others=others,
    )


def _open_source(fields: Mapping[str, Any], store: Store) -> Source:
    """A corpus of a task; raises InputError where its bytes are missing or have changed since the job was queued."""
    kind, _, key = fields["locator"].partition(":")
    source = Uploads(store).source(key) if kind == "upload" else from_path(key)
    name = fields["name"]
    if source.digest != fields["digest"]:
        what = "The file has changed since the job was asked for."
        raise InputError(what, where=name, hint="Start the job again.")
    return replace(source, name=name, max_unpacked=fields["max_unpacked"])


class Worker:
    """Performs one task at a time in a process that keeps its last model and is started when it is needed. A process
    of `multiprocessing` would run Streamlit's script again."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None
        atexit.register(self.close)

    def __call__(self, task: Task, progress: Progress) -> None:
        """Perform the task; raises Cancelled where `progress` says so (a stage that does not react in time is ended
        with its process), BertvizError where the task fails or the process ends."""
        if not self._process or self._process.poll() is not None:
            progress.start("Starting a worker process")
            path = os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH")]))
            self._link, other = Pipe()
            with other:
                handle = other.fileno()
                inherit: dict[str, Any] = {"pass_fds": [handle]}
                if sys.platform == "win32":
                    os.set_handle_inheritable(handle, True)
                    inherit = {"close_fds": False}
                env = os.environ | {"PYTHONPATH": path}
                command = [*COMMAND, str(handle)]
                self._process = subprocess.Popen(command, stdin=subprocess.DEVNULL, env=env, **inherit)
        _send(self._link, task=task)
        try:
            self._follow(progress)
        except (OSError, EOFError):
            status = self.close()
            how = f"signal {-status}" if status < 0 else f"exit status {status}"
            what = f"The worker process died ({how}); memory may have run out."
            if progress.stage == LOADING:
                what = f"The model cannot be opened: it would take too much time or memory to load ({how})."
            raise BertvizError(what, hint=f"{SMALLER} Or run it again, if the process was stopped.") from None

    def close(self) -> int:
        """Kill the process; returns its exit status, a negative signal number where a signal ended it."""
        if not self._process:
            return 0
        self._process.kill()
        self._link.close()
        return self._process.wait()

    def _follow(self, progress: Progress) -> None:
        """Show the progress of a task to its end; raises the error that it ended with, or Cancelled."""
        ends = math.inf
        while time.monotonic() <= ends:
            if ends == math.inf and progress.cancelled.is_set():
                _send(self._link, cancel=True)
                ends = time.monotonic() + CANCEL_GRACE_S
            if not self._link.poll(0.05):
                continue
            message = json.loads(self._link.recv_bytes())
            if "progress" in message:
                vars(progress).update(message["progress"])
            elif message["end"] == "done":
                return
            elif message["end"] == "failed":
                if message["broken"]:
                    self.close()
                what, where, hint = message["error"]
                raise BertvizError(what, where=where, hint=hint)
            else:
                raise Cancelled()
        self.close()
        raise Cancelled()


def _send(link: connection.Connection, **message: Any) -> None:
    with suppress(OSError):  # The other process may have ended, which the next reading finds.
        link.send_bytes(json.dumps(message).encode())


def main(link: connection.Connection) -> None:
    """Perform the tasks that come in by this link, until the server has ended."""
    if sys.platform != "win32":
        os.set_inheritable(link.fileno(), False)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the server alone.
    with suppress(AttributeError, OSError):  # Windows has no such function.
        os.nice(19)  # Pages come before tasks.
        # This makes the process the first to be killed when memory runs out.
        Path("/proc/self/oom_score_adj").write_text("500")
    pool = ThreadPoolExecutor(1)
    perform_task = partial(perform, load=_limited(run_pass.last_model_loader()))
    with suppress(EOFError, OSError):
        while True:
            message = json.loads(link.recv_bytes())
            if "task" not in message:
                continue  # The message is a cancel that comes too late.
            progress = Progress()
            running = pool.submit(outcome, perform_task, message["task"], progress, "a task")
            while wait([running], PROGRESS_INTERVAL_S).not_done:
                _send(link, progress=progress.snapshot())
                if link.poll():
                    link.recv_bytes()
                    progress.cancelled.set()
            state, error = running.result()
            parts = error and [error.what, error.where, error.hint]
            _send(link, end=state, error=parts, broken=isinstance(error, Unexpected))
    os._exit(1)  # The process ends, whatever the task does.


if __name__ == "__main__":
    logging.basicConfig(stream=sys.stderr)
    kind = getattr(connection, "PipeConnection", connection.Connection)  # Windows has a class of its own.
    main(kind(int(sys.argv[1])))
