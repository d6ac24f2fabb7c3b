"""Requests of one pass, summed chunk by chunk and merged in the corpus's order: one result, wherever chunks run
(methods, section 14)."""

import json
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import replace

from bertviz_core.analyses import details
from bertviz_core.analyses.registry import ANALYSES
from bertviz_core.analyses.request import Request
from bertviz_core.engine import stream
from bertviz_core.engine.jobs import Progress
from bertviz_core.engine.packing import metadata_of, pack, unpack
from bertviz_core.engine.store import DAY, Store
from bertviz_core.engine.stream import Accumulator
from bertviz_core.errors import StoreError
from bertviz_core.models import reading
from bertviz_core.models.encoding import Encoded
from bertviz_core.models.model import AttentionModel
from bertviz_core.models.reading import CorpusReading, cut

WORK_DAYS = 30  # for which unfinished sums are kept
SAVING = 0.02  # share of the time that saving may take: short chunks are saved several at once
DAMAGED = (ValueError, KeyError, TypeError, StoreError)
Chunks = Iterator[tuple[int, list[Encoded]]]  # a chunk's number, from 0, and its examples
Parts = Iterator[tuple[int, Sequence["Accumulator | bytes"]]]  # and what each request sums over it


def compute_chunk(
    chunk: tuple[int, Sequence[Encoded]],
    model: AttentionModel,
    requests: Sequence[Request],
    progress: Progress,
    batch_tokens: int | None,
) -> tuple[int, list[Accumulator]]:
    """Compute a chunk in one pass; returns its number and each request's sums over its examples."""
    (number, examples), analyses = chunk, [ANALYSES[request.analysis] for request in requests]
    accumulators = [each.accumulator(model, request) for each, request in zip(analyses, requests, strict=True)]
    if analyses[0].has_own_pass:
        analyses[0].run(model, requests[0].settings, examples, accumulators, progress, batch_tokens)
    else:
        stream.run(model, examples, accumulators, progress, batch_tokens)
    return number, accumulators


class ChunkSums:
    """Sums of one request over the chunks of a corpus: `total` of the first `done` chunks, merged, and later ones, by
    number and without their details, that wait for those before them."""

    def __init__(self, request: Request, empty: Accumulator, store: Store | None) -> None:
        self.request, self.total, self.store = request, empty, store
        self.done = 0
        self.waiting: dict[int, Accumulator] = {}

    def needs(self, number: int) -> bool:
        """Whether the chunk has still to be computed."""
        return number >= self.done and number not in self.waiting

    def take(self, number: int, part: Accumulator | bytes) -> None:
        """Add a chunk, unless it was added before, and merge all chunks that are now in order."""
        if not self.needs(number):
            return
        sums = self.total.from_bytes(part) if isinstance(part, bytes) else part
        if hasattr(sums, "take_detail"):  # before it waits
            details.put(self.store, self.request.key(), number, sums.take_detail())
        self.waiting[number] = sums
        while self.done in self.waiting:
            self.total.merge(self.waiting.pop(self.done))
            self.done += 1

    def to_bytes(self, **metadata: str) -> bytes:
        """Pack the sums, so that a later job can resume from them."""
        waiting = {f"waiting/{number}": part.to_bytes() for number, part in self.waiting.items()}
        return pack({"done": self.done, "total": self.total.to_bytes(), **waiting}, **metadata)

    def restore(self, data: bytes) -> None:
        """Resume from sums that `to_bytes` packed."""
        state = unpack(data)
        total, done = self.total.from_bytes(state.pop("total")), state.pop("done")
        waiting = {int(name.removeprefix("waiting/")): total.from_bytes(part) for name, part in state.items()}
        self.total, self.done, self.waiting = total, done, waiting


class ChunkedPass:
    """Sums over chunks of the requests that share one pass, saved to the store on the way; of a corpus of one chunk
    nothing is saved. The model gives the shapes of the sums, and where they are; `rounding` says what the rounding of
    sums depends on: the device and the tokens per batch."""

    def __init__(
        self,
        together: Sequence[Request],
        corpus: CorpusReading,
        model: AttentionModel,
        store: Store | None,
        rounding: str,
    ) -> None:
        self.corpus, self.store = corpus, store
        self.work = f"{rounding}, {reading.CHUNK_TOKENS} of a chunk"  # a job goes on from no other
        self.sizes: list[int] = []  # of the chunks that have been read, in examples
        self._saved, self._cost, self._is_changed = time.monotonic(), 0.0, False
        shapes = model if model.encoder is not None else replace(model, device="cpu")
        self.sums = []
        for request in together:
            each = ChunkSums(request, ANALYSES[request.analysis].accumulator(shapes, request), store)
            with suppress(*DAMAGED):
                data = store.read(work_name(request)) if store else None
                if data and metadata_of(data)["work"] == self.work:
                    each.restore(data)
            self.sums.append(each)

    @property
    def totals(self) -> list[Accumulator]:
        """The sums over the whole corpus, once it has been run."""
        return [each.total for each in self.sums]

    def missing(self, progress: Progress) -> Chunks:
        """The chunks to compute, read when they are asked for; those of an earlier job count as done before."""
        for number, chunk in enumerate(cut(self.corpus, reading.CHUNK_TOKENS)):
            if number == 0:
                progress.start("Running the model", unit=self.corpus.examples.unit)
            self.sizes.append(len(chunk))
            progress.total = self.corpus.expected
            if self._needs(number):
                yield number, chunk
            else:
                progress.before += len(chunk)
                progress.advance(len(chunk))

    def take(self, number: int, parts: Sequence[Accumulator | bytes]) -> None:
        """Take in a chunk, and save it unless saving takes too much of the time."""
        for each, part in zip(self.sums, parts, strict=True):
            each.take(number, part)
        self._is_changed = len(self.sizes) > 1 or not self.corpus.is_complete
        if time.monotonic() - self._saved >= self._cost / SAVING:
            self.save()

    def save(self) -> None:
        """Save the sums, so that a job that is killed can be resumed from here."""
        if self.store is None or not self._is_changed:
            return
        started = time.monotonic()
        done = sum(size for number, size in enumerate(self.sizes) if not self._needs(number))
        for each in self.sums:
            data = each.to_bytes(share=f"{done / self.corpus.expected:.3f}", work=self.work)
            with suppress(StoreError):  # the result may still find room
                self.store.write(work_name(each.request), data, expire=WORK_DAYS * DAY)
        self._saved, self._is_changed = time.monotonic(), False
        self._cost = self._saved - started

    def finish(self) -> None:
        """Delete the saved sums and record the number of detail parts, once the results are stored."""
        for each in self.sums:
            if hasattr(each.total, "take_detail"):
                details.finish(self.store, each.request.key(), len(self.sizes))
        if self.store is not None:
            with suppress(StoreError):
                self.store.delete(*(work_name(each.request) for each in self.sums))

    def _needs(self, number: int) -> bool:
        return any(each.needs(number) for each in self.sums)


def share_done(store: Store, request: Request) -> float | None:
    """Share of a request that an earlier job has computed, from 0 to 1; None if there is nothing to resume."""
    with suppress(*DAMAGED):
        if header := store.header(work_name(request)):
            return float(json.loads(header)["__metadata__"]["share"])
    return None


def work_name(request: Request) -> str:
    """Name in the store of the sums of an unfinished request."""
    return f"work/chunks/{request.key()}"
