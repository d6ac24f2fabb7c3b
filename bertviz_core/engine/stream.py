"""The one pass: batches through the model, every layer's maps shown to every accumulator, nothing kept."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, Protocol, Self

from bertviz_core.engine.progress import Progress
from bertviz_core.errors import Cancelled, ModelError
from bertviz_core.models.attention import forward
from bertviz_core.models.encoding import Batch, Encoded, buckets, collate
from bertviz_core.models.model import AttentionModel

PassFunction = Callable[["AttentionModel", "Batch", Callable[[Any], None]], None]
# options, examples, what takes the accumulator of each part, shares, stage, progress: see `PartCache.run`
StageFunction = Callable[
    [dict[str, Any], Sequence[Encoded], Callable[[Any], None], tuple[float, float], str, Progress], None
]


class Accumulator(Protocol):
    """Sums over a corpus, whose size does not grow with it; `merge` adds those of another batch or chunk."""

    def fresh(self) -> Self:
        """An empty accumulator of the same kind."""

    def update(self, batch: Batch, layer: Any, /) -> None:
        """Take in what the pass shows of one layer of one batch (LayerAttention, LayerGradient); once for each."""

    def merge(self, other: Self) -> None:
        """Take in what another accumulator has seen. Sums are rounded, so that equal bytes need an equal order."""


class PortableAccumulator(Accumulator, Protocol):
    """Sums that go from one process to another, and that a job which was killed goes on from. One with a method
    `take_detail` gives what of a chunk is kept on disk, for `packing.pack`, and forgets it: the sums do not grow."""

    def to_bytes(self) -> bytes:
        """All that `merge` reads of it, by `packing.pack`."""

    def from_bytes(self, data: bytes) -> Self:
        """A fresh accumulator with what `to_bytes` gave; raises ValueError or KeyError for other bytes."""


def run(
    model: AttentionModel,
    examples: Iterable[Encoded],
    accumulators: Sequence[Accumulator],
    progress: Progress,
    batch_tokens: int | None = None,
    passing: PassFunction | None = None,
) -> None:
    """Feed every example once to all accumulators, in a forward pass or in the pass `passing`."""
    for group in buckets(_cancellable(examples, progress), batch_tokens or model.batch_tokens):
        _run_group(model, group, accumulators, progress, passing or forward)


def _cancellable(examples: Iterable[Encoded], progress: Progress) -> Iterator[Encoded]:
    """The examples; raises Cancelled between two of them too, for thousands are encoded before the first batch."""
    for example in examples:
        if progress.cancelled.is_set():
            raise Cancelled()
        yield example


def _run_group(
    model: AttentionModel,
    group: list[Encoded],
    accumulators: Sequence[Accumulator],
    progress: Progress,
    passing: PassFunction,
) -> None:
    """One batch, or two halves of it where the device has no room; a failed try leaves no trace in the sums."""
    partial = [accumulator.fresh() for accumulator in accumulators]
    try:
        batch = collate(group, model.tokens, model.device)

        def show(layer: Any) -> None:
            for accumulator in partial:
                accumulator.update(batch, layer)

        passing(model, batch, show)
    except RuntimeError as error:
        if not _out_of_memory(error):
            raise
        if len(group) == 1:
            raise ModelError(
                f"One example of {len(group[0])} tokens does not fit into the {model.device} memory.",
                hint="Choose a smaller maximum length, or another device.",
            ) from error
        partial = []
    if not partial and accumulators:
        _free(model)
        for half in (group[: len(group) // 2], group[len(group) // 2 :]):
            _run_group(model, half, accumulators, progress, passing)
        return
    for accumulator, part in zip(accumulators, partial, strict=True):
        accumulator.merge(part)
    progress.advance(len(group))


def _out_of_memory(error: RuntimeError) -> bool:
    return type(error).__name__ == "OutOfMemoryError" or "can't allocate memory" in str(error)


def _free(model: AttentionModel) -> None:
    """Give the failed try's blocks back; the error that held them is gone by now."""
    import torch

    if model.device.startswith("cuda"):
        torch.cuda.empty_cache()
