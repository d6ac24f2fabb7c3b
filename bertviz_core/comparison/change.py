"""One quantity in two runs, head by head: the difference, its interval and its test (docs/methods.md, section 13)."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from bertviz_core.analyses.proportions import Z95, Estimate, wilson
from bertviz_core.heads import Head, all_heads

ALPHA = 0.05
erfc = np.vectorize(math.erfc, otypes=[float])  # without scipy, which threads cannot import at once


@dataclass(frozen=True, slots=True)
class Change:
    """One quantity in both runs, of the same shape. All (layer, head).

    Attributes:
        a, b: The quantity in each run.
        difference: b - a.
        low, high: 95% interval of the difference: Newcombe's for proportions, else 1.96 standard errors to each side.
        p: Two-sided, adjusted over all heads by Holm; NaN where the error is not known.
    """

    a: np.ndarray
    b: np.ndarray
    difference: np.ndarray
    low: np.ndarray
    high: np.ndarray
    p: np.ndarray

    @classmethod
    def of(cls, a: Estimate, b: Estimate) -> Change:
        """The change of one quantity between the two runs' estimates."""
        difference = b.values - a.values
        error = np.hypot(a.standard_error, b.standard_error)
        interval = difference - Z95 * error, difference + Z95 * error
        if a.n and b.n:
            interval = newcombe(a.values, a.n, b.values, b.n)
        return cls(a.values, b.values, difference, *interval, holm(two_sided(difference, error)))

    @property
    def marked(self) -> np.ndarray:
        """(layer, head) bool: whether the head's adjusted p is under ALPHA."""
        return np.nan_to_num(self.p, nan=1.0) < ALPHA

    @property
    def untested(self) -> bool:
        """Whether no head has a standard error."""
        return bool(np.isnan(self.p).all())

    def by_size(self) -> list[Head]:
        """All heads, the largest difference first; heads without a value are left out."""
        heads = [head for head in all_heads(*self.a.shape) if not np.isnan(self.difference[head])]
        return sorted(heads, key=lambda head: -abs(self.difference[head]))


def two_sided(difference: np.ndarray, error: np.ndarray) -> np.ndarray:
    """p of differences under a normal distribution with these standard errors; 1 where both are 0, NaN where the error
    is not known."""
    z = np.divide(np.abs(difference), error, out=np.full_like(difference, np.inf), where=error != 0)
    z = np.where((error == 0) & (difference == 0), 0.0, z)
    return np.where(np.isnan(error), np.nan, erfc(z / np.sqrt(2)))


def holm(p: np.ndarray) -> np.ndarray:
    """Holm's (1979) adjusted p values of a family of tests, in the same shape: with p sorted, the running maximum of
    (m - k + 1) p_k, at most 1. NaN is left out of the family."""
    adjusted = np.array(p, dtype=float)
    tested = ~np.isnan(adjusted)
    values = adjusted[tested]
    order = np.argsort(values, kind="stable")
    factors = np.arange(len(order), 0, -1)
    values[order] = np.minimum(np.maximum.accumulate(factors * values[order]), 1.0)
    adjusted[tested] = values
    return adjusted


def newcombe(a: np.ndarray, n_a: int, b: np.ndarray, n_b: int) -> tuple[np.ndarray, np.ndarray]:
    """95% interval of b - a, two independent proportions (Newcombe 1998, method 10): (low, high), from the Wilson
    intervals of both."""
    (low_a, high_a), (low_b, high_b) = (wilson(np.rint(x * n), np.array(n)) for x, n in ((a, n_a), (b, n_b)))
    low = b - a - np.hypot(b - low_b, high_a - a)
    return low, b - a + np.hypot(high_b - b, a - low_a)
