"""The one forward pass over a corpus: every accumulator sees every layer's maps, and none is kept. `extract` writes the
maps to a file instead."""

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, ClassVar, Protocol, Self

import numpy as np

from bertviz_core.corpora import Skipped
from bertviz_core.engine import heap
from bertviz_core.engine.packing import PackedValues, frame_header
from bertviz_core.engine.progress import Progress
from bertviz_core.errors import ModelError, SettingsError
from bertviz_core.inputs.encoding import Batch, Encoded, buckets, collate, membership, word_of
from bertviz_core.models.attention import LayerAttention, forward
from bertviz_core.models.model import AttentionModel
from bertviz_core.models.surroundings import in_standard_arithmetic

if TYPE_CHECKING:
    from bertviz_core.models.residual import Written

# With more, holes in the heap grow between trims; with fewer, trims cost time (benchmarks/memory.py).
BATCHES_A_TRIM = 4
# Its arguments are the model, the batch, and observers, each of which sees every layer.
PassFunction = Callable[..., None]


class Accumulator(Protocol):
    """Sums over inputs, of which every analysis has its own. They are stored and sent as bytes.

    A class of them extends this one, from which it has what only a few define themselves.

    Attributes:
        has_detail: Whether a chunk has further values to store, which `take_detail` returns.
        reads_residual: Whether it gets the residual stream of each batch, too, by `update_at_end`.
    """

    has_detail: ClassVar[bool] = False
    reads_residual: ClassVar[bool] = False

    def new_empty(self) -> Self:
        """Empty sums of the same kind."""
        ...

    def update(self, batch: Batch, layer: Any, /) -> None:
        """Add what the pass shows of one layer of a batch; called once for each layer."""
        ...

    def update_at_end(self, batch: Batch, written: "Written", /) -> None:
        """Add what a batch writes into the residual stream; called once for each batch, where it `reads_residual`."""
        raise AssertionError("it reads no residual stream")

    def merge(self, other: Self) -> None:
        """Add the sums of another batch or chunk; equal bytes need an equal order."""
        ...

    def to_bytes(self) -> bytes:
        """All that `merge` reads, packed by `packing.pack`."""
        ...

    def from_bytes(self, data: bytes) -> Self:
        """New sums with the content that `to_bytes` wrote; raises ValueError or KeyError for other bytes."""
        ...

    @property
    def skipped(self) -> Skipped:
        """Inputs that the sums leave out, besides those that the reading of the corpus left out."""
        return Skipped()

    def take_detail(self) -> PackedValues:
        """Values of a finished chunk, for `packing.pack`, that are stored beside the result: what grows with the corpus
        is then no part of the sums any more."""
        return {}


def run(
    model: AttentionModel,
    examples: Iterable[Encoded],
    accumulators: Sequence[Accumulator],
    progress: Progress,
    batch_tokens: int | None = None,
    passing: PassFunction | None = None,
) -> None:
    """Feed every example once to all accumulators; batches that do not fit into memory are halved.

    Args:
        progress: Counts the tokens; raises Cancelled.
        batch_tokens: The most tokens of a batch; None for the model's default.
        passing: Runs the model on a batch and shows its layers; None for a forward pass.

    Raises:
        ModelError: One example does not fit into the memory of the device.
    """

    def cancellable() -> Iterator[Encoded]:
        for example in examples:
            progress.advance(0)  # It raises Cancelled: thousands of examples are encoded before the first batch.
            yield example

    for group in _groups(model, cancellable(), batch_tokens):
        parts = [group]
        while parts:
            part = parts.pop(0)
            sums = [accumulator.new_empty() for accumulator in accumulators]
            try:
                batch = collate(part, model.tokens, model.device)
                at_end = [partial(each.update_at_end, batch) for each in sums if each.reads_residual]
                options: dict[str, Any] = {"at_end": at_end} if at_end else {}
                (passing or forward)(model, batch, *(partial(each.update, batch) for each in sums), **options)
            except RuntimeError as error:
                _check_can_be_halved(part, model.device, error)
            else:
                for accumulator, each in zip(accumulators, sums, strict=True):
                    accumulator.merge(each)
                progress.advance(sum(map(len, part)))
                continue
            parts[:0] = part[: len(part) // 2], part[len(part) // 2 :]
            # Memory is freed here, where the error, which has references to the failed pass, is gone.
            if model.device != "cpu":
                import torch

                torch.get_device_module(model.device).empty_cache()


def _check_can_be_halved(part: Sequence[Encoded], device: str, error: RuntimeError) -> None:
    """Raise an error that is not of too little memory, or ModelError for a single example."""
    if not is_out_of_memory(error):
        raise error
    if len(part) == 1:
        what = f"One example of {len(part[0])} tokens does not fit into the {device} memory."
        raise ModelError(what, hint="Choose a smaller maximum length, or another device.") from error


def _groups(model: AttentionModel, examples: Iterable[Encoded], batch_tokens: int | None) -> Iterator[list[Encoded]]:
    """The examples of each batch. On a CPU freed memory is used again within a batch, and now and then given back."""
    if model.device == "cpu":
        heap.reuse()
    for number, group in enumerate(buckets(examples, batch_tokens or model.batch_tokens, model.length_limit)):
        if model.device == "cpu" and number % BATCHES_A_TRIM == 0:
            heap.give_back()
        yield group
    if model.device == "cpu":
        heap.give_back()  # What sums up a chunk then finds room.


def is_out_of_memory(error: RuntimeError) -> bool:
    """Whether a batch did not fit: CUDA has a class of its own for that, a CPU and Apple's GPUs have words."""
    words = ("can't allocate memory", "MPS backend out of memory")
    return type(error).__name__ == "OutOfMemoryError" or any(each in str(error) for each in words)


@in_standard_arithmetic
def extract(
    model: AttentionModel,
    examples: Iterable[Encoded],
    path: Path,
    progress: Progress,
    batch_tokens: int | None = None,
    metadata: dict[str, str] | None = None,
    word_level: str | None = None,
) -> None:
    """Write a safetensors file with float32 maps (layer, head, query, key) of each example, named by its number.

    Args:
        examples: The inputs; they are iterated over twice.
        path: The file, which is replaced when all maps are written.
        progress: Counts the examples; raises Cancelled.
        batch_tokens: The most tokens of a batch; None for the model's default.
        metadata: What the header of the file says besides.
        word_level: The mode, "corrected" or "paper", for maps between words (docs/methods.md, section 5) and special
            tokens; None for maps between tokens.

    Raises:
        SettingsError: The file cannot be written.
    """
    sizes = {  # tokens, or words and special tokens
        example.number: int(word_of(example, special=True)[-1]) + 1 if word_level else len(example)
        for example in examples
    }
    progress.start("Extracting attention", len(sizes), "examples")
    unfinished = Path(f"{path}.partial")
    try:
        with unfinished.open("wb") as stream:
            begins = _write_header(stream, model, sizes, metadata)
            for group in _groups(model, examples, batch_tokens):
                _write_maps(stream, model, group, sizes, begins, word_level)
                progress.advance(len(group))
        unfinished.replace(path)
    except OSError as error:
        what = f"The file cannot be written ({error.strerror})."
        raise SettingsError(what, where=str(path), hint="Choose another path.") from error
    finally:
        unfinished.unlink(missing_ok=True)  # Half a file would be read as maps of zeros.


def _write_maps(
    stream: BinaryIO,
    model: AttentionModel,
    group: list[Encoded],
    sizes: dict[int, int],
    begins: dict[int, int],
    word_level: str | None,
) -> None:
    """Write the maps of one batch, each example's of its size where its number begins in the file."""
    words = None
    if word_level:
        owners = [word_of(example, special=True) for example in group]
        words = membership(owners, model.device, first_piece=word_level == "paper")

    def write(attention: LayerAttention) -> None:
        maps = (words.maps(attention.weights) if words else attention.weights).cpu().numpy()
        for each, example in zip(maps, group, strict=True):
            size = sizes[example.number]
            data = each[:, :size, :size].astype(np.float32).tobytes()
            stream.seek(begins[example.number] + attention.layer * len(data))
            stream.write(data)

    forward(model, collate(group, model.tokens, model.device), write)


def _write_header(
    stream: BinaryIO, model: AttentionModel, sizes: dict[int, int], metadata: dict[str, str] | None
) -> dict[int, int]:
    """Write the safetensors header; returns where each example's data begins in the file."""
    header: dict[str, Any] = {"__metadata__": metadata} if metadata else {}
    begins = {}
    end = 0
    for number, size in sizes.items():
        begins[number] = end
        end += 4 * model.layers * model.heads * size**2
        shape = [model.layers, model.heads, size, size]
        header[str(number)] = {"dtype": "F32", "shape": shape, "data_offsets": [begins[number], end]}
    stream.write(frame_header(json.dumps(header).encode()))
    start = stream.tell()
    stream.truncate(start + end)
    return {number: start + begin for number, begin in begins.items()}
