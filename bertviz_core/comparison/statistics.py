"""Tests and intervals of differences (docs/methods.md, section 13)."""

from __future__ import annotations

import math

import numpy as np

from bertviz_core.analyses.proportions import Z95, wilson

erfc = np.vectorize(math.erfc, otypes=[float])  # without scipy, which threads cannot import at once


def two_sided(difference: np.ndarray, error: np.ndarray) -> np.ndarray:
    """p of differences under a normal distribution with these standard errors; 1 where both are 0, NaN where the error
    is not known."""
    z = np.divide(np.abs(difference), error, out=np.full_like(difference, np.inf), where=error != 0)
    z = np.where((error == 0) & (difference == 0), 0.0, z)
    return np.where(np.isnan(error), np.nan, erfc(z / np.sqrt(2)))


def holm(p: np.ndarray) -> np.ndarray:
    """Holm's (1979) adjusted p values of a family of tests, in the same shape: with p sorted, the running maximum of
    (m - k + 1) p_k, at most 1. NaN is left out of the family."""
    flat = np.asarray(p, dtype=float).reshape(-1)
    tested = np.flatnonzero(~np.isnan(flat))
    order = tested[np.argsort(flat[tested], kind="stable")]
    adjusted = np.full_like(flat, np.nan)
    factors = np.arange(len(order), 0, -1)
    adjusted[order] = np.minimum(np.maximum.accumulate(factors * flat[order]), 1.0)
    return adjusted.reshape(np.shape(p))


def newcombe(a: np.ndarray, n_a: int, b: np.ndarray, n_b: int) -> tuple[np.ndarray, np.ndarray]:
    """95% interval of b - a, two independent proportions (Newcombe 1998, method 10): (low, high), from the Wilson
    intervals of both."""
    (low_a, high_a), (low_b, high_b) = (wilson(np.rint(x * n), np.array(n)) for x, n in ((a, n_a), (b, n_b)))
    low = b - a - np.hypot(b - low_b, high_a - a)
    return low, b - a + np.hypot(high_b - b, a - low_a)


def normal(difference: np.ndarray, error: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """95% interval of differences with standard errors: (low, high)."""
    return difference - Z95 * error, difference + Z95 * error
