"""Entropy of attention: how broadly each head attends (3.3; Figure 4). In nats."""

from functools import partial

import torch
from torch import Tensor

from bertviz_core.analyses.averages import SegmentAverages, mean_over
from bertviz_core.analyses.entropy import QUANTITIES
from bertviz_core.analyses.request import Request
from bertviz_core.models.attention import LayerAttention
from bertviz_core.models.encoding import Batch
from bertviz_core.models.model import AttentionModel


def measure(batch: Batch, attention: LayerAttention, smoothed: bool = False) -> Tensor:
    """(batch, head, quantity): averages over rows i of H_i = -sum_j A_ij log A_ij, of the CLS row's H, of
    max_j A_ij, and of log N (section 3.3). `smoothed`: the release's 0.9999 A + 0.0001/N in place of A."""
    rows = batch.row_weights
    largest = attention.weights.amax(-1)  # (batch, head, query)
    if smoothed:
        entropies = torch.special.entr(0.9999 * attention.weights + 0.0001 * rows[:, None, None]).sum(-1)
    else:
        entropies = _entropies(attention, largest)
    candidates = batch.mask.cumsum(1) if attention.causal else batch.mask.sum(1, keepdim=True).expand_as(batch.mask)
    uniform = candidates.clamp(min=1).log().float()  # (batch, query)
    means = [(values * rows[:, None]).sum(-1) for values in (entropies, largest, uniform[:, None].expand_as(largest))]
    of_cls = (entropies * mean_over(batch.cls)[:, None]).sum(-1)
    return torch.stack([means[0], of_cls, means[1], means[2]], -1)


def accumulator(model: AttentionModel, request: Request) -> SegmentAverages:
    """The accumulator for one pass; mode "as in the paper" smooths as the release does."""
    return SegmentAverages(
        QUANTITIES, partial(measure, smoothed=request.settings.paper), model.layers, model.heads, model.device
    )


def _entropies(attention: LayerAttention, largest: Tensor) -> Tensor:
    """(batch, head, query), without a logarithm for each element: with z the logits and m their maximum,
    log A_ij = (z_ij - m_i) + log max_j A_ij, so H_i = -log max_j A_ij - sum_j A_ij (z_ij - m_i)."""
    if attention.logits is None:
        return torch.special.entr(attention.weights).sum(-1)
    shifted = attention.logits - attention.logits.amax(-1, keepdim=True)
    return -largest.log() - shifted.mul_(attention.weights).sum(-1)
