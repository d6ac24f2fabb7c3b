"""Document averages: a value of every head within each segment, then the mean over segments (docs/methods.md,
Notation); and sums over documents of squares and products, for standard errors by document (docs/methods.md,
Uncertainty)."""

from collections.abc import Callable, Mapping, Sequence
from operator import itemgetter
from typing import Any, ClassVar, Generic, Protocol, Self, TypeVar

import numpy as np
import torch
from torch import Tensor

from bertviz_core.analyses.base import statistics
from bertviz_core.analyses.base.averages import TOP
from bertviz_core.analyses.base.open_documents import OpenDocuments
from bertviz_core.engine import packing
from bertviz_core.engine.forward_pass import Accumulator
from bertviz_core.inputs.encoded_corpus import EncodedCorpus
from bertviz_core.inputs.encoding import Batch, Encoded
from bertviz_core.inputs.tensors import device_of_sums, in_float64, to_host


class Layer(Protocol):
    """What a pass shows of one layer for one batch: LayerAttention, LayerGradient.

    Attributes:
        layer: Its number, from 0.
    """

    @property
    def layer(self) -> int: ...


L = TypeVar("L", bound=Layer)


class DocumentSums:
    """Adds up segments' rows by document, then moments of these sums over documents (docs/methods.md, Uncertainty).

    Rows wait for the end of their chunk.

    Attributes:
        moments: From a layer's sums (document, ...) to their moments over documents (...).
        shape: (layer, ...) that of a document's sums, float64.
        open_documents: The documents that the next chunk may continue.
        total: (layer, ...) moments of the complete documents.
        rows: For each layer the batches of an unfinished chunk: numbers of the documents (segment,), and rows
            (segment, ...).
        is_batch: Whether rows were added since the chunk began: then it may be any part of a chunk.
    """

    def __init__(self, moments: Callable[[np.ndarray], np.ndarray], layers: int, *shape: int) -> None:
        """Begin without documents.

        Args:
            moments: From a layer's sums (document, ...) to their moments over documents (...).
            shape: The shape of a segment's row.
        """
        self.moments = moments
        self.shape = (layers, *shape)
        self.open_documents = OpenDocuments[np.ndarray](self._close)
        self.total = self._moments({})
        self.rows: list[list[tuple[np.ndarray, Tensor]]] = [[] for _ in range(layers)]
        self.is_batch = False

    def add(self, layer: int, documents: np.ndarray, rows: Tensor) -> None:
        """Add rows of one layer.

        Args:
            layer: Its number, from 0.
            documents: (segment,) numbers of the segments' documents.
            rows: (segment, ...) their rows, on any device.
        """
        self.rows[layer].append((documents, rows))
        self.is_batch = True

    def merge(self, other: Self) -> None:
        """Merge a batch of the same chunk, in any order, or the next chunk of the corpus."""
        if other.is_batch:
            self.rows = [[*ours, *others] for ours, others in zip(self.rows, other.rows, strict=True)]
            return
        self._complete()
        other._complete()
        self.total = self.total + other.total
        self.open_documents.merge(other.open_documents)

    def whole(self) -> np.ndarray:
        """(layer, ...) the moments of all documents."""
        self._complete()
        return self.total + self._moments(self.open_documents.sums)

    def to_bytes(self) -> bytes:
        """The sums of all documents so far, for `restore`."""
        self._complete()
        return packing.pack({"total": self.total, "open": self.open_documents.to_bytes(lambda sums: {"sums": sums})})

    def restore(self, data: bytes) -> None:
        """Continue from the sums that `to_bytes` wrote."""
        state = packing.unpack(data)
        self.total = state["total"]
        self.open_documents.restore(state["open"], itemgetter("sums"))

    def _complete(self) -> None:
        """Add up the rows of a chunk."""
        self.is_batch = False
        if not any(self.rows):
            return
        documents = np.concatenate([numbers for rows in self.rows for numbers, _ in rows])
        ends = np.unique([documents.min(), documents.max()])
        sums = np.zeros((len(ends), *self.shape))
        by_layer = to_host([torch.cat([each for _, each in rows]) for rows in self.rows])
        for layer, (rows, values) in enumerate(zip(self.rows, by_layer, strict=True)):
            documents = np.concatenate([numbers for numbers, _ in rows])
            numbers, layer_sums = _sum_by_number(documents, values.astype(np.float64))
            is_end = np.isin(numbers, ends)
            sums[np.searchsorted(ends, numbers[is_end]), layer] = layer_sums[is_end]
            self.total[layer] += self.moments(layer_sums[~is_end])
        self.rows = [[] for _ in self.rows]
        self.open_documents.add(dict(zip(ends.tolist(), sums, strict=True)))

    def _close(self, documents: Mapping[int, np.ndarray]) -> None:
        self.total = self.total + self._moments(documents)

    def _moments(self, documents: Mapping[int, np.ndarray]) -> np.ndarray:
        """(layer, ...) moments of documents, of which each has the sums (layer, ...)."""
        in_order = [documents[number] for number in sorted(documents)]
        by_layer = np.array(in_order).reshape(len(documents), *self.shape).swapaxes(0, 1)
        return np.stack([self.moments(sums) for sums in by_layer])


def _sum_by_number(numbers: np.ndarray, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The distinct numbers in order, and for each the sum of its rows."""
    order = np.argsort(numbers, kind="stable")
    distinct, starts = np.unique(numbers[order], return_index=True)
    return distinct, np.add.reduceat(rows[order], starts, axis=0)


def average_moments(sums: np.ndarray) -> np.ndarray:
    """The moments from which errors of document averages follow (docs/methods.md, Uncertainty, Averages).

    Args:
        sums: (document, 2, head, quantity) the number n and the sum s of each document's values.

    Returns:
        (8, head, quantity): sums over documents of 1 (where n > 0), n^2, n s, s^2, n^3, n^2 s, n s^2 and s^3.
    """
    n, s = sums[:, 0], sums[:, 1]
    squares = (n * n, n * s, s * s)
    cubes = (n**3, n * n * s, n * s * s, s**3)
    return np.stack([each.sum(0) for each in (n > 0, *squares, *cubes)])


class SegmentSums(Accumulator, Generic[L]):
    """Accumulates averages over segments of every (layer, head, quantity), their errors, and the TOP segments.

    With x the value of a segment that has the quantity, and S the number of these, the average is sum x / S
    (docs/methods.md, Notation); its error is that by document (docs/methods.md, Uncertainty). Sums are float64, on the
    device where it has that; values of segments are float32.

    Attributes:
        arguments: What `new_empty` begins anew with, those of the class.
        quantities: Names of what `measure` returns, in order.
        ranked: Which of the quantities have top segments, the first ones; by default all.
        shares: Those that are 0 or 1 in every segment, as `HeadAverages.shares`.
        measure: From one layer of a batch to values (batch, head, quantity).
        sums: (4, layer, head, quantity) sums over segments of 1, x, x^2 and x^3.
        documents: The sums by document of 1 and x.
        top_values: (layer, head, ranked quantity, rank) the TOP highest values; -inf for none.
        top: (layer, head, ranked quantity, rank) numbers of their segments; -1 for none.
        examples: The segments by number; once chunks are merged only those of `top`.
    """

    ranked: ClassVar[slice] = slice(None)

    def __init__(
        self,
        quantities: Sequence[str],
        measure: Callable[[Batch, L], Tensor],
        layers: int,
        heads: int,
        device: str,
        shares: Sequence[str] = (),
    ) -> None:
        """Begin with empty sums.

        Args:
            quantities: Names of what `measure` returns, in order.
            measure: From one layer of a batch to values (batch, head, quantity), NaN where a segment has no value.
            shares: Those that are 0 or 1 in every segment, as `HeadAverages.shares`.
        """
        self.arguments: tuple[Any, ...] = (quantities, measure, layers, heads, device, shares)
        self.quantities = tuple(quantities)
        self.shares = tuple(shares)
        self.measure = measure
        self.device = device
        shape = (layers, heads, len(quantities))
        where = device_of_sums(device)
        self.sums = torch.zeros((4, *shape), dtype=torch.float64, device=where)
        self.documents = DocumentSums(average_moments, layers, 2, heads, len(self.quantities))
        shape_of_top = (layers, heads, len(self.quantities[self.ranked]), TOP)
        self.top_values = torch.full(shape_of_top, -torch.inf, device=device)
        self.top = torch.full(shape_of_top, -1, dtype=torch.int64, device=device)
        self.examples: dict[int, Encoded] = {}

    def new_empty(self) -> Self:
        return type(self)(*self.arguments)

    def update(self, batch: Batch, layer: L) -> None:
        self.add(batch, layer.layer, self.measure(batch, layer)[None])

    def add(self, batch: Batch, first: int, values: Tensor) -> None:
        """Add the values of layers for the segments of a batch.

        Args:
            first: The first of these layers.
            values: (layer, batch, head, quantity) float32, NaN where a segment has no value.
        """
        self.examples |= {example.number: example for example in batch.examples}
        documents = np.array([example.document_number for example in batch.examples])
        present = ~values.isnan()
        known = values.nan_to_num(nan=0.0)
        for layer, rows in enumerate(torch.stack([present, known], 2), first):
            self.documents.add(layer, documents, rows)
        known = in_float64(known)
        layers = slice(first, first + len(values))
        for power, each in enumerate((in_float64(present), known, known.square(), known.pow(3))):
            self.sums[power, layers] += each.sum(1)
        # (layer, head, quantity, batch)
        ranked = values[..., self.ranked].nan_to_num(nan=-float("inf")).permute(0, 2, 3, 1)
        self._keep_top(layers, ranked, batch.numbers.expand_as(ranked))

    def merge(self, other: Self) -> None:
        self.sums += other.sums
        is_batch = other.documents.is_batch
        self.documents.merge(other.documents)
        self._keep_top(slice(None), other.top_values, other.top)
        self.examples |= other.examples
        if not is_batch:  # Not before: which segments are the top ones is known only once the device has finished.
            self.examples = self._top_examples()

    def to_bytes(self) -> bytes:
        """The `state`, packed."""
        return packing.pack(self.state())

    def from_bytes(self, data: bytes) -> Self:
        empty = self.new_empty()
        empty.restore(packing.unpack(data))
        return empty

    def state(self) -> packing.PackedValues:
        """Arrays and JSON values by name, all that `restore` needs; a subclass adds its own."""
        examples = self._top_examples().values()
        return {
            "sums": self.sums,
            "top_values": self.top_values,
            "top": self.top,
            "examples": [(example.number, example.where, example.ids.tolist()) for example in examples],
            "documents": self.documents.to_bytes(),
        }

    def restore(self, state: packing.PackedValues) -> None:
        """Continue from a `state`, whose arrays are numpy's; raises KeyError where it lacks one."""
        self.sums = as_tensor(state["sums"], self.sums)
        self.top_values = as_tensor(state["top_values"], self.top_values)
        self.top = as_tensor(state["top"], self.top)
        self.documents.restore(state["documents"])
        for number, where, listed in state["examples"]:
            ids = np.array(listed, dtype=np.int64)
            self.examples[number] = Encoded(number, where, ids, np.zeros_like(ids))

    def _keep_top(self, layers: slice, values: Tensor, numbers: Tensor) -> None:
        """Keep the TOP highest of the old and the new values.

        Equal values are ordered by the number of the segment, so that the order in which they come does not matter.
        """
        values = torch.cat([self.top_values[layers], values], -1)
        numbers = torch.cat([self.top[layers], numbers], -1)
        by_number = numbers.argsort(-1)
        values = values.gather(-1, by_number)
        numbers = numbers.gather(-1, by_number)
        values, order = values.sort(dim=-1, descending=True, stable=True)
        self.top_values[layers] = values[..., :TOP]
        self.top[layers] = numbers.gather(-1, order)[..., :TOP]

    def _top_examples(self) -> dict[int, Encoded]:
        numbers = np.unique(self.top.masked_fill(self.top_values.isinf(), -1).cpu().numpy()).tolist()
        return {number: self.examples[number] for number in numbers if number in self.examples}

    def fields(self, examples: EncodedCorpus[Any]) -> dict[str, Any]:
        """The fields of HeadAverages, with the tokens of the top segments; `examples` were read in the pass."""
        texts = {
            str(number): {"where": example.where, "tokens": examples.tokens.names(example.ids)}
            for number, example in self._top_examples().items()
        }
        return self.result() | {"texts": texts}

    def result(self) -> dict[str, Any]:
        """The arrays of HeadAverages, quantity axis first.

        Errors are by document; in a text of one document each segment is a unit (docs/methods.md, Uncertainty).
        """
        count, total, square, cube = self.sums.cpu().numpy()
        moments = self.documents.whole().swapaxes(0, 1)
        unit = "documents"
        if moments[0].max(initial=0) <= 1:  # The text is one document, as it has no blank line.
            moments = np.stack([count, count, total, square, count, total, square, cube])
            unit = "segments"
        error, effective = statistics.error_of_average(count, total, moments)
        of_shares, _ = statistics.error_by_document(count, total, moments[:4])
        error = np.where(np.isin(self.quantities, self.shares), of_shares, error)
        with np.errstate(invalid="ignore"):
            mean = total / count  # NaN: absent
        top = self.top.masked_fill(self.top_values.isinf(), -1)
        values = {"mean": mean, "error": error, "top": top.cpu().numpy(), "top_values": self.top_values.cpu().numpy()}
        return {name: np.moveaxis(value, 2, 0) for name, value in values.items()} | {
            "quantities": list(self.quantities),
            # Almost always the same in all heads: a head that gives some tokens nothing may lack an input.
            "segments": count.max((0, 1)).astype(np.int64),
            "units": moments[0].max((0, 1)).astype(np.int64),
            "effective_units": np.fmax.reduce(effective.reshape(-1, effective.shape[-1])),
            "unit": unit,
        }


def as_tensor(values: np.ndarray, like: Tensor) -> Tensor:
    """An unpacked array of any shape as a tensor of that shape, on the device of another."""
    return torch.from_numpy(values).to(like.device)
