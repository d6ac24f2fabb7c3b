"""Passes of an analysis that is no single sum: what they show of each part of its examples, computed here or by workers
and kept, so that a job which was killed does not compute it again. See docs/scale.md."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from bertviz_core.analyses.chunks import DAMAGED, compute_chunk, work_name
from bertviz_core.analyses.registry import ANALYSES
from bertviz_core.engine.packing import pack
from bertviz_core.engine.progress import Progress
from bertviz_core.engine.stages import Pass
from bertviz_core.engine.store import Store
from bertviz_core.errors import StoreError
from bertviz_core.models.encoding import Encoded

if TYPE_CHECKING:
    from bertviz_core.analyses.request import Request
    from bertviz_core.analyses.worker_pass import Cluster
    from bertviz_core.models.model import AttentionModel

PART_TOKENS = 8_192  # of a part, as CHUNK_TOKENS of a chunk: maps are large, so parts are small
KEPT = 2_000_000_000  # bytes that one job keeps, and a fifth of the store at most; what is beyond is computed again


@dataclass
class KeptStages:
    """Passes of one request, whose parts are stored until the result is.

    Attributes:
        request: What is asked for.
        store: Keeps the parts until `drop`.
        execution: What their rounding depends on, as for chunks.
        batch_tokens: Tokens of a batch; the model's own number where it is None.
        cluster: Workers that compute the parts; None for this process.
    """

    request: Request
    store: Store | None = None
    execution: str = ""
    batch_tokens: int | None = None
    cluster: Cluster | None = None
    _names: list[str] = field(default_factory=list)
    _size: int = 0

    def run(self, pass_over: Pass, model: AttentionModel, progress: Progress) -> None:
        """Compute the parts that are not kept."""
        request = replace(self.request, options=pass_over.options)
        measure = ANALYSES[request.analysis].measure
        if self.cluster:
            self.cluster.load([request], False, progress)
        progress.start(pass_over.stage, len(pass_over.examples), pass_over.unit)
        empty = measure.accumulator(model, request)
        parts = dict(enumerate(cut(pass_over.examples)))
        count = len(parts)

        def finish(number: int, data: bytes) -> None:
            pass_over.take(empty.from_bytes(data))
            parts.pop(number)
            begin, end = pass_over.shares
            self._keep(request, number, data, end - (end - begin) * len(parts) / count)

        self._take_kept(request, parts, lambda data: pass_over.take(empty.from_bytes(data)), progress)
        if self.cluster:
            self.cluster.run_parts(parts, finish, progress)
        elif parts:
            network = measure.model_of(model, request)
            for number in list(parts):
                (sums,) = compute_chunk(network, [request], parts[number], progress, self.batch_tokens)
                finish(number, sums.to_bytes())

    def _take_kept(
        self, request: Request, parts: dict[int, list[Encoded]], take: Callable[[bytes], None], progress: Progress
    ) -> None:
        """Remove the parts that an earlier job has computed."""
        for number in list(parts) if self.store else []:
            with suppress(*DAMAGED):
                if self.store and (data := self.store.work(self._name(request, number))):
                    take(data)
                    self._note(request, number, data)
                    progress.before += len(parts[number])
                    progress.advance(len(parts.pop(number)))

    def drop(self) -> None:
        """Delete the stored parts once the result is stored."""
        if self.store:
            self.store.drop_work([*self._names, work_name(self.request)])

    def _name(self, request: Request, number: int) -> str:
        key = hashlib.sha256(f"{request.key()} {PART_TOKENS} {self.execution}".encode()).hexdigest()
        return f"parts/{key}/{number}"

    def _note(self, request: Request, number: int, data: bytes) -> None:
        self._names.append(self._name(request, number))
        self._size += len(data)

    def _keep(self, request: Request, number: int, data: bytes, share: float) -> None:
        if self.store and self._size + len(data) <= min(KEPT, self.store.limit // 5):
            with suppress(StoreError):  # the result may still find room
                self.store.keep_work(self._name(request, number), data)
                self._note(request, number, data)
                self.store.keep_work(work_name(self.request), pack({}, share=f"{share:.3f}"))


def cut(examples: Sequence[Encoded]) -> list[list[Encoded]]:
    """Consecutive examples of PART_TOKENS tokens at most, where they are more than one."""
    parts: list[list[Encoded]] = []
    room = 0
    for example in examples:
        if len(example) > room:
            parts.append([])
            room = PART_TOKENS
        parts[-1].append(example)
        room -= len(example)
    return parts
