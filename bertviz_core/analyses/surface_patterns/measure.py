"""Surface patterns: attention to fixed offsets, to special tokens and to punctuation (3.1 and 3.2; Figure 2)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bertviz_core.analyses.averages import mean_over

if TYPE_CHECKING:
    from torch import Tensor

    from bertviz_core.models.attention import LayerAttention
    from bertviz_core.models.encoding import Batch


def measure(batch: Batch, attention: LayerAttention) -> Tensor:
    """(batch, head, quantity): each head's average over query tokens i of A[i, i], A[i, i-1], A[i, i+1] and of the
    sums of A[i, j] over j in a class, with denominator N (all rows); `sep_to_sep` and `other_to_sep` average over
    the rows that are SEP and over the others. NaN where a segment has no such token (sections 3.1 and 3.2)."""
    import torch

    weights, rows = attention.weights, batch.row_weights  # (batch, head, query, key), (batch, query)
    other = batch.mask & ~batch.sep
    roles = torch.stack([rows, mean_over(batch.sep), mean_over(other)], 1)  # (batch, role, query)
    received = roles[:, None] @ weights  # (batch, head, role, key)
    pooled = received @ batch.key_classes[:, None]  # (batch, head, role, class)
    has_cls, has_sep = _present(batch.cls), _present(batch.sep)  # (batch, 1)
    current = (weights.diagonal(0, -2, -1) * rows[:, None]).sum(-1)
    previous = (weights.diagonal(-1, -2, -1) * rows[:, None, 1:]).sum(-1)
    following = (weights.diagonal(1, -2, -1) * rows[:, None, :-1]).sum(-1)
    to_cls, to_sep, to_punct = pooled[:, :, 0].unbind(-1)
    sep_to_sep, other_to_sep = pooled[:, :, 1, 1], pooled[:, :, 2, 1]
    return torch.stack(
        [
            *(current, previous, following, to_cls * has_cls, to_sep * has_sep, to_punct),
            *(sep_to_sep, other_to_sep * has_sep),
        ],
        -1,
    )


def _present(mask: Tensor) -> Tensor:
    """(batch, 1): 1 where any token is marked, NaN where none is."""
    return mask.any(1, keepdim=True) / mask.any(1, keepdim=True)
