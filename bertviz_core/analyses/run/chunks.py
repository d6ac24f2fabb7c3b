"""Requests of one pass, summed chunk by chunk and merged in order: the same result wherever chunks run
(docs/methods.md, section 14)."""

import json
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any

from bertviz_core.analyses.base.guess_lists import COUNT
from bertviz_core.analyses.base.registry import ANALYSES
from bertviz_core.analyses.base.request import Request
from bertviz_core.engine import forward_pass, heap, packing
from bertviz_core.engine.progress import Progress
from bertviz_core.engine.store import DAY, Store
from bertviz_core.errors import StoreError
from bertviz_core.inputs import encoded_corpus
from bertviz_core.inputs.encoded_corpus import CorpusReading
from bertviz_core.inputs.encoding import Encoded
from bertviz_core.models.model import AttentionModel

WORK = "work/chunks/"  # begins the name of the entry with a pass's sums; the requests' keys follow, joined by +
SAVING = 0.02  # share of the time that saving may take: short chunks are saved several at once
DAMAGED = (ValueError, KeyError, TypeError, StoreError)
Chunk = tuple[int, list[Encoded]]  # number, from 0, and examples
Chunks = Iterator[Chunk]
# The number of a chunk, and each request's sums over it.
Parts = Iterator[tuple[int, Sequence[forward_pass.Accumulator | bytes]]]


def compute_chunk(
    chunk: Chunk, model: AttentionModel, requests: Sequence[Request], progress: Progress, batch_tokens: int | None
) -> tuple[int, list[forward_pass.Accumulator]]:
    """Compute a chunk in one pass.

    Args:
        chunk: Its number and its examples.
        requests: Those that share the pass.
        progress: Counts the tokens; raises Cancelled.
        batch_tokens: The most tokens of a batch; None for the model's default.

    Returns:
        The number of the chunk, and the sums of each request over its examples.
    """
    number, examples = chunk
    analysis = ANALYSES[requests[0].analysis]
    accumulators = [ANALYSES[request.analysis].accumulator(model, request) for request in requests]
    if analysis.has_own_pass:
        analysis.run(model, requests[0].settings, examples, accumulators, progress, batch_tokens)
    else:
        forward_pass.run(model, examples, accumulators, progress, batch_tokens)
    return number, accumulators


class ChunkedPass:
    """The sums of requests that share one pass, saved to the store on the way unless the corpus is a single chunk.

    Attributes:
        store: Where sums and details are saved; None to save nothing.
        is_on_cpu: Whether the model is.
        work: What the rounding of sums depends on: saved sums with another are not continued.
        totals: For each request the sums of the first chunks, all of which are there.
        done: The number of these chunks.
        waiting: The sums of later chunks by number, without their details.
        sizes: The number of tokens of each chunk that has been read.
    """

    def __init__(
        self, requests: list[Request], corpus: CorpusReading, model: AttentionModel, store: Store | None, rounding: str
    ) -> None:
        self.requests = requests
        self.corpus = corpus
        self.store = store
        self.is_on_cpu = model.device == "cpu"
        self._name = WORK + "+".join(sorted(request.key() for request in requests))
        self.work = f"{rounding}, {encoded_corpus.CHUNK_TOKENS} of a chunk"
        if model.encoder is None:
            model = replace(model, device="cpu")
        self.totals: list[forward_pass.Accumulator] = [
            ANALYSES[each.analysis].accumulator(model, each) for each in requests
        ]
        self.done = 0
        self.waiting: dict[int, list[forward_pass.Accumulator]] = {}
        self.sizes: list[int] = []
        self._saved = time.monotonic()
        self._cost = 0.0
        self._is_changed = False
        with suppress(*DAMAGED):
            self._resume()

    def missing(self, progress: Progress) -> Chunks:
        """The chunks to compute, read when they are asked for; those of an earlier job count as done before."""
        for number, chunk in enumerate(encoded_corpus.cut(self.corpus, encoded_corpus.CHUNK_TOKENS)):
            if number == 0:
                progress.start("Running the model", unit="tokens")
            self.sizes.append(sum(map(len, chunk)))
            progress.total = self.corpus.expected_tokens
            if self._needs(number):
                yield number, chunk
            else:
                progress.before += self.sizes[number]
                progress.advance(self.sizes[number])

    def take(self, number: int, parts: Sequence[forward_pass.Accumulator | bytes]) -> None:
        """Add a chunk, merge all that are now in order, and save them unless saving takes too much of the time."""
        accumulators = []
        for request, total, part in zip(self.requests, self.totals, parts, strict=True):
            sums = total.from_bytes(part) if isinstance(part, bytes) else part
            if sums.has_detail:
                detail = sums.take_detail()
                if self.store is not None:
                    self._write(f"detail/{request.key()}/{number}", packing.pack(detail))
            accumulators.append(sums)
        self.waiting[number] = accumulators
        while self.done in self.waiting:
            for total, sums in zip(self.totals, self.waiting.pop(self.done), strict=True):
                total.merge(sums)
                if self.is_on_cpu:
                    heap.give_back()  # Sums of different sizes would leave their holes to one another.
            self.done += 1
        self._is_changed = len(self.sizes) > 1 or not self.corpus.is_complete
        if time.monotonic() - self._saved >= self._cost / SAVING:
            self.save()

    @property
    def share_done(self) -> float:
        """The share of the corpus's tokens, from 0 to 1, in chunks that are computed."""
        computed = sum(size for number, size in enumerate(self.sizes) if not self._needs(number))
        return computed / self.corpus.expected_tokens if computed else 0.0

    def save(self) -> None:
        """Save the sums, so that a job that is killed can be resumed from here."""
        if self.store is None or not self._is_changed:
            return
        started = time.monotonic()
        share = f"{self.share_done:.3f}"
        state: dict[str, Any] = {"done": self.done, "waiting": [*self.waiting]}
        for name, accumulators in [("total", self.totals), *self.waiting.items()]:
            for request, sums in zip(self.requests, accumulators, strict=True):
                state[f"{name}/{request.key()}"] = sums.to_bytes()
        # A single entry, since a job may be killed at any moment; it expires after 30 days.
        self._write(self._name, packing.pack(state, share=share, work=self.work), 30 * DAY)
        self._saved = time.monotonic()
        self._is_changed = False
        self._cost = self._saved - started

    def finish(self) -> None:
        """Delete the saved sums and record the number of detail parts, once the results are stored."""
        for request, total in zip(self.requests, self.totals, strict=True):
            if total.has_detail:
                self._write(f"detail/{request.key()}/{COUNT}", str(len(self.sizes)).encode())
        if self.store is not None:
            with suppress(StoreError):
                self.store.delete(self._name)

    def _write(self, name: str, data: bytes, expire: float | None = None) -> None:
        if self.store is not None:
            with suppress(StoreError):  # A failed write is no error here: there may still be room for the result.
                self.store.write(name, data, expire)

    def _needs(self, number: int) -> bool:
        return number >= self.done and number not in self.waiting

    def _resume(self) -> None:
        """Continue from the sums that an earlier job saved, of these requests and perhaps others."""
        data = self.store and self.store.read(_saved(self.store, self.requests))
        if not data or packing.metadata_of(data)["work"] != self.work:
            return
        state = packing.unpack(data)

        def read(name: str | int) -> list[forward_pass.Accumulator]:
            pairs = zip(self.totals, self.requests, strict=True)
            return [empty.from_bytes(state[f"{name}/{request.key()}"]) for empty, request in pairs]

        waiting = {number: read(number) for number in state["waiting"]}
        self.totals = read("total")
        self.done = state["done"]
        self.waiting = waiting


def share_done(store: Store, request: Request) -> float | None:
    """Share of a request that an earlier job has computed, from 0 to 1; None if there is nothing to resume."""
    with suppress(*DAMAGED):
        if header := store.header(_saved(store, [request])):
            return float(json.loads(header)["__metadata__"]["share"])
    return None


def _saved(store: Store, requests: Sequence[Request]) -> str:
    """Name of an entry with the sums of unfinished requests, the one with the fewest others; "" where there is none."""
    keys = {each.key() for each in requests}
    works = (name for name in sorted(store.names("work"), key=len) if name.startswith(WORK))
    return next((name for name in works if keys <= set(name.removeprefix(WORK).split("+"))), "")
