"""A pass on several workers: its chunks are given out, and what they sum is merged in order. See docs/scale.md."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict
from functools import cached_property
from typing import TYPE_CHECKING, Any

from bertviz_core.analyses.chunk_worker import ChunkWorker, task_of
from bertviz_core.analyses.chunks import ChunkPass
from bertviz_core.analyses.local_run import LocalRun
from bertviz_core.analyses.registry import ANALYSES
from bertviz_core.analyses.request import Request
from bertviz_core.engine.pool import Pool
from bertviz_core.engine.progress import Progress
from bertviz_core.engine.ray_cluster import check_ray
from bertviz_core.engine.task_queue import Task
from bertviz_core.errors import ModelError
from bertviz_core.models.encoding import Encoded
from bertviz_core.models.model import AttentionModel
from bertviz_core.models.reading import Examples, Slices
from bertviz_core.settings import Execution

if TYPE_CHECKING:
    from bertviz_core.analyses.local_run import Load


class Cluster(LocalRun):
    """Computes passes by workers, started for the first one; a context that ends them.

    What an analysis computes in neither chunks nor parts is computed in this process.
    """

    def __init__(self, execution: Execution, load: Load | None = None) -> None:
        super().__init__(execution, load)
        check_ray()

    @cached_property
    def pool(self) -> Pool:
        """The workers."""
        return Pool(ChunkWorker, self.execution.workers, self.execution.ray, self.execution.device)

    def __exit__(self, *error: object) -> None:
        if "pool" in self.__dict__:
            self.pool.close()
            del self.pool

    def start(self, together: Sequence[Request], progress: Progress) -> AttentionModel:
        """Load the model of a pass in every worker.

        Returns:
            What the pass has to know of it, without weights.
        """
        if not ANALYSES[together[0].analysis].chunked:
            return super().start(together, progress)
        from bertviz_core.models.loading import load_tokens

        shape = self._prepare(together, progress)
        checkpoint = together[0].checkpoint
        return AttentionModel(checkpoint=checkpoint, encoder=None, tokens=load_tokens(checkpoint), **shape)

    def run(self, chunks: ChunkPass, examples: Examples[Any], progress: Progress) -> None:
        """Compute the chunks that are missing, and merge them."""

        def take(task: Task, sums: list[bytes]) -> None:
            chunks.take(task.number, task.arguments[0], sums)
            progress.advance(chunks.index.chunks[task.number].examples)

        self.pool.run("compute", _tasks(chunks, examples), take, progress)

    def start_parts(self, request: Request, progress: Progress) -> None:
        self._prepare([request], progress)

    def run_parts(
        self,
        request: Request,
        parts: dict[int, list[Encoded]],
        take: Callable[[int, bytes], None],
        progress: Progress,
    ) -> None:
        def take_sums(task: Task, sums: list[bytes]) -> None:
            count = len(parts[task.number])
            take(task.number, sums[0])  # before a cancel
            progress.advance(count)

        # A model needs neither the sentence of an example nor where it is.
        plain = ((n, [(e.number, "", e.ids, e.types, e.words) for e in part]) for n, part in list(parts.items()))
        tasks = (Task(number, (part,)) for number, part in plain)
        self.pool.run("compute_part", tasks, take_sums, progress)

    def _prepare(self, together: Sequence[Request], progress: Progress) -> dict[str, Any]:
        """Load the model in every worker; returns its shape."""
        progress.start("Starting workers")
        self.pool.gather(progress)
        progress.start(f"Loading the model in {len(self.pool.workers)} workers")
        shapes = self.pool.prepare(progress, "load", task_of(together, self.execution))
        if len({shape["device"] for shape in shapes}) > 1:
            raise ModelError(
                "Some workers have a GPU and some have none: their sums would differ.", hint="Give --device cpu."
            )
        return dict(shapes[0])


def _tasks(chunks: ChunkPass, examples: Examples[Any]) -> Iterator[Task]:
    """Each chunk with its bytes, read when it is given out."""
    slices = Slices(examples.source)
    for chunk, which in chunks.needed():
        yield Task(chunk.number, (which, asdict(chunk), slices.read(chunk.start.offset, chunk.end)))
