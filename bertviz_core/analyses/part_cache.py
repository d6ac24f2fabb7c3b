"""Analyses of several passes, such as the probes: what each pass computes of every part of the examples, cached in the
store until the result is there, so that a job which was killed does not compute it again. See docs/scale.md."""

import hashlib
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any

from bertviz_core.analyses import details
from bertviz_core.analyses.chunks import DAMAGED, Parts, Pass, Runner, work_name
from bertviz_core.analyses.registry import ANALYSES
from bertviz_core.analyses.request import Request
from bertviz_core.engine.packing import pack
from bertviz_core.engine.progress import Progress
from bertviz_core.engine.store import Store
from bertviz_core.errors import StoreError
from bertviz_core.models.encoding import Encoded
from bertviz_core.models.model import AttentionModel
from bertviz_core.models.reading import cut

PART_TOKENS = 8_192  # of a part, as CHUNK_TOKENS of a chunk: maps are large, so parts are small
MAX_CACHED = 2_000_000_000  # bytes of one job, and a fifth of the store at most; the rest is computed again


@dataclass
class PartCache:
    """The passes of one request, whose parts are stored until the result is.

    Attributes:
        request: What is asked for.
        model: Gives the shapes of what is computed.
        runner: Computes the parts.
        store: Has the parts until `drop`.
        rounding: What their rounding depends on, as for chunks.
    """

    request: Request
    model: AttentionModel
    runner: Runner
    store: Store | None
    rounding: str
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
        """One pass, of which the parts are computed that are not stored.

        Args:
            options: What it computes: `Analysis.accumulator` and `Analysis.model_of` are given them in a request.
            examples: Its inputs.
            take: Given the accumulator of each part.
            shares: Shares of the whole work that are done before the pass and after it.
            stage: Name of the stage in the progress.
            progress: Counts examples.
        """
        request = replace(self.request, options=options)
        progress.start(stage, len(examples), "sentences")
        empty = ANALYSES[request.analysis].accumulator(self.model, request)
        parts = dict(enumerate(cut(examples, PART_TOKENS)))
        count, (begin, end) = len(parts), shares
        key = hashlib.sha256(f"{request.key()} {PART_TOKENS} {self.rounding}".encode()).hexdigest()
        for number in list(parts) if self.store else []:
            with suppress(*DAMAGED):
                if self.store and (data := self.store.read(f"work/parts/{key}/{number}")):  # of an earlier job
                    take(empty.from_bytes(data))
                    self._note(f"parts/{key}/{number}", data)
                    progress.before += len(parts[number])
                    progress.advance(len(parts.pop(number)))
        missing = self.runner.map([request], iter(list(parts.items())), progress) if parts else ()
        for number, (sums,) in missing:
            data = sums if isinstance(sums, bytes) else sums.to_bytes()
            take(empty.from_bytes(data))
            del parts[number]
            self._put(f"parts/{key}/{number}", data, end - (end - begin) * len(parts) / count)

    def drop(self) -> None:
        """Delete the stored parts once the result is stored."""
        if self.store:
            self.store.drop_work([*self._names, work_name(self.request)])

    def _note(self, name: str, data: bytes) -> None:
        self._names.append(name)
        self._size += len(data)

    def _put(self, name: str, data: bytes, share: float) -> None:
        if self.store and self._size + len(data) <= min(MAX_CACHED, self.store.limit // 5):
            with suppress(StoreError):  # the result may still find room
                self.store.put_work(name, data)
                self._note(name, data)
                self.store.put_work(work_name(self.request), pack({}, share=f"{share:.3f}", work=self.rounding))


@dataclass
class UnchunkedPass(Pass):
    """A pass of analyses that are not sums over chunks: they get all inputs, and may read them several times."""

    def __post_init__(self) -> None:
        self.analysis = ANALYSES[self.together[0].analysis]
        self.totals = [self.analysis.accumulator(self.model, request) for request in self.together]
        self._caches: list[PartCache] = []

    def parts(self, runner: Runner, progress: Progress) -> Parts:
        """Compute the analysis for each request; no part is left to be taken."""
        examples = []
        for example in self.corpus:
            examples.append(example)
            progress.advance(1)
        progress.start("Running the model", len(examples), self.corpus.examples.unit)
        settings, batch_tokens = self.together[0].settings, runner.execution.batch_tokens
        if not self.analysis.staged:
            self.analysis.run(self.model, settings, examples, self.totals, progress, batch_tokens)
            return iter(())
        for request, total in zip(self.together, self.totals, strict=True):
            cache = PartCache(request, self.model, runner, self.store, self.rounding)
            self._caches.append(cache)
            self.analysis.run_stages(examples, total, progress, cache.run, batch_tokens)
            parts = list(self.analysis.take_details(total))
            for number, detail in enumerate(parts):
                details.put(self.store, request.key(), number, detail)
            details.finish(self.store, request.key(), len(parts))
        return iter(())

    def finish(self) -> None:
        """Delete the cached parts once the results are stored."""
        for cache in self._caches:
            cache.drop()
