"""Sums of reach over inputs: averages, and how many inputs are in each tenth of a head's activations, with a few."""

from collections.abc import Callable
from hashlib import blake2b
from typing import Any, ClassVar, Self

import numpy as np
import torch
from torch import Tensor

from bertviz_core.analyses.base.accumulators import SegmentAverages, as_tensor
from bertviz_core.analyses.reach.result import KEPT, OFFSETS, QUANTITIES, TENTHS
from bertviz_core.inputs.encoded_corpus import EncodedCorpus
from bertviz_core.inputs.encoding import Batch, Encoded
from bertviz_core.inputs.tensors import in_float64, to_host
from bertviz_core.models.attention import LayerAttention

FIELDS = ("draw", "number", "value", "query", "key")
Pairs = Callable[[Batch, LayerAttention], tuple[Tensor, Tensor, Tensor]]


class ReachSums(SegmentAverages[LayerAttention]):
    """Averages of QUANTITIES and of OFFSETS; and of each head and tenth of its activations the number of inputs, and
    the KEPT inputs with the lowest draws, which follow from the seed and an input's number alone.

    Attributes:
        pairs: From one layer of a batch to the strongest pairs: weights, queries and keys, each (batch, head).
        seed: The seed of the draws.
        counts: (layer, head, tenth) int64 numbers of inputs.
        kept: (layer, head, tenth, rank, field) float64 the inputs by FIELDS, the lowest draw first; inf for none.
        waiting: For each layer the batches of an unfinished chunk, (batch, head, field) without the draw, on the
            device: they are sorted into tenths together, for which the device is waited for once.
    """

    ranked: ClassVar[slice] = slice(len(QUANTITIES))

    def __init__(
        self,
        quantities: tuple[str, ...],
        measure: Callable[[Batch, LayerAttention], Tensor],
        layers: int,
        heads: int,
        device: str,
        pairs: Pairs,
        seed: int,
    ) -> None:
        super().__init__(quantities, measure, layers, heads, device)
        self.arguments = (*self.arguments, pairs, seed)
        self.pairs = pairs
        self.seed = seed
        shape = (layers, heads, TENTHS, KEPT, len(FIELDS))
        self.counts = torch.zeros(shape[:3], dtype=torch.int64)
        # Positions and numbers are integers below 2^53, which float64 has exactly.
        self.kept = torch.full(shape, torch.inf, dtype=torch.float64)
        self.waiting: list[list[Tensor]] = [[] for _ in range(layers)]

    def update(self, batch: Batch, layer: LayerAttention) -> None:
        super().update(batch, layer)
        values, query, key = self.pairs(batch, layer)  # (batch, head)
        number = batch.numbers[:, None].expand_as(query)
        self.waiting[layer.layer].append(torch.stack([*map(in_float64, (number, values, query, key))], -1))

    def merge(self, other: Self) -> None:
        if other.documents.is_batch:
            self.waiting = [[*ours, *others] for ours, others in zip(self.waiting, other.waiting, strict=True)]
        else:
            self._sort()
            other._sort()
            self.counts += other.counts
            self._keep(slice(None), other.kept)
        super().merge(other)  # which forgets the examples that are not kept

    def state(self) -> dict[str, Any]:
        self._sort()
        return super().state() | {"counts": self.counts, "kept": self.kept}

    def restore(self, state: dict[str, Any]) -> None:
        self.counts = as_tensor(state["counts"], self.counts)
        self.kept = as_tensor(state["kept"], self.kept)
        super().restore(state)

    def fields(self, examples: EncodedCorpus[Any]) -> dict[str, Any]:
        """The fields of Reach."""
        self._sort()
        fields = super().fields(examples)
        offsets = slice(len(QUANTITIES), len(QUANTITIES) + len(OFFSETS))
        by_offset = {"offsets": fields["mean"][offsets], "offset_errors": fields["error"][offsets]}
        for name in ("quantities", "mean", "error", "segments", "units", "effective_units"):
            fields[name] = fields[name][self.ranked]
        return fields | by_offset | self._acts()

    def _acts(self) -> dict[str, np.ndarray]:
        _, numbers, values, *pairs = np.moveaxis(self.kept.numpy(), -1, 0)
        known = ~np.isinf(numbers)
        positions = np.where(known[..., None], np.stack(pairs, -1), -1).astype(np.int64)
        return {
            "act_counts": self.counts.numpy(),
            "act_numbers": np.where(known, numbers, -1).astype(np.int64),
            "act_values": np.where(known, values, np.nan),
            "act_pairs": positions,
        }

    def _sort(self) -> None:
        """Sort the inputs that wait into the tenths."""
        if any(self.waiting):
            for layer, fields in enumerate(to_host([torch.cat(batches) for batches in self.waiting])):
                self._add(layer, torch.from_numpy(fields).transpose(0, 1))
        self.waiting = [[] for _ in self.waiting]

    def _add(self, layer: int, fields: Tensor) -> None:
        """Count inputs of a layer by tenth and keep some; `fields` are (head, input, field), without the draw."""
        number, values, *_ = fields.unbind(-1)
        draws = fields.new_tensor([_draw(self.seed, int(each)) for each in number[0].tolist()])
        tenth = (values * TENTHS).floor().clamp(max=TENTHS - 1)  # NaN is in none
        is_in = tenth[:, None] == torch.arange(TENTHS)[:, None]  # (head, tenth, input)
        self.counts[layer] += is_in.sum(-1)
        lowest, index = draws.where(is_in, torch.inf).topk(min(KEPT, len(draws)), largest=False)
        rows = index.flatten(1)[..., None].expand(-1, -1, fields.shape[-1])
        inputs = torch.cat([lowest[..., None], fields.gather(1, rows).unflatten(1, index.shape[1:])], -1)
        inputs = inputs.where(~lowest.isinf()[..., None], torch.inf)
        self._keep(slice(layer, layer + 1), inputs[None])

    def _keep(self, layers: slice, inputs: Tensor) -> None:
        """Keep the lowest draws of the old and the new inputs, (layer, head, tenth, rank, field)."""
        both = torch.cat([self.kept[layers], inputs], 3)
        order = both[..., FIELDS.index("draw")].argsort(-1)[..., :KEPT]
        self.kept[layers] = both.gather(3, order[..., None].expand(*order.shape, len(FIELDS)))

    def _top_examples(self) -> dict[int, Encoded]:
        numbers = self.kept[..., FIELDS.index("number")]
        kept = np.unique(numbers[~numbers.isinf()].numpy()).astype(np.int64).tolist()
        return super()._top_examples() | {number: self.examples[number] for number in kept if number in self.examples}


def _draw(seed: int, number: int) -> int:
    """A number of 48 bits, which float64 has exactly and in which two inputs hardly ever agree."""
    return int.from_bytes(blake2b(f"{seed}:{number}".encode(), digest_size=6).digest(), "big")
