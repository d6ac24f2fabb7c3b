"""What each head adds to the logit of the token that comes next (docs/methods.md, section 20)."""

from typing import ClassVar

import numpy as np
import torch
from torch import Tensor

from bertviz_core.analyses.base.accumulators import SegmentSums
from bertviz_core.analyses.next_token.result import QUANTITIES
from bertviz_core.inputs.encoding import Batch
from bertviz_core.models.attention import LayerAttention
from bertviz_core.models.residual import ResidualStream, Written


def measure(batch: Batch, written: Written, residual: ResidualStream) -> Tensor:
    """(layer, batch, head, quantity): the means over an input's predictions, all tokens but its first, of what each
    head adds to the logit of the token that comes next, and of that logit, the same for all heads; NaN where an input
    is a single token (docs/methods.md, section 20)."""
    counts = np.array([len(example) - 1 for example in batch.examples])
    rows = np.arange(len(counts)).repeat(counts)
    positions = np.concatenate([np.arange(count) for count in counts])
    at = (torch.from_numpy(rows).to(batch.ids.device), torch.from_numpy(positions).to(batch.ids.device))
    heads, logits = residual.head_parts(written, at, batch.ids[at[0], at[1] + 1])
    values = torch.stack([heads, logits[None, :, None].expand_as(heads)], -1)  # (layer, prediction, head, quantity)
    sums = values.new_zeros(len(values), len(counts), *values.shape[2:]).index_add(1, at[0], values)
    return sums / torch.from_numpy(counts).to(sums)[:, None, None]


class NextTokenSums(SegmentSums[LayerAttention]):
    """Averages of what heads add, from the residual stream of each batch at its end.

    Attributes:
        residual: The model's residual stream; None where its weights are in other processes.
    """

    reads_residual: ClassVar[bool] = True

    def __init__(self, layers: int, heads: int, device: str, residual: ResidualStream | None) -> None:
        """Begin with empty sums."""
        super().__init__(QUANTITIES, _nothing_yet, layers, heads, device)
        self.arguments = (layers, heads, device, residual)
        self.residual = residual

    def update(self, batch: Batch, layer: LayerAttention) -> None:
        """Nothing is known before the end: the scale of the last norm follows from all layers."""

    def update_at_end(self, batch: Batch, written: Written) -> None:
        assert self.residual is not None, "the model was loaded with its residual stream"
        self.add(batch, 0, measure(batch, written, self.residual))


def _nothing_yet(batch: Batch, layer: LayerAttention) -> Tensor:
    raise AssertionError("layers are measured together, at the end")
