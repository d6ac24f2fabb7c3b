"""Passes of an analysis that is no single sum: what they show of each part of its examples, computed here or by workers
and kept, so that a job which was killed does not compute it again. See docs/scale.md."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any

from bertviz_core.analyses.chunks import DAMAGED, work_name
from bertviz_core.analyses.local_run import LocalRun
from bertviz_core.analyses.registry import ANALYSES
from bertviz_core.analyses.request import Request
from bertviz_core.engine.packing import pack
from bertviz_core.engine.progress import Progress
from bertviz_core.engine.store import Store
from bertviz_core.errors import StoreError
from bertviz_core.models.encoding import Encoded

PART_TOKENS = 8_192  # of a part, as CHUNK_TOKENS of a chunk: maps are large, so parts are small
KEPT = 2_000_000_000  # bytes that one job keeps, and a fifth of the store at most; what is beyond is computed again


@dataclass
class KeptStages:
    """Passes of one request, whose parts are stored until the result is.

    Attributes:
        request: What is asked for.
        runner: Computes the parts.
        store: Keeps the parts until `drop`.
        rounding: What their rounding depends on, as for chunks.
    """

    request: Request
    runner: LocalRun
    store: Store | None = None
    rounding: str = ""
    _names: list[str] = field(default_factory=list)
    _size: int = 0

    def run(
        self,
        options: dict[str, Any],
        examples: Sequence[Encoded],
        take: Callable[[Any], None],
        shares: tuple[float, float],
        stage: str,
        progress: Progress,
    ) -> None:
        """One pass, of which the parts are computed that are not kept.

        Args:
            options: What it computes: `measure.accumulator` and `measure.model_of` are given them in a request.
            examples: Its inputs.
            take: Given the accumulator of each part.
            shares: Shares of the whole work that are done before the pass and after it.
            stage: What its progress is called.
            progress: Counts examples.
        """
        request = replace(self.request, options=options)
        self.runner.start_parts(request, progress)
        progress.start(stage, len(examples), "sentences")
        empty = ANALYSES[request.analysis].measure.accumulator(self.runner.model, request)
        parts = dict(enumerate(cut(examples)))
        count, (begin, end) = len(parts), shares
        key = hashlib.sha256(f"{request.key()} {PART_TOKENS} {self.rounding}".encode()).hexdigest()

        def finish(number: int, data: bytes) -> None:
            take(empty.from_bytes(data))
            del parts[number]
            self._keep(f"parts/{key}/{number}", data, end - (end - begin) * len(parts) / count)

        for number in list(parts) if self.store else []:
            with suppress(*DAMAGED):
                if self.store and (data := self.store.work(f"parts/{key}/{number}")):  # of an earlier job
                    take(empty.from_bytes(data))
                    self._note(f"parts/{key}/{number}", data)
                    progress.before += len(parts[number])
                    progress.advance(len(parts.pop(number)))
        self.runner.run_parts(request, parts, finish, progress)

    def drop(self) -> None:
        """Delete the stored parts once the result is stored."""
        if self.store:
            self.store.drop_work([*self._names, work_name(self.request)])

    def _note(self, name: str, data: bytes) -> None:
        self._names.append(name)
        self._size += len(data)

    def _keep(self, name: str, data: bytes, share: float) -> None:
        if self.store and self._size + len(data) <= min(KEPT, self.store.limit // 5):
            with suppress(StoreError):  # the result may still find room
                self.store.keep_work(name, data)
                self._note(name, data)
                self.store.keep_work(work_name(self.request), pack({}, share=f"{share:.3f}", work=self.rounding))


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
