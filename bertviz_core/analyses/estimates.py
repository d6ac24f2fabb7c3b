"""A quantity of every head with its uncertainty: what two runs are compared by (docs/methods.md, section 13)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True, slots=True)
class Estimate:
    """One quantity of every head.

    Attributes:
        values: (layer, head), NaN where a head has none.
        error: (layer, head) standard errors; None where none are known.
        n: Number of cases of which `values` are the shares; None where they are not proportions.
    """

    values: np.ndarray
    error: np.ndarray | None = None
    n: int | None = None

    @property
    def standard_error(self) -> np.ndarray:
        """(layer, head); of a proportion the square root of p (1 - p) / n; NaN where none is known."""
        if self.n:
            return np.asarray(np.sqrt(self.values * (1 - self.values) / self.n))
        return np.full_like(self.values, np.nan) if self.error is None else self.error
