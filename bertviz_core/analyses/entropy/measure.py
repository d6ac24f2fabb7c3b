"""How the entropy of attention is measured (docs/methods.md, section 4)."""

from functools import partial

import torch
from torch import Tensor

from bertviz_core.analyses.base.accumulators import SegmentSums
from bertviz_core.analyses.base.request import Request
from bertviz_core.analyses.entropy.result import QUANTITIES
from bertviz_core.inputs.encoding import Batch, mean_over
from bertviz_core.models.attention import LayerAttention
from bertviz_core.models.model import AttentionModel


def measure(batch: Batch, attention: LayerAttention, smoothed: bool = False) -> Tensor:
    """(batch, head, quantity): averages over rows i of H_i = -sum_j A_ij log A_ij, of the CLS row's H, of
    max_j A_ij, and of log v_i, in nats, with v_i the number of tokens that i sees in this layer. `smoothed`: the
    release's 0.9999 A + 0.0001/N in place of A (docs/methods.md, section 4)."""
    rows = batch.row_weights
    weights = attention.weights
    largest = weights.amax(-1)  # (batch, head, query)
    if smoothed:
        entropies = torch.special.entr(0.9999 * weights + 0.0001 * rows[:, None, None]).sum(-1)
    elif attention.logits is None:
        entropies = torch.special.entr(weights).sum(-1)
    else:
        # This needs no logarithm for each element: with z the logits and m_i the maximum of row i,
        # log A_ij = (z_ij - m_i) + log max_j A_ij, so H_i = -log max_j A_ij - sum_j A_ij (z_ij - m_i).
        shifted = attention.logits - attention.logits.amax(-1, keepdim=True)
        entropies = -largest.log() - shifted.mul_(weights).sum(-1)
    uniform = attention.visible(batch).sum(-1).clamp(min=1).log().float()[:, None].expand_as(largest)
    from_cls = mean_over(batch.cls)
    means = [
        (values * queries[:, None]).sum(-1)
        for values, queries in ((entropies, rows), (entropies, from_cls), (largest, rows), (uniform, rows))
    ]
    return torch.stack(means, -1)


def accumulator(model: AttentionModel, request: Request) -> SegmentSums[LayerAttention]:
    """The accumulator for one pass; mode "as in the paper" smooths as the release does (docs/methods.md, section 4)."""
    smoothed = partial(measure, smoothed=request.settings.paper)
    return SegmentSums[LayerAttention](QUANTITIES, smoothed, model.layers, model.heads, model.device)
