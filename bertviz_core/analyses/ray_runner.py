"""Passes on several workers: Ray starts them, repeats lost work, and distributes chunks. See docs/scale.md."""

from __future__ import annotations

import io
import platform
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from bertviz_core.analyses.chunks import Chunks, Parts, compute_chunk
from bertviz_core.analyses.model_pass import LastModelCache, Load, LocalRunner, network_of
from bertviz_core.analyses.registry import ANALYSES
from bertviz_core.analyses.request import Request
from bertviz_core.engine import ray_cluster
from bertviz_core.engine.progress import Progress
from bertviz_core.errors import ModelError
from bertviz_core.models import checkpoint
from bertviz_core.models.encoding import Encoded
from bertviz_core.models.loading import load_tokens
from bertviz_core.models.model import AttentionModel, observing
from bertviz_core.settings import Execution

BACKLOG = 3  # chunks for each worker that are under way, or wait to be merged
POLL = 0.1  # seconds between two looks for a cancel
SHAPE = ("device", "layers", "heads", "has_types", "observable", "causal")  # of a model, for the command's process


@dataclass(frozen=True)
class PassTask:
    """Description of a pass for a worker: requests without the bytes of their files, and the model's fingerprint."""

    requests: tuple[Request, ...]
    execution: Execution
    fingerprint: str

    @classmethod
    def of(cls, requests: Sequence[Request], execution: Execution) -> PassTask:
        """The task of these requests, in the command's process."""
        model = requests[0].checkpoint
        model = replace(model, folder=model.folder.absolute())
        source = replace(requests[0].source, opener=io.BytesIO)
        bare = tuple(replace(request, checkpoint=model, source=source, others={}) for request in requests)
        return cls(bare, execution, model.fingerprint())


class ChunkWorker:
    """Computes chunks in a process of its own, perhaps on another machine; keeps the model of the last pass."""

    def __init__(self) -> None:
        self._models = LastModelCache()
        self._task: PassTask | None = None

    def shape(self, task: PassTask) -> dict[str, Any]:
        """The SHAPE of the model of a pass, which is loaded here; raises BertvizError where it cannot be."""
        self._load(task)
        return {name: getattr(self._model, name) for name in SHAPE}

    def compute(self, task: PassTask, number: int, examples: list[Encoded]) -> tuple[int, list[bytes]]:
        """The number of a chunk, and what each request sums over its examples."""
        self._load(task)
        chunk, batch_tokens = (number, examples), task.execution.batch_tokens
        _, sums = compute_chunk(chunk, self._model, task.requests, Progress(), batch_tokens)
        return number, [each.to_bytes() for each in sums]

    def _load(self, task: PassTask) -> None:
        if task == self._task:
            return
        vars(self).pop("_model", None)  # never two at once
        first, self._task = task.requests[0], None
        model = checkpoint.reopen(first.checkpoint.name, first.checkpoint.folder, first.checkpoint.revision)
        if model.fingerprint() != task.fingerprint:
            where = f"{first.checkpoint.folder}, on {platform.node()}"
            raise ModelError(
                "A worker has another model here.", where=where, hint="Put the same files on each machine."
            )
        requests = [replace(request, checkpoint=model) for request in task.requests]
        loaded = observing(self._models.load(requests, task.execution), first.settings.weights)
        self._model, self._task = network_of(loaded, requests[0]), task


class RayRunner(LocalRunner):
    """Computes passes by workers, started for the first one; a context that ends them.

    Work that is split into neither chunks nor parts runs in this process.
    """

    def __init__(self, execution: Execution, load: Load | None = None) -> None:
        super().__init__(execution, load)
        ray_cluster.check_ray()
        self._is_own = False  # whether the cluster ends with this

    @cached_property
    def workers(self) -> list[Any]:
        """The workers."""
        self._is_own = ray_cluster.connect(self.execution.ray, self.execution.workers) or self._is_own
        return ray_cluster.actors(ChunkWorker, self.execution.workers, self.execution.device)

    def __exit__(self, *error: object) -> None:
        self._end_workers()
        if self._is_own:
            import ray

            ray.shutdown()
            self._is_own = False

    def start(self, together: Sequence[Request], progress: Progress) -> AttentionModel:
        """Load the model of a pass in every worker; returns its description, without weights."""
        if not ANALYSES[together[0].analysis].chunked:
            return super().start(together, progress)

        progress.start("Starting workers")
        progress.start(f"Loading the model in {len(self.workers)} workers")
        task = PassTask.of(together, self.execution)
        shapes = self._answers([worker.shape.remote(task) for worker in self.workers], progress)
        if len({shape["device"] for shape in shapes}) > 1:
            raise ModelError(
                "Some workers have a GPU and some have none: their sums would differ.", hint="Give --device cpu."
            )
        model = together[0].checkpoint
        return AttentionModel(checkpoint=model, encoder=None, tokens=load_tokens(model), **shapes[0])

    def map(self, requests: Sequence[Request], chunks: Chunks, progress: Progress) -> Parts:
        """Compute chunks in the order in which workers become free. Of those that have been read,
        none is more than BACKLOG chunks for each worker ahead of the first that is missing: memory is bounded."""
        from ray.util import ActorPool

        pool, task = ActorPool(self.workers), PassTask.of(requests, self.execution)
        sizes: dict[int, int] = {}  # of the chunks under way, by number, in their order
        try:
            for number, examples in chunks:
                while sizes and number - next(iter(sizes)) >= BACKLOG * len(self.workers):
                    yield from self._next(pool, sizes, progress)
                sizes[number] = len(examples)
                pool.submit(lambda worker, part: worker.compute.remote(task, *part), (number, examples))
            while sizes:
                yield from self._next(pool, sizes, progress)
        except BaseException:
            self._end_workers()  # they may still compute
            raise

    def _next(self, pool: Any, sizes: dict[int, int], progress: Progress) -> Iterator[tuple[int, list[bytes]]]:
        """The next chunk that is computed, which counts once it has been taken; nothing for a while without one."""
        from ray.exceptions import RayError

        try:
            number, sums = pool.get_next_unordered(timeout=POLL)
        except RayError as error:
            raise ray_cluster.failure(error) from error
        except TimeoutError:
            progress.advance(0)
            return
        yield number, sums
        progress.advance(sizes.pop(number))

    def _answers(self, calls: list[Any], progress: Progress) -> list[Any]:
        import ray

        while ray.wait(calls, num_returns=len(calls), timeout=POLL)[1]:
            progress.advance(0)
        try:
            answers: list[Any] = ray.get(calls)
            return answers
        except ray.exceptions.RayError as error:
            raise ray_cluster.failure(error) from error

    def _end_workers(self) -> None:
        import ray

        for worker in vars(self).pop("workers", ()):
            with suppress(Exception):
                ray.kill(worker)
