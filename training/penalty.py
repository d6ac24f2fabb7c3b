"""A penalty on the entropy of attention: layers whose heads look too broadly or too narrowly are pushed into a band."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from bertviz_core.errors import SettingsError


@dataclass(frozen=True, slots=True)
class EntropyPenalty:
    """A term of the loss for each layer: its weight times how far its entropies lie outside a band, on average.

    A query whose entropy lies inside the band contributes nothing, one above it is pushed down and one below it up: it
    contributes its distance in nats. The average is over the layer's heads and all queries that are not padding.

    Attributes:
        weights: One for each layer; 0 leaves a layer alone.
        low: Lower end of the band, in nats.
        high: Upper end of the band, in nats.
    """

    weights: tuple[float, ...]
    low: float
    high: float

    def check(self, layers: int) -> None:
        """Raises SettingsError unless there is a weight for each of `layers` and the band is one."""
        if len(self.weights) != layers:
            raise SettingsError(
                f"--entropy has {len(self.weights)} weights, the model has {layers} layers.",
                hint="Give one weight for each layer, separated by commas.",
            )
        if not 0 <= self.low <= self.high:
            raise SettingsError(f"--band {self.low} {self.high} is no band.", hint="Give two numbers, the lower first.")

    def term(self, layer: int, attention: Tensor, real: Tensor) -> Tensor:
        """One layer's term.

        Args:
            layer: Counted from 0.
            attention: (batch, head, query, key), rows that sum to 1.
            real: (batch, query) bool, False for padding.

        Returns:
            A scalar float32, to be added to the loss.
        """
        if not self.weights[layer]:
            return attention.new_zeros((), dtype=torch.float32)
        # d/dp of -p log p is -log p - 1; the 1 is the same for every key of a row, and the softmax that made the row
        # takes such a constant out again. So the logarithm may count as a constant, which saves half of the backward.
        logarithm = attention.detach().clamp_min(torch.finfo(attention.dtype).tiny).log_()
        entropy = -(attention * logarithm).sum(-1).float()  # (batch, head, query)
        outside = (entropy - self.high).relu() + (self.low - entropy).relu()
        chosen = outside * real[:, None]
        return self.weights[layer] * chosen.sum() / (real.sum() * attention.shape[1])
