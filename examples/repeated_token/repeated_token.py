"""Repeated token: which heads attend to earlier occurrences of the query token."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from bertviz_core.analyses.base.analysis import Analysis
from bertviz_core.analyses.base.averages import HeadAverages, averaged_column
from bertviz_core.inputs.encoding import mean_over

if TYPE_CHECKING:
    from torch import Tensor

    from bertviz_core.inputs.encoding import Batch
    from bertviz_core.models.attention import LayerAttention


def _uniform(result: HeadAverages) -> tuple[np.ndarray, str]:
    return result["uniform"], "uniform attention"


@dataclass(frozen=True)
class RepeatedTokenAverages(HeadAverages):
    """The averages of RepeatedToken over inputs; what uniform attention would give is no quantity of heads."""

    analysis: ClassVar[str] = "repeated_token"
    baselines: ClassVar[tuple[str, ...]] = ("uniform",)


class RepeatedToken(Analysis):
    """Attention to earlier occurrences, and what uniform attention would give them."""

    name = "repeated_token"
    title = "Repeated token"
    summary = "Attention of every head to earlier occurrences of the query token."
    result_class = RepeatedTokenAverages
    columns = (
        averaged_column("earlier", "attention to earlier occurrences", name="earlier occurrences", baseline=_uniform),
    )
    quantities = ("earlier", "uniform")
    formula = r"\frac{1}{|R|}\sum_{i \in R}\ \sum_{j < i,\ x_j = x_i} A_{ij} \qquad R = \{i : \exists j<i,\ x_j=x_i\}"

    def measure(self, batch: Batch, layer: LayerAttention) -> Tensor:
        """Averages over the rows whose token occurs earlier in the same input; CLS, SEP and padding have no such row.

        Returns:
            Shares of attention, (batch, head, quantity); NaN for inputs in which no token occurs twice.
        """
        import torch

        word = batch.mask & ~(batch.cls | batch.sep)
        same = (batch.ids[:, :, None] == batch.ids[:, None, :]) & word[:, :, None]  # (batch, query, key)
        earlier = same.tril(-1)
        received = (layer.weights * earlier[:, None]).sum(-1)  # (batch, head, query)
        visible = layer.visible(batch)  # (batch, query, key)
        shares = (earlier & visible).sum(-1) / visible.sum(-1).clamp(min=1)
        uniform = shares[:, None].expand_as(received)
        rows = mean_over(earlier.any(-1))  # (batch, query)
        return (torch.stack([received, uniform], -1) * rows[:, None, :, None]).sum(2)
