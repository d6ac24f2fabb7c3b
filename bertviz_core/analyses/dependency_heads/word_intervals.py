"""Intervals of shares of words, from sums over documents or sentences (docs/methods.md, Uncertainty)."""

import numpy as np

from bertviz_core.analyses.base.statistics import effective_n, share, t_quantile, wilson


def joined_moments(units: np.ndarray, squares: np.ndarray | None) -> np.ndarray:
    """(4, ...) moments as in `statistics.effective_n`, those of right guesses NaN where they are not known."""
    of_right = np.full(units.shape, np.nan) if squares is None else squares
    return np.stack(np.broadcast_arrays(*units, *of_right)).astype(float)


def effective_words(right: np.ndarray, n: np.ndarray, moments: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """`statistics.effective_n`; where the moments of right guesses are not known, all words of a unit count as one."""
    size, freedom = effective_n(right, n, moments)
    return np.where(np.isnan(moments[2]), freedom + 1, size), freedom


def interval_of_words(right: np.ndarray, n: np.ndarray, moments: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(low, high) of shares: Wilson's interval of the effective numbers, with the quantile of Student's t."""
    size, freedom = effective_words(right, n, moments)
    return wilson(share(right, n) * size, size, t_quantile(freedom))
