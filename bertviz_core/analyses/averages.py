"""Document averages: a value of every head within each segment, then the mean over segments (methods, notation)."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Self

import numpy as np
import torch
from torch import Tensor

from bertviz_core.analyses.document_sums import DocumentSums
from bertviz_core.analyses.head_averages import TOP
from bertviz_core.analyses.proportions import error_of_average
from bertviz_core.engine.packing import pack, unpack
from bertviz_core.models.encoding import Batch, Encoded
from bertviz_core.models.tokens import Tokens

# (batch, what the pass shows of one layer: LayerAttention, LayerGradient) -> (batch, head, quantity), NaN where absent
Measure = Callable[[Batch, Any], Tensor]

SUMS = ("count", "sum", "square", "cube", "top_values", "top")
NO_IDS = np.zeros(0, dtype=np.int32)


class AverageSums(DocumentSums):
    """For averages: rows are values (segment, head, quantity), NaN where a segment has none; the sums of a document are
    its number of values n and their sum s, and the moments 1 (where n > 0), n^2, n s, s^2, n^3, n^2 s, n s^2, s^3."""

    @staticmethod
    def expanded(rows: np.ndarray) -> np.ndarray:
        values = rows.astype(np.float64)
        return np.stack([~np.isnan(values), np.nan_to_num(values, nan=0.0)], 1)

    @staticmethod
    def moments(sums: np.ndarray) -> np.ndarray:
        """(8, head, quantity) from (document, 2, head, quantity)."""
        n, s = sums[:, 0], sums[:, 1]
        squares, cubes = (n * n, n * s, s * s), (n**3, n * n * s, n * s * s, s**3)
        return np.stack([each.sum(0) for each in (n > 0, *squares, *cubes)])


class SegmentAverages:
    """Accumulates the count and the sums of x, x^2 and x^3 for every (layer, head, quantity), and what the error by
    document needs; mean = sum / count at the end. Sums are float64 on the device; per-segment values are float32."""

    def __init__(self, quantities: Sequence[str], measure: Measure, layers: int, heads: int, device: str) -> None:
        self.quantities, self.measure, self.device = tuple(quantities), measure, device
        shape = (layers, heads, len(self.quantities))
        self.count = torch.zeros(shape, dtype=torch.float64, device=device)
        self.sum, self.square, self.cube = (torch.zeros_like(self.count) for _ in range(3))
        self.documents = AverageSums(layers, 2, heads, len(self.quantities))
        self.top_values = torch.full((*shape, TOP), -torch.inf, device=device)
        self.top = torch.full((*shape, TOP), -1, dtype=torch.int64, device=device)
        self.examples: Mapping[int, Encoded] = {}  # by number; after a merge only those of `top`

    def new_empty(self) -> Self:
        layers, heads, _ = self.count.shape
        return type(self)(self.quantities, self.measure, layers, heads, self.device)

    def update(self, batch: Batch, layer: Any) -> None:
        self.examples = {**self.examples, **{example.number: example for example in batch.examples}}
        values = self.measure(batch, layer)  # (batch, head, quantity)
        documents = np.array([example.document_number for example in batch.examples])
        self.add(layer.layer, values, batch.numbers, documents)

    def add(self, layer: int, values: Tensor, numbers: Tensor, documents: np.ndarray) -> None:
        """Add the values (batch, head, quantity) of one layer, NaN where a segment has none, with the numbers (batch,)
        int64 of the segments and of their documents."""
        self.documents.add(layer, documents, values)
        known = values.nan_to_num(nan=0.0).double()
        self.count[layer] += (~values.isnan()).sum(0)
        self.sum[layer] += known.sum(0)
        self.square[layer] += known.square().sum(0)
        self.cube[layer] += known.pow(3).sum(0)
        ranked = values.nan_to_num(nan=-float("inf")).permute(1, 2, 0)  # (head, quantity, batch)
        self._keep_top(slice(layer, layer + 1), ranked[None], numbers.expand_as(ranked)[None])

    def merge(self, other: Self) -> None:
        self.count += other.count
        self.sum += other.sum
        self.square += other.square
        self.cube += other.cube
        self.documents.merge(other.documents)
        self._keep_top(slice(None), other.top_values, other.top)
        both = {**other.examples, **self.examples}
        self.examples = {number: both[number] for number in self._example_numbers() if number in both}

    def to_bytes(self) -> bytes:
        return pack(self.state())

    def from_bytes(self, data: bytes) -> Self:
        empty = self.new_empty()
        empty.restore(unpack(data))
        return empty

    def state(self) -> dict[str, Any]:
        """The sums, and the top segments, by name; subclasses add theirs."""
        examples = [self.examples[number] for number in self._example_numbers()]
        return {name: getattr(self, name) for name in SUMS} | {
            "numbers": [example.number for example in examples],
            "where": [example.where for example in examples],
            "ends": np.cumsum([0, *map(len, examples)]).tolist(),
            "ids": np.concatenate([NO_IDS, *(example.ids.astype(np.int32) for example in examples)]),
            "documents": self.documents.to_bytes(),
        }

    def restore(self, state: dict[str, Any]) -> None:
        for name in SUMS:
            setattr(self, name, torch.from_numpy(state[name]).to(self.device))
        self.documents.restore(state["documents"])
        each = np.split(state["ids"].astype(np.int64), state["ends"][1:-1])
        packed = zip(state["numbers"], state["where"], each, strict=False)  # without examples there is one empty piece
        self.examples = {n: Encoded(n, where, ids, np.zeros_like(ids)) for n, where, ids in packed}

    def _keep_top(self, layers: slice, values: Tensor, numbers: Tensor) -> None:
        """The TOP highest of old and new; equal values by segment number, so that order does not matter."""
        values = torch.cat([self.top_values[layers], values], -1)
        numbers = torch.cat([self.top[layers], numbers], -1)
        by_number = numbers.argsort(-1)
        values, numbers = values.gather(-1, by_number), numbers.gather(-1, by_number)
        values, order = values.sort(dim=-1, descending=True, stable=True)
        self.top_values[layers] = values[..., :TOP]
        self.top[layers] = numbers.gather(-1, order)[..., :TOP]

    def _example_numbers(self) -> list[int]:
        numbers: list[int] = self.top[~self.top_values.isinf()].unique().tolist()
        return numbers

    def texts(self, tokens: Tokens) -> dict[str, Any]:
        """Locations and tokens of the top segments, by segment number (as text)."""
        chosen = [self.examples[number] for number in self._example_numbers()]
        return {str(e.number): {"where": e.where, "tokens": tokens.names(e.ids)} for e in chosen}

    def result(self) -> dict[str, Any]:
        """The fields of HeadAverages, quantity axis first."""
        count, total, square, cube = (each.cpu().numpy() for each in (self.count, self.sum, self.square, self.cube))
        moments, unit = self.documents.whole().swapaxes(0, 1), "documents"
        if moments[0].max(initial=0) <= 1:  # the text has no blank line: each segment stands for itself
            moments, unit = np.stack([count, count, total, square, count, total, square, cube]), "segments"
        error, effective = error_of_average(count, total, moments)
        with np.errstate(invalid="ignore"):
            mean = total / count  # 0 / 0 is NaN: absent
        top = self.top.masked_fill(self.top_values.isinf(), -1)
        values = {"mean": mean, "error": error, "top": top.cpu().numpy(), "top_values": self.top_values.cpu().numpy()}
        return {name: np.moveaxis(value, 2, 0) for name, value in values.items()} | {
            "quantities": list(self.quantities),
            "segments": count[0, 0].astype(np.int64),
            "units": moments[0, 0, 0].astype(np.int64),
            "effective_units": effective[0, 0],
            "unit": unit,
        }


def mean_over(mask: Tensor) -> Tensor:
    """(batch, token) weights that average over the marked tokens; NaN where a segment has none."""
    return mask / mask.sum(1, keepdim=True)
