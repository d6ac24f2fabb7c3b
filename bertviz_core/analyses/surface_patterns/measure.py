"""How attention to fixed offsets, special tokens and punctuation is measured (docs/methods.md, section 2)."""

import torch
from torch import Tensor

from bertviz_core.analyses.base.accumulators import SegmentSums
from bertviz_core.analyses.base.request import Request
from bertviz_core.analyses.surface_patterns.result import NORM_QUANTITIES, QUANTITIES
from bertviz_core.inputs.encoding import Batch, mean_over
from bertviz_core.inputs.tensors import in_float64
from bertviz_core.models.attention import LayerAttention
from bertviz_core.models.model import AttentionModel


def measure(batch: Batch, attention: LayerAttention) -> Tensor:
    """(batch, head, quantity): each head's average over query tokens i of A[i, i], A[i, i-1], A[i, i+1] and of the
    sums of A[i, j] over j in a class, with denominator N (all rows); `sep_to_sep` and `other_to_sep` average over
    the rows that are SEP and over the others, `to_first` over all rows but the first. NaN where a segment has no such
    token, and for A[i, i+1] of a causal model (docs/methods.md, section 2)."""
    weights = attention.weights  # (batch, head, query, key)
    rows = batch.row_weights  # (batch, query)
    other = batch.mask & ~batch.sep
    roles = torch.stack([rows, mean_over(batch.sep), mean_over(other)], 1)  # (batch, role, query)
    received = roles[:, None] @ weights  # (batch, head, role, key)
    classes = torch.stack([batch.cls, batch.sep, batch.punctuation], -1).to(weights)  # (batch, key, class)
    pooled = received @ classes[:, None]  # (batch, head, role, class)
    has_cls = _present(batch.cls)  # (batch, 1)
    has_sep = _present(batch.sep)  # (batch, 1)
    current = (weights.diagonal(0, -2, -1) * rows[:, None]).sum(-1)
    previous = (weights.diagonal(-1, -2, -1) * rows[:, None, 1:]).sum(-1)
    following = (weights.diagonal(1, -2, -1) * rows[:, None, :-1]).sum(-1)
    if attention.causal:
        following.fill_(torch.nan)
    later = batch.mask[:, 1:]
    to_first = (weights[..., 1:, 0] * mean_over(later)[:, None]).sum(-1) * _present(later)
    to_cls, to_sep, to_punct = pooled[:, :, 0].unbind(-1)
    sep_to_sep = pooled[:, :, 1, 1]
    other_to_sep = pooled[:, :, 2, 1]
    to_classes = (to_cls * has_cls, to_sep * has_sep, to_punct, sep_to_sep, other_to_sep * has_sep)
    return torch.stack([current, previous, following, *to_classes, to_first], -1)


def accumulator(model: AttentionModel, request: Request) -> SegmentSums[LayerAttention]:
    """The accumulator for one pass; of norms with the lengths of vectors."""
    sizes = (model.layers, model.heads, model.device)
    if request.settings.weights == "norms":
        return SegmentSums[LayerAttention](QUANTITIES + NORM_QUANTITIES, measure_with_lengths, *sizes)
    return SegmentSums[LayerAttention](QUANTITIES, measure, *sizes)


def measure_with_lengths(batch: Batch, attention: LayerAttention) -> Tensor:
    """(batch, head, quantity): `measure`, then for each class the mean |f(x_j)| over its tokens, and Spearman's
    correlation over the tokens j of |f(x_j)| with the mean over i of A[i, j] (docs/methods.md, section 11)."""
    lengths = attention.vector_norms
    assert lengths is not None and attention.attention is not None, "attention weights have no lengths"
    other = batch.mask & ~(batch.special | batch.punctuation)
    classes = torch.stack([mean_over(marked) for marked in (batch.cls, batch.sep, batch.punctuation, other)], -1)
    received = (batch.row_weights[:, None, None] @ attention.attention)[:, :, 0]  # (batch, head, key)
    correlation = _spearman(lengths, received, batch.mask)[..., None]
    return torch.cat([measure(batch, attention), lengths @ classes, correlation], -1)


def _spearman(first: Tensor, second: Tensor, mask: Tensor) -> Tensor:
    """(batch, head): Pearson's correlation of ranks, over the marked tokens; NaN where either does not vary."""
    weights = in_float64(mask)[:, None]
    mean = (weights.sum(-1, keepdim=True) + 1) / 2
    a, b = ((_ranks(values, mask) - mean) * weights for values in (first, second))
    return ((a * b).sum(-1) / (a.square().sum(-1) * b.square().sum(-1)).sqrt()).float().to(first.device)


def _ranks(values: Tensor, mask: Tensor) -> Tensor:
    """Ranks from 1 among the marked tokens; equal values share the mean of their ranks."""
    values = values.masked_fill(~mask[:, None], torch.inf).contiguous()
    ordered = values.sort(-1).values
    below, up_to = (torch.searchsorted(ordered, values, right=right) for right in (False, True))
    return in_float64(below + up_to + 1) / 2


def _present(mask: Tensor) -> Tensor:
    """(batch, 1): 1 where any token is marked, NaN where none is."""
    return mask.any(1, keepdim=True) / mask.any(1, keepdim=True)
