"""A worker computes chunks in a process of its own, perhaps on another machine; it is given bytes and JSON."""

from __future__ import annotations

import gc
import io
import json
import tempfile
import traceback
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from bertviz_core.analyses.chunks import compute_chunk
from bertviz_core.analyses.registry import ANALYSES, examples_class
from bertviz_core.analyses.request import Request
from bertviz_core.corpora.source import Source, Start
from bertviz_core.engine.packed_examples import unpack_examples
from bertviz_core.engine.packing import pack
from bertviz_core.engine.progress import Progress
from bertviz_core.errors import BertvizError, ModelError
from bertviz_core.models import checkpoint
from bertviz_core.models.checkpoint import Checkpoint
from bertviz_core.models.model import AttentionModel
from bertviz_core.models.norms import observing
from bertviz_core.models.reading import Chunk
from bertviz_core.settings import Settings

SHAPE = ("device", "layers", "heads", "has_types", "observable", "causal")  # of a model, as the driver needs it


class ChunkWorker:
    """Keeps the model of the current pass."""

    def __init__(self) -> None:
        self._received: dict[str, tempfile.TemporaryDirectory[str]] = {}  # by fingerprint
        self._loaded: tuple[Any, AttentionModel] | None = None

    def has_model(self, fingerprint: str, folder: str) -> bool:
        """Whether the files of the model are here, in that folder or received earlier."""
        return self._folder(fingerprint, folder) is not None

    def receive(self, fingerprint: str, name: str, data: bytes) -> None:
        """Store one file of a model on this machine."""
        folder = self._received.setdefault(fingerprint, tempfile.TemporaryDirectory(prefix="bertviz-model-"))
        Path(folder.name, Path(name).name).write_bytes(data)

    def load(self, task: str) -> str:
        """Load the model of one pass.

        Args:
            task: JSON, see `cluster.task_of`.

        Returns:
            JSON: the model's SHAPE, or the error.
        """
        fields = json.loads(task)
        try:
            settings = Settings(**fields["settings"])
            model_files = self._checkpoint(fields)
            self.model = observing(self._load(model_files, fields), settings.weights)
        except BertvizError as error:
            return json.dumps({"error": [error.what, error.where, error.hint]})
        source = Source(**fields["source"], opener=io.BytesIO)
        self.batch_tokens = fields["batch_tokens"]
        self.requests = [
            Request(analysis, model_files, source, settings, options) for analysis, options in fields["requests"]
        ]
        analysis = ANALYSES[self.requests[0].analysis]
        if not analysis.chunked:
            self.model = analysis.measure.model_of(self.model, self.requests[0])
        kind = examples_class(analysis.corpus)
        self.examples = (kind, source, settings)
        return json.dumps({name: getattr(self.model, name) for name in SHAPE})

    def compute(self, which: list[int], chunk: str, data: bytes) -> bytes:
        """What the requests at these places sum over a chunk: `pack` of the sums' bytes by place, or of an error."""
        fields = json.loads(chunk)
        kind, source, settings = self.examples
        part = Chunk(**fields | {"start": Start(**fields["start"])})
        return self._sums(which, lambda: kind.of_part(source, self.model.tokens, settings, part, data))

    def compute_part(self, data: bytes) -> bytes:
        """Sum the first request over a part of its examples.

        Args:
            data: The examples, as `pack_examples` gives them.

        Returns:
            The sums as `compute` returns them.
        """
        return self._sums([0], lambda: unpack_examples(data))

    def _sums(self, which: list[int], examples: Callable[[], Iterable[Any]]) -> bytes:
        try:
            requests = [self.requests[index] for index in which]
            sums = compute_chunk(self.model, requests, examples(), Progress(), self.batch_tokens)
        except BertvizError as error:
            return pack({"error": str(error)})
        except Exception as error:
            return pack({"error": f"{type(error).__name__}: {error}", "trace": traceback.format_exc()})
        return pack({str(index): each.to_bytes() for index, each in zip(which, sums, strict=True)})

    def _load(self, model_files: Checkpoint, fields: dict[str, Any]) -> AttentionModel:
        from bertviz_core.models.loading import load

        key = (fields["fingerprint"], fields["device"], fields["settings"].get("dtype"), fields["masked_lm"])
        if self._loaded is None or self._loaded[0] != key:
            self._loaded = None
            gc.collect()
            dtype = Settings(**fields["settings"]).dtype
            model = load(model_files, fields["device"], dtype, masked_lm=fields["masked_lm"])
            self._loaded = key, model
        return self._loaded[1]

    def _checkpoint(self, fields: dict[str, Any]) -> Checkpoint:
        folder = self._folder(fields["fingerprint"], fields["folder"])
        if folder is None:
            raise ModelError("The model's files are not on this worker's machine.", where=fields["folder"])
        return checkpoint.reopen(fields["name"], folder, fields["revision"])

    def _folder(self, fingerprint: str, folder: str) -> Path | None:
        """The folder on this machine whose files have this fingerprint, or None."""
        if fingerprint in self._received:
            return Path(self._received[fingerprint].name)
        try:
            return Path(folder) if checkpoint.reopen("", Path(folder), None).fingerprint() == fingerprint else None
        except (BertvizError, OSError):
            return None
