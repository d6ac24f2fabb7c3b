"""A pass on several workers: its chunks are given out, and what they sum is merged in order. See docs/scale.md."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import asdict
from typing import Any

from bertviz_core.analyses.chunk_worker import ChunkWorker
from bertviz_core.analyses.chunks import ChunkPass
from bertviz_core.analyses.request import Request
from bertviz_core.corpora.parts import Slices
from bertviz_core.engine.packed_examples import pack_examples
from bertviz_core.engine.packing import unpack
from bertviz_core.engine.pool import Pool, Steps, WorkerLost
from bertviz_core.engine.progress import Progress
from bertviz_core.engine.ray_cluster import check_ray
from bertviz_core.engine.task_queue import TRIES, Task, TaskFailed
from bertviz_core.errors import ModelError
from bertviz_core.models.encoding import Encoded
from bertviz_core.models.model import AttentionModel
from bertviz_core.models.reading import Examples
from bertviz_core.settings import Execution


class Cluster(AbstractContextManager["Cluster"]):
    """Workers with the model of one pass after another, started for the first one; a context that ends them."""

    def __init__(self, execution: Execution) -> None:
        self.execution = execution
        self._fields: dict[str, Any] = {}
        self._progress = Progress()
        self._together: Sequence[Request] = ()
        self._files: dict[str, Any] = {}
        self._pool: Pool | None = None
        check_ray()

    @property
    def pool(self) -> Pool:
        """The pool of workers, started on first use."""
        if self._pool is None:
            how = self.execution
            self._pool = Pool(ChunkWorker, how.workers, how.ray, how.device, self._prepare)
        return self._pool

    def __exit__(self, *error: object) -> None:
        if self._pool is not None:
            self._pool.close()

    def load(self, together: Sequence[Request], masked_lm: bool, progress: Progress) -> AttentionModel:
        """Load the model of a pass in every worker.

        Returns:
            What the pass has to know of it, without weights.
        """
        from bertviz_core.models.loading import load_tokens

        progress.start("Starting workers")
        self._together, self._files, self._fields, self._progress = together, {}, {}, progress
        self.pool.gather(progress)
        progress.start(f"Loading the model in {len(self.pool.workers)} workers")
        self._fields = task_of(together, self.execution, masked_lm)
        answers = self._loaded(progress)
        for answer in answers:
            if "error" in answer:
                what, where, hint = answer["error"]
                raise ModelError(what, where=where, hint=hint)
        if len({answer["device"] for answer in answers}) > 1:
            raise ModelError(
                "Some workers have a GPU and some have none: their sums would differ.", hint="Give --device cpu."
            )
        checkpoint = together[0].checkpoint
        return AttentionModel(checkpoint=checkpoint, encoder=None, tokens=load_tokens(checkpoint), **answers[0])

    def _loaded(self, progress: Progress) -> list[dict[str, Any]]:
        """What every worker says when it has loaded the model; a worker that is lost meanwhile is replaced."""
        known = self._fields["fingerprint"], self._fields["folder"]
        for tries in range(1, TRIES + 1):
            try:
                for worker, has in self.pool.call("has_model", *known, progress=progress).items():
                    if not has:
                        self._send_files(worker)
                answers = self.pool.call("load", json.dumps(self._fields), progress=progress)
                return [json.loads(answer) for answer in answers.values()]
            except WorkerLost:
                if tries == TRIES:
                    raise
        raise AssertionError("unreachable")

    def run(self, chunks: ChunkPass, examples: Examples[Any], progress: Progress) -> None:
        """Compute what is missing, and merge it."""
        pending: dict[int, tuple[int, list[int]]] = {}
        self._progress = progress

        def take(task: Task, answer: bytes) -> None:
            parts = _sums(answer)
            number, which = task.number, pending[task.number][1]
            chunks.take(number, which, [parts[str(index)] for index in which])
            progress.advance(pending.pop(number)[0])

        self.pool.run("compute", self._tasks(chunks, examples, pending), take, progress)

    def run_parts(
        self, parts: dict[int, list[Encoded]], take: Callable[[int, bytes], None], progress: Progress
    ) -> None:
        """Compute what the request sums over each part, by number; `take` is given its bytes."""

        def take_answer(task: Task, answer: bytes) -> None:
            count = len(parts[task.number])
            take(task.number, _sums(answer)["0"])
            progress.advance(count)

        self._progress = progress
        tasks = (Task(number, (pack_examples(part),)) for number, part in list(parts.items()))
        self.pool.run("compute_part", tasks, take_answer, progress)

    def _tasks(
        self, chunks: ChunkPass, examples: Examples[Any], pending: dict[int, tuple[int, list[int]]]
    ) -> Iterator[Task]:
        """Each chunk with its bytes, read when it is given out."""
        slices = Slices(examples.source)
        for chunk, which in chunks.needed():
            pending[chunk.number] = chunk.examples, which
            data = slices.read(chunk.start.offset, chunk.end)
            yield Task(chunk.number, (which, json.dumps(asdict(chunk)), data))

    def _prepare(self, worker: Any) -> Steps:
        """A worker that joins in the middle of a pass loads the model before it is given chunks."""
        fields: dict[str, Any] = {}
        while self._fields and self._fields is not fields:  # another pass may begin while the model is loaded
            fields = self._fields
            if not (yield worker.has_model.remote(fields["fingerprint"], fields["folder"])):
                self._send_files(worker)
            answer = json.loads((yield worker.load.remote(json.dumps(fields))))
            if "error" in answer:
                raise WorkerLost(answer["error"][0])

    def _send_files(self, worker: Any) -> None:
        """Give the model's files, through Ray's object store, to a worker on a machine that has not got them."""
        ray, checkpoint = self.pool.ray, self._together[0].checkpoint
        try:
            for path in sorted(path for path in checkpoint.folder.iterdir() if path.is_file()):
                if path.name not in self._files:
                    self._files[path.name] = ray.put(path.read_bytes())
                sent = worker.receive.remote(self._fields["fingerprint"], path.name, self._files[path.name])
                self.pool.get(sent, self._progress)
        except ray.exceptions.RayError as error:
            raise WorkerLost(f"A worker process could not be started: {str(error).splitlines()[0]}") from error


def _sums(answer: bytes) -> dict[str, bytes]:
    """What a worker has summed; raises TaskFailed where it says that it could not."""
    parts = unpack(answer)
    if "error" in parts:
        raise TaskFailed(parts["error"])
    return parts


def task_of(together: Sequence[Request], execution: Execution, masked_lm: bool) -> dict[str, Any]:
    """All that a worker has to know of a pass, as JSON."""
    first = together[0]
    checkpoint, source = first.checkpoint, first.source
    return {
        "requests": [[request.analysis, request.options] for request in together],
        "settings": first.settings.to_json(),
        "name": checkpoint.name,
        "folder": str(checkpoint.folder.absolute()),
        "revision": checkpoint.revision,
        "fingerprint": checkpoint.fingerprint(),
        "source": {"name": source.name, "digest": source.digest, "size": source.size},
        "device": execution.device,
        "batch_tokens": execution.batch_tokens,
        "masked_lm": masked_lm,
    }
