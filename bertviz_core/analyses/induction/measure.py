"""Attention from each repeated token to three positions: after its first occurrence, at it, and before the token
(docs/methods.md, section 15)."""

import torch
from torch import Tensor

from bertviz_core.inputs.encoding import Batch
from bertviz_core.models.attention import LayerAttention


def measure(batch: Batch, attention: LayerAttention) -> Tensor:
    """(batch, head, quantity): with n tokens in each half, the means over the rows i of the second half of
    A[i, i-n+1] (prefix matching), A[i, i-n] (duplicate token) and A[i, i-1] (previous token), 0 to 1, NaN where nothing
    is repeated; then of the same weights, NaN where the sequence is repeated (docs/methods.md, section 15)."""
    words = batch.examples[0].words  # all inputs are of one length
    assert words is not None, "random sequences have words"
    is_word = words >= 0
    start = int(is_word.argmax())
    size = int(is_word.sum()) // 2
    rows = torch.arange(start + size, start + 2 * size, device=batch.ids.device)
    keys = torch.stack([rows - size + 1, rows - size, rows - 1])  # (quantity, row)
    values = attention.weights[:, :, rows, keys].mean(-1)
    repeated = (batch.ids[:, rows] == batch.ids[:, rows - size]).all(-1)[:, None, None]
    return torch.cat([values.where(repeated, torch.nan), values.where(~repeated, torch.nan)], -1)
