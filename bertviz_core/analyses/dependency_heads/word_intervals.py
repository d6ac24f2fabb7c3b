"""Intervals of shares of words, from sums over documents or sentences (docs/methods.md, Uncertainty)."""

import numpy as np

from bertviz_core.analyses.base.statistics import effective_n, share, t_quantile, wilson


def joined_moments(units: np.ndarray, squares: np.ndarray | None) -> np.ndarray:
    """The moments (4, ...) that `statistics.effective_n` takes, from sums over units.

    Args:
        units: (2, ...) sums over units of 1 and of n^2, for n words of a unit.
        squares: (2, ...) sums of n c and of c^2, for c right guesses; None where they are not known: NaN in the
            moments.
    """
    of_right = np.full(units.shape, np.nan) if squares is None else squares
    return np.stack(np.broadcast_arrays(*units, *of_right)).astype(float)


def effective_words(right: np.ndarray, n: np.ndarray, moments: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """`statistics.effective_n`, for words of any shape.

    Args:
        right: How many words are guessed right, of any shape.
        n: Of how many.
        moments: (4, ...) from `joined_moments`; where those of right guesses are NaN, all words of a unit count as one.

    Returns:
        The number of independent words, and the degrees of freedom of its interval.
    """
    size, freedom = effective_n(right, n, moments)
    return np.where(np.isnan(moments[2]), freedom + 1, size), freedom


def interval_of_words(right: np.ndarray, n: np.ndarray, moments: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(low, high) of shares: Wilson's interval of the effective numbers, with the quantile of Student's t."""
    size, freedom = effective_words(right, n, moments)
    return wilson(share(right, n) * size, size, t_quantile(freedom))
