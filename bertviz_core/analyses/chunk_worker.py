"""A worker computes chunks in a process of its own, perhaps on another machine; it is given bytes and JSON."""

from __future__ import annotations

import io
import tempfile
from collections.abc import Iterable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from bertviz_core.analyses.chunks import compute_chunk
from bertviz_core.analyses.local_run import LastModel
from bertviz_core.analyses.registry import ANALYSES, examples_class
from bertviz_core.analyses.request import Request
from bertviz_core.corpora.source import Source, Start
from bertviz_core.engine.progress import Progress
from bertviz_core.errors import BertvizError
from bertviz_core.models import checkpoint
from bertviz_core.models.encoding import Encoded
from bertviz_core.models.model import observing
from bertviz_core.models.reading import Chunk
from bertviz_core.settings import Execution, Settings

SHAPE = ("device", "layers", "heads", "has_types", "observable", "causal")  # of a model, for the command's process


def task_of(together: Sequence[Request], execution: Execution) -> dict[str, Any]:
    """All that a worker has to know of a pass, as JSON, from the process that gives out its chunks."""
    import ray

    first = together[0]
    model_files, source = first.checkpoint, first.source
    return {
        "requests": [[request.analysis, request.options] for request in together],
        "settings": first.settings.to_json(),
        "name": model_files.name,
        "revision": model_files.revision,
        "fingerprint": model_files.fingerprint(),
        "folder": str(model_files.folder.absolute()),
        "files": [path.name for path in model_files.folder.iterdir() if path.is_file()],
        "node": ray.get_runtime_context().get_node_id(),
        "source": {"name": source.name, "digest": source.digest, "size": source.size},
        "device": execution.device,
        "batch_tokens": execution.batch_tokens,
    }


class ChunkWorker:
    """Keeps the model of the current pass."""

    def __init__(self) -> None:
        self._received: dict[str, tempfile.TemporaryDirectory[str]] = {}  # by fingerprint
        self._models = LastModel()

    def load(self, task: dict[str, Any]) -> dict[str, Any]:
        """Load the model of one pass.

        Args:
            task: From `task_of`.

        Returns:
            The model's SHAPE.

        Raises:
            BertvizError: The model cannot be loaded here.
        """
        vars(self).pop("model", None)  # never two at once
        settings = Settings(**task["settings"])
        model_files = checkpoint.reopen(task["name"], self._folder(task), task["revision"])
        source = Source(**task["source"], opener=io.BytesIO)
        self.requests = [
            Request(analysis, model_files, source, settings, options) for analysis, options in task["requests"]
        ]
        self.batch_tokens, first = task["batch_tokens"], self.requests[0]
        self.model = observing(self._models.load(self.requests, Execution(task["device"])), settings.weights)
        if not ANALYSES[first.analysis].chunked:
            self.model = ANALYSES[first.analysis].measure.model_of(self.model, first)
        return {name: getattr(self.model, name) for name in SHAPE}

    def compute(self, which: list[int], chunk: dict[str, Any], data: bytes) -> list[bytes]:
        """What the requests at these places sum over a chunk."""
        first, part = self.requests[0], Chunk(**chunk | {"start": Start(**chunk["start"])})
        kind = examples_class(ANALYSES[first.analysis].corpus)
        return self._sums(which, kind.of_part(first.source, self.model.tokens, first.settings, part, data))

    def compute_part(self, part: list[tuple[Any, ...]]) -> list[bytes]:
        """What the first request sums over examples, each the number, the place and the arrays of an Encoded."""
        return self._sums([0], [Encoded(*fields) for fields in part])

    def _sums(self, which: list[int], examples: Iterable[Any]) -> list[bytes]:
        requests = [self.requests[index] for index in which]
        sums = compute_chunk(self.model, requests, examples, Progress(), self.batch_tokens)
        return [each.to_bytes() for each in sums]

    def _folder(self, task: dict[str, Any]) -> Path:
        """The folder on this machine with the files of the model; where there is none, they are fetched through Ray's
        object store from the machine that gives out the chunks."""
        if self.is_here(task["folder"], task["fingerprint"]):
            return Path(task["folder"])
        if task["fingerprint"] not in self._received:
            import ray
            from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

            there = NodeAffinitySchedulingStrategy(task["node"], soft=False)
            read = ray.remote(Path.read_bytes).options(num_cpus=0, scheduling_strategy=there)
            received = tempfile.TemporaryDirectory(prefix="bertviz-model-")
            for name in task["files"]:
                data = ray.get(read.remote(Path(task["folder"], name)))
                Path(received.name, name).write_bytes(data)
            self._received[task["fingerprint"]] = received
        return Path(self._received[task["fingerprint"]].name)

    @staticmethod
    def is_here(folder: str, fingerprint: str) -> bool:
        """Whether a folder on this machine has the files of this fingerprint."""
        with suppress(BertvizError, OSError):
            return checkpoint.reopen("", Path(folder), None).fingerprint() == fingerprint
        return False
