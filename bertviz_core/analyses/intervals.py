"""Confidence intervals of proportions."""

from __future__ import annotations

import numpy as np

Z95 = 1.959963984540054  # the standard normal's 97.5% quantile


def wilson(correct: np.ndarray, n: np.ndarray, z: float = Z95) -> tuple[np.ndarray, np.ndarray]:
    """Wilson's score interval (95%) for `correct` of `n`: (low, high), fractions; NaN where n is 0."""
    correct, n = np.broadcast_arrays(np.asarray(correct, dtype=float), np.asarray(n, dtype=float))
    total = np.where(n > 0, n, np.nan)
    share = correct / total
    centre = (share + z**2 / (2 * total)) / (1 + z**2 / total)
    half = z / (1 + z**2 / total) * np.sqrt(share * (1 - share) / total + z**2 / (4 * total**2))
    # At the ends rounding would leave the unit interval, or exclude the share itself.
    low = np.where(correct == 0, 0.0, np.minimum(centre - half, share))
    high = np.where(correct == n, 1.0, np.maximum(centre + half, share))
    return np.where(n > 0, low, np.nan), np.where(n > 0, high, np.nan)
