"""Passes on several workers: Ray starts them, repeats lost work, and distributes chunks. See docs/scale.md."""

import io
import logging
import os
import platform
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import ray
from ray.exceptions import RayError, RayTaskError
from ray.util import ActorPool

from bertviz_core.analyses.base.registry import ANALYSES
from bertviz_core.analyses.base.request import Request
from bertviz_core.analyses.run.chunks import Chunks, Parts, compute_chunk
from bertviz_core.analyses.run.run_pass import LocalRunner, as_observed, last_model_loader
from bertviz_core.engine.progress import Progress
from bertviz_core.errors import BertvizError, ModelError, SettingsError
from bertviz_core.inputs.encoding import Encoded
from bertviz_core.models import checkpoint
from bertviz_core.models.loading import load_tokens
from bertviz_core.models.model import AttentionModel
from bertviz_core.settings import Execution

ROOT = Path(__file__).parents[3]
BACKLOG = 3  # chunks for each worker that are being computed, or wait to be merged
POLL = 0.1  # seconds per check for cancellation
DESCRIPTION = (
    "device",
    "layers",
    "heads",
    "has_types",
    "observable",
    "causal",
    "notices",
)
OBJECT_STORE = 1_000_000_000  # bytes, of a cluster that is started here
TRIES = 3  # how often a call is tried whose process ends


@dataclass(frozen=True)
class PassTask:
    """A pass for a worker.

    Attributes:
        requests: The requests of the pass, without the bytes of their files.
        execution: How it is computed.
        fingerprint: The fingerprint of the model, which the worker's files must have.
    """

    requests: tuple[Request, ...]
    execution: Execution
    fingerprint: str


class ChunkWorker:
    """Computes chunks in a process of its own, perhaps on another machine; keeps the model of the last pass."""

    def __init__(self) -> None:
        self._load_model = last_model_loader()
        self._task: PassTask | None = None

    def shape(self, task: PassTask) -> dict[str, Any]:
        """Load the model of a pass and return its DESCRIPTION; raises BertvizError where that fails."""
        self._load(task)
        return {name: getattr(self._model, name) for name in DESCRIPTION}

    def compute(self, task: PassTask, number: int, examples: list[Encoded]) -> tuple[int, list[bytes]]:
        """The number of a chunk, and each request's sums over its examples."""
        self._load(task)
        batch_tokens = task.execution.batch_tokens
        _, sums = compute_chunk((number, examples), self._model, task.requests, Progress(), batch_tokens)
        return number, [each.to_bytes() for each in sums]

    def _load(self, task: PassTask) -> None:
        if task == self._task:
            return
        vars(self).pop("_model", None)  # The memory never has two models at once.
        self._task = None
        first = task.requests[0]
        model = checkpoint.reopen(first.checkpoint.name, first.checkpoint.folder, first.checkpoint.revision)
        if model.fingerprint() != task.fingerprint:
            where = f"{first.checkpoint.folder}, on {platform.node()}"
            hint = "Put the same files on each machine."
            raise ModelError("A worker has another model here.", where=where, hint=hint)
        requests = [replace(request, checkpoint=model) for request in task.requests]
        loaded = as_observed(self._load_model(requests, task.execution), requests)
        self._model = ANALYSES[first.analysis].model_of(loaded, requests[0])
        self._task = task


class RayRunner(LocalRunner):
    """Computes chunks and parts by workers, which are started for the first pass; the context ends them."""

    @cached_property
    def workers(self) -> list[Any]:
        """Actors, which Ray starts again when they end: one for each worker, else for each GPU, or each CPU."""
        if not ray.is_initialized():
            _connect(self.execution)
            self.callback(ray.shutdown)
        self.callback(self._end_workers)
        resources = ray.cluster_resources()
        cpus = int(resources.get("CPU", 0))
        gpus = 0 if self.execution.device == "cpu" else int(resources.get("GPU", 0))
        count = self.execution.workers or gpus or cpus
        if not 0 < count <= cpus:
            what = f"{count} workers need {count} CPUs, and the cluster has {cpus}."
            hint = f"Choose at most {cpus} workers, or wait until workers have joined the cluster."
            raise SettingsError(what, hint=hint)
        path = os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH")]))
        variables = {"PYTHONPATH": path, "OMP_WAIT_POLICY": "PASSIVE", "TOKENIZERS_PARALLELISM": "false"}
        worker: Any = ray.remote(ChunkWorker).options(
            num_cpus=1,
            num_gpus=min(1.0, gpus / count),
            runtime_env={"env_vars": variables},
            max_restarts=-1,
            max_task_retries=TRIES - 1,
        )
        return [worker.remote() for _ in range(count)]

    def start(self, together: Sequence[Request], progress: Progress) -> AttentionModel:
        """Load the model of a pass in every worker; returns it without weights."""
        if not ANALYSES[together[0].analysis].chunked:
            return super().start(together, progress)
        progress.start("Starting workers")
        progress.start(f"Loading the model in {len(self.workers)} workers")
        task = self._task(together)
        calls = [worker.shape.remote(task) for worker in self.workers]
        while ray.wait(calls, num_returns=len(calls), timeout=POLL)[1]:
            progress.advance(0)
        try:
            shapes = ray.get(calls)
        except RayError as error:
            raise _failure(error) from error
        if len({shape["device"] for shape in shapes}) > 1:
            what = "Some workers have a GPU and some have none: their sums would differ."
            raise ModelError(what, hint="Give --device cpu.")
        model = together[0].checkpoint
        return AttentionModel(checkpoint=model, encoder=None, tokens=load_tokens(model), **shapes[0])

    def map(self, requests: Sequence[Request], chunks: Chunks, progress: Progress) -> Parts:
        """Compute chunks by whichever worker is free.

        Reading is at most BACKLOG chunks for each worker ahead of the first one that is missing, so that memory is
        bounded.

        Args:
            requests: Those that share the pass.
            chunks: The chunks, which are read as they are needed.
            progress: Counts the examples; raises Cancelled.
        """
        pool = ActorPool(self.workers)
        task = self._task(requests)
        sizes: dict[int, int] = {}  # number of a chunk that is being computed -> its tokens, in order
        try:
            for number, examples in chunks:
                while sizes and number - next(iter(sizes)) >= BACKLOG * len(self.workers):
                    yield from self._next(pool, sizes, progress)
                sizes[number] = sum(map(len, examples))
                pool.submit(lambda worker, part: worker.compute.remote(task, *part), (number, examples))
            while sizes:
                yield from self._next(pool, sizes, progress)
        except BaseException:
            self._end_workers()  # The workers may still compute.
            raise

    def _task(self, requests: Sequence[Request]) -> PassTask:
        model = replace(requests[0].checkpoint, folder=requests[0].checkpoint.folder.absolute())
        source = replace(requests[0].source, opener=io.BytesIO, parts=())
        light = [replace(request, checkpoint=model, source=source, others={}) for request in requests]
        return PassTask(tuple(light), self.execution, model.fingerprint())

    def _next(self, pool: Any, sizes: dict[int, int], progress: Progress) -> Iterator[tuple[int, list[bytes]]]:
        """Yield the next chunk that is computed; nothing if there is none within POLL seconds."""
        try:
            number, sums = pool.get_next_unordered(timeout=POLL)
        except RayError as error:
            raise _failure(error) from error
        except TimeoutError:
            progress.advance(0)
            return
        yield number, sums
        progress.advance(sizes.pop(number))

    def _end_workers(self) -> None:
        for worker in vars(self).pop("workers", ()):
            with suppress(Exception):
                ray.kill(worker)


def _connect(execution: Execution) -> None:
    """Connect to the cluster, or start one with a CPU for each worker where no address is given."""
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    os.environ.setdefault("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")
    options: dict[str, Any] = {}
    if not execution.ray:
        options = {"num_cpus": execution.workers, "include_dashboard": False, "object_store_memory": OBJECT_STORE}
    try:
        ray.init(execution.ray or "local", log_to_driver=False, logging_level=logging.ERROR, **options)
    except (ConnectionError, RuntimeError, ValueError) as error:
        what = f"The Ray cluster at {execution.ray or 'this machine'} cannot be reached ({_reason(error)})."
        hint = "Start it with `ray start --head`, set its RAY_AUTH_TOKEN, or omit --ray."
        raise SettingsError(what, hint=hint) from error


def _failure(error: RayError) -> BertvizError:
    """The error of a failed actor call; a BertvizError is returned as it was raised there."""
    what = f"A worker process ended {TRIES} times ({_reason(error)})."
    if isinstance(error, RayTaskError):
        if isinstance(cause := error.cause, BertvizError):
            return cause
        what = f"A worker failed ({type(cause).__name__}: {_reason(cause)})."
    return BertvizError(what, hint="What was computed is stored: start it again, and it goes on.")


def _reason(error: BaseException) -> str:
    return (str(error).strip().splitlines() or [type(error).__name__])[0][:300]
