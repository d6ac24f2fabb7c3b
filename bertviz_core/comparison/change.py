"""One quantity in two runs, head by head: the difference, its interval, and whether it is significant."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from bertviz_core.analyses.proportions import Estimate
from bertviz_core.comparison.statistics import holm, newcombe, normal, two_sided
from bertviz_core.heads import Head, all_heads

if TYPE_CHECKING:
    pass


ALPHA = 0.05


@dataclass(frozen=True, slots=True)
class Change:
    """One quantity in both runs, of the same shape. All (layer, head).

    Attributes:
        a, b: The quantity in each run.
        difference: b - a.
        error: Standard error of the difference; NaN where it is not known.
        low, high: 95% interval of the difference: Newcombe's for proportions, else 1.96 standard errors to each side.
        p: Two-sided, adjusted over all heads by Holm; NaN where the error is not known.
    """

    a: np.ndarray
    b: np.ndarray
    difference: np.ndarray
    error: np.ndarray
    low: np.ndarray
    high: np.ndarray
    p: np.ndarray

    @classmethod
    def of(cls, a: Estimate, b: Estimate) -> Change:
        """The change of one quantity between the two runs' estimates."""
        difference = b.values - a.values
        error = np.hypot(a.standard_error, b.standard_error)
        interval = newcombe(a.values, a.n, b.values, b.n) if a.n and b.n else normal(difference, error)
        return cls(a.values, b.values, difference, error, *interval, holm(two_sided(difference, error)))

    @property
    def marked(self) -> np.ndarray:
        """(layer, head) bool: whether the head's adjusted p is under ALPHA."""
        return np.nan_to_num(self.p, nan=1.0) < ALPHA

    def by_size(self) -> list[Head]:
        """All heads, the largest difference first; heads without a value are left out."""
        heads = [head for head in all_heads(*self.a.shape) if not np.isnan(self.difference[head])]
        return sorted(heads, key=lambda head: -abs(self.difference[head]))
