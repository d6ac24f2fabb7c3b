"""Requests of one pass, summed chunk by chunk and merged in the corpus's order: one result, whoever computed a chunk.

Definitions: docs/methods.md, section 14.
"""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import asdict
from typing import Any

from bertviz_core.analyses import details
from bertviz_core.analyses.registry import ANALYSES
from bertviz_core.analyses.request import FORMAT, FORMATS, Request
from bertviz_core.engine.packing import metadata_of, pack, unpack
from bertviz_core.engine.progress import Progress
from bertviz_core.engine.store import Store
from bertviz_core.engine.stream import PortableAccumulator
from bertviz_core.errors import StoreError
from bertviz_core.models import reading
from bertviz_core.models.model import AttentionModel
from bertviz_core.models.reading import Chunk, Examples, Index

SAVING = 0.02  # share of the time that saving may take: short chunks are saved several at once
DAMAGED = (ValueError, KeyError, TypeError, StoreError)


def index_of(request: Request, examples: Examples[Any], store: Store | None, advance: Callable[[int], None]) -> Index:
    """The counts and the chunks of a corpus, read once and kept as small data."""
    parts = [
        FORMATS.get(request.analysis, FORMAT),
        reading.CHUNK_TOKENS,
        type(examples).__name__,
        request.checkpoint.fingerprint(),
    ]
    parts += [request.source.digest, request.settings.to_json()]
    name = "index/" + hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()
    with suppress(*DAMAGED):
        if store and (data := store.work(name)):
            return Index.from_bytes(data)
    index = examples.index(advance)
    with suppress(StoreError):
        if store:
            store.keep_work(name, index.to_bytes())
    return index


def compute_chunk(
    model: AttentionModel,
    requests: Sequence[Request],
    examples: Iterable[Any],
    progress: Progress,
    batch_tokens: int | None,
) -> list[PortableAccumulator]:
    """What each request sums over the examples of one chunk, from one pass in the chunk's own batches."""
    from bertviz_core.engine import stream

    analyses = [ANALYSES[request.analysis] for request in requests]
    accumulators = [each.accumulator(model, request) for each, request in zip(analyses, requests, strict=True)]
    getattr(analyses[0].measure, "run", stream.run)(model, examples, accumulators, progress, batch_tokens)
    return accumulators


class Sums:
    """Sums of one request over the chunks of a corpus.

    Attributes:
        total: The first `done` chunks, merged.
        waiting: Later chunks, by number, without their details: they are merged when those before them have come.
    """

    def __init__(
        self, request: Request, empty: PortableAccumulator, chunks: Sequence[Chunk], store: Store | None
    ) -> None:
        self.request, self.total, self.chunks, self.store = request, empty, chunks, store
        self.done = 0
        self.waiting: dict[int, PortableAccumulator | bytes] = {}

    def needs(self, number: int) -> bool:
        """Whether the chunk has still to be computed."""
        return number >= self.done and number not in self.waiting

    def take(self, number: int, part: PortableAccumulator | bytes) -> None:
        """Take in a chunk, and merge what is now in order."""
        if hasattr(self.total, "take_detail"):  # before it waits
            sums, chunk = self._read(part), self.chunks[number]
            where = {"start": list(asdict(chunk.start).values()), "end": chunk.end}  # of the chunk in the corpus
            details.keep(self.store, self.request.key(), number, len(self.chunks), sums.take_detail() | where)
            part = sums
        self.waiting[number] = part
        while self.done in self.waiting:
            self.total.merge(self._read(self.waiting.pop(self.done)))
            self.done += 1

    def _read(self, part: PortableAccumulator | bytes) -> Any:
        return self.total.from_bytes(part) if isinstance(part, bytes) else part

    def to_bytes(self, **metadata: str) -> bytes:
        """Pack the sums, so that a later job can resume from them."""
        waiting = {
            f"waiting/{number}": part if isinstance(part, bytes) else part.to_bytes()
            for number, part in self.waiting.items()
        }
        return pack({"done": self.done, "total": self.total.to_bytes(), **waiting}, **metadata)

    def restore(self, data: bytes) -> None:
        """Resume from sums that `to_bytes` packed."""
        state = unpack(data)
        total = self.total.from_bytes(state.pop("total"))
        self.total, self.done = total, state.pop("done")
        self.waiting = {int(name.removeprefix("waiting/")): part for name, part in state.items()}


class ChunkPass:
    """The sums of the requests of one pass, and what of them is stored.

    Args:
        together: The requests.
        index: Index of the corpus.
        model: Says the shapes of the sums, and where they are.
        store: Keeps them while the job runs.
        rounding: What the rounding of sums depends on: the device and the tokens of a batch.
    """

    def __init__(
        self, together: Sequence[Request], index: Index, model: AttentionModel, store: Store | None, rounding: str
    ) -> None:
        self.together, self.index, self.store = together, index, store
        self.work = f"{rounding}, {len(index.chunks)} chunks"  # a job goes on from no other
        empty = ((request, ANALYSES[request.analysis].accumulator(model, request)) for request in together)
        self.sums = [Sums(request, accumulator, index.chunks, store) for request, accumulator in empty]
        self._saved, self._cost = time.monotonic(), 0.0
        for each in self.sums:
            self._restore(each)

    @property
    def done(self) -> int:
        """Number of examples that all requests have summed."""
        needed = {chunk.number for chunk, _ in self.needed()}
        return sum(chunk.examples for chunk in self.index.chunks if chunk.number not in needed)

    def needed(self) -> Iterator[tuple[Chunk, list[int]]]:
        """The chunks to compute, each with the places of the requests that need it."""
        for chunk in self.index.chunks:
            if which := [index for index, each in enumerate(self.sums) if each.needs(chunk.number)]:
                yield chunk, which

    def take(self, number: int, which: Sequence[int], parts: Sequence[PortableAccumulator | bytes]) -> None:
        """Take in a chunk, and save it unless saving takes too much of the time."""
        for index, part in zip(which, parts, strict=True):
            self.sums[index].take(number, part)
        if time.monotonic() - self._saved >= self._cost / SAVING:
            self.save()

    def save(self) -> None:
        """Keep what has been summed, so that a job that is killed goes on from here."""
        if self.store is None or len(self.index.chunks) == 1:
            return
        started = time.monotonic()
        share = f"{self.done / sum(chunk.examples for chunk in self.index.chunks):.3f}"
        for each in self.sums:
            data = each.to_bytes(share=share, work=self.work)
            with suppress(StoreError):  # the result may still find room
                self.store.keep_work(work_name(each.request), data)
        self._saved = time.monotonic()
        self._cost = self._saved - started

    def drop(self) -> None:
        """Delete the saved sums once the results are stored."""
        if self.store is not None:
            self.store.drop_work(work_name(request) for request in self.together)

    def _restore(self, each: Sums) -> None:
        with suppress(*DAMAGED):
            data = self.store.work(work_name(each.request)) if self.store else None
            if data and metadata_of(data)["work"] == self.work:
                each.restore(data)


def share_done(store: Store, request: Request) -> float | None:
    """How much of a request an earlier job has summed, from 0 to 1; None where there is nothing to go on from, as from
    sums of an earlier version, which do not say what they are of."""
    with suppress(*DAMAGED):
        if (head := store.work_header(work_name(request))) and "work" in (metadata := metadata_of(head)):
            return float(metadata["share"])
    return None


def work_name(request: Request) -> str:
    """Name in the store of the sums of an unfinished request."""
    return f"chunks/{request.key()}"
