"""The one pass: batches through the model, every layer's maps shown to every accumulator, nothing kept."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import Any, Protocol, Self

from bertviz_core.engine.progress import Progress
from bertviz_core.errors import Cancelled, ModelError
from bertviz_core.models.attention import forward
from bertviz_core.models.encoding import Batch, Encoded, buckets, collate
from bertviz_core.models.model import AttentionModel

PassFunction = Callable[..., None]  # (model, batch, *observers): each observer sees every layer
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
    """Feed every example once to all accumulators, in a forward pass or in the pass `passing`. A batch for which the
    device has no room is halved; what failed leaves no trace in the sums."""
    for group in buckets(_cancellable(examples, progress), batch_tokens or model.batch_tokens):
        groups = [group]
        while groups:
            part, sums = groups.pop(0), [accumulator.fresh() for accumulator in accumulators]
            try:
                batch = collate(part, model.tokens, model.device)
                (passing or forward)(model, batch, *(partial(each.update, batch) for each in sums))
            except RuntimeError as error:
                _check_smaller(error, model, part)
                sums = []
            if not sums and accumulators:  # after the error, which keeps the blocks of the failed try
                _free(model)
                groups[:0] = part[: len(part) // 2], part[len(part) // 2 :]
                continue
            for accumulator, each in zip(accumulators, sums, strict=True):
                accumulator.merge(each)
            progress.advance(len(part))


def _cancellable(examples: Iterable[Encoded], progress: Progress) -> Iterator[Encoded]:
    """The examples; raises Cancelled between two of them too, for thousands are encoded before the first batch."""
    for example in examples:
        if progress.cancelled.is_set():
            raise Cancelled()
        yield example


def _check_smaller(error: RuntimeError, model: AttentionModel, examples: Sequence[Encoded]) -> None:
    """Raise the error unless smaller batches can mend it."""
    if not _out_of_memory(error):
        raise error
    if len(examples) == 1:
        raise ModelError(
            f"One example of {len(examples[0])} tokens does not fit into the {model.device} memory.",
            hint="Choose a smaller maximum length, or another device.",
        ) from error


def _out_of_memory(error: RuntimeError) -> bool:
    return type(error).__name__ == "OutOfMemoryError" or "can't allocate memory" in str(error)


def _free(model: AttentionModel) -> None:
    """Give the failed try's blocks back; the error that held them is gone by now."""
    import torch

    if model.device.startswith("cuda"):
        torch.cuda.empty_cache()
