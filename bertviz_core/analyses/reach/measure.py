"""Sums of reach over inputs: averages, how many inputs are in each tenth of a head's activations, with a few of them,
and what each token receives and gives."""

from functools import partial
from hashlib import blake2b
from typing import Any, ClassVar, Self

import numpy as np
import torch
from torch import Tensor

from bertviz_core.analyses.base.accumulators import SegmentSums, as_tensor
from bertviz_core.analyses.base.request import Request
from bertviz_core.analyses.reach.quantities import MapReader, Seen, look, measure, strongest_pairs
from bertviz_core.analyses.reach.result import KEPT, OFFSETS, QUANTITIES, SINKS, TENTHS
from bertviz_core.analyses.reach.token_sums import TokenSums
from bertviz_core.analyses.reach.uniform import Masks, token_uniform
from bertviz_core.engine import packing
from bertviz_core.inputs.encoded_corpus import EncodedCorpus
from bertviz_core.inputs.encoding import Batch, Encoded
from bertviz_core.inputs.tensors import in_float64, to_host
from bertviz_core.inputs.tokens import Tokens
from bertviz_core.models.attention import LayerAttention
from bertviz_core.models.model import AttentionModel

FIELDS = ("draw", "number", "value", "query", "key")


def _measure_layer(batch: Batch, layer: LayerAttention, causal: bool) -> Tensor:
    """(batch, head, quantity) values of one layer alone; `update` measures all layers of a batch together."""
    return measure(batch, look(batch, layer), causal, [layer.mask])[0]


class ReachSums(SegmentSums[LayerAttention]):
    """Averages of QUANTITIES and of OFFSETS; and of each head and tenth of its activations the number of inputs, and
    the KEPT inputs with the lowest draws, which follow from the seed and an input's number alone.

    Attributes:
        seed: The seed of the draws.
        causal: Whether a token sees only itself and earlier ones.
        counts: (layer, head, tenth) int64 numbers of inputs.
        kept: (layer, head, tenth, rank, field) float64 the inputs by FIELDS, the lowest draw first; inf for none.
        tokens: What each token receives and gives.
        reader: What the layers of a batch show until all are there: then they are measured together.
        waiting: The batches of an unfinished chunk, (layer, batch, head, field) without the draw, on the device: they
            are sorted into tenths together, for which the device is waited for once.
    """

    ranked: ClassVar[slice] = slice(len(QUANTITIES))

    def __init__(self, layers: int, heads: int, device: str, seed: int, tokens: Tokens, causal: bool) -> None:
        """Begin with empty sums.

        Args:
            seed: The seed of the draws.
            tokens: The model's tokenizer.
            causal: Whether a token sees only itself and earlier ones.
        """
        measured = partial(_measure_layer, causal=causal)
        super().__init__((*QUANTITIES, *OFFSETS), measured, layers, heads, device, SINKS)
        self.arguments = (layers, heads, device, seed, tokens, causal)
        self.seed = seed
        self.causal = causal
        shape = (layers, heads, TENTHS, KEPT, len(FIELDS))
        self.counts = torch.zeros(shape[:3], dtype=torch.int64)
        # Positions and numbers are integers below 2^53, which float64 has exactly.
        self.kept = torch.full(shape, torch.inf, dtype=torch.float64)
        self.tokens = TokenSums(layers, heads, tokens, causal)
        self.reader: MapReader | None = None
        self.waiting: list[Tensor] = []

    def update(self, batch: Batch, layer: LayerAttention) -> None:
        # Small operations take as long for all layers as for one: what follows from `seen` waits for the last layer.
        if self.reader is None:
            self.reader = MapReader(batch, layer.weights, len(self.counts))
        self.reader.read(layer, layer.layer)
        if layer.layer == len(self.counts) - 1:
            self._add_all(batch, self.reader.seen, self.reader.masks)
            self.reader = None

    def _add_all(self, batch: Batch, seen: Seen, masks: Masks) -> None:
        """Add what all layers show of a batch."""
        self.add(batch, 0, measure(batch, seen, self.causal, masks))
        acts = strongest_pairs(batch, seen, self.causal)
        number = batch.numbers[:, None].expand_as(acts[0])
        self.waiting.append(torch.stack([*map(in_float64, (number, *acts))], -1))
        self.tokens.add(batch, seen.received, seen.given, token_uniform(batch, masks))

    def merge(self, other: Self) -> None:
        if other.documents.is_batch:
            self.waiting += other.waiting
        else:
            self._sort()
            other._sort()
            self.counts += other.counts
            self._keep(slice(None), other.kept)
        self.tokens.merge(other.tokens)
        super().merge(other)  # which forgets the examples that are not kept

    def state(self) -> dict[str, Any]:
        self._sort()
        acts = {"counts": self.counts, "kept": self.kept}
        return super().state() | acts | {"tokens": packing.pack(self.tokens.state())}

    def restore(self, state: dict[str, Any]) -> None:
        self.counts = as_tensor(state["counts"], self.counts)
        self.kept = as_tensor(state["kept"], self.kept)
        self.tokens.restore(packing.unpack(state["tokens"]))
        super().restore(state)

    def fields(self, examples: EncodedCorpus[Any]) -> dict[str, Any]:
        """The fields of Reach."""
        self._sort()
        fields = super().fields(examples)
        offsets = slice(len(QUANTITIES), len(QUANTITIES) + len(OFFSETS))
        by_offset = {"offsets": fields["mean"][offsets], "offset_errors": fields["error"][offsets]}
        for name in ("quantities", "mean", "error", "segments", "units", "effective_units"):
            fields[name] = fields[name][self.ranked]
        return fields | by_offset | self._acts() | self.tokens.fields(examples.tokens)

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
        if self.waiting:
            (inputs,) = to_host([torch.cat(self.waiting, 1)])
            for layer, fields in enumerate(inputs):
                self._add(layer, torch.from_numpy(fields).transpose(0, 1))
        self.waiting = []

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


def accumulator(model: AttentionModel, request: Request) -> ReachSums:
    """The accumulator for one pass."""
    return ReachSums(model.layers, model.heads, model.device, request.settings.seed, model.tokens, model.causal)
