"""Shares of right guesses and other quantities of heads: best heads, standard errors and confidence intervals."""

from __future__ import annotations

from dataclasses import dataclass
from statistics import NormalDist
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

Z95 = 1.959963984540054  # the standard normal's 97.5% quantile
MIN_SCORED = 20  # words or mentions that a decision needs
MIN_UNITS = 5  # documents, sentences or segments that a decision on an average needs


def corrected(comparisons: int) -> float:
    """The standard normal's quantile for two-sided intervals of which `comparisons` together err in 5% (Bonferroni)."""
    return NormalDist().inv_cdf(1 - 0.025 / max(comparisons, 1))


def wilson(correct: ArrayLike, n: ArrayLike, z: float = Z95) -> tuple[np.ndarray, np.ndarray]:
    """Wilson's score interval (95%) for `correct` of `n`: (low, high), fractions; NaN where n is 0."""
    correct, n = np.broadcast_arrays(np.asarray(correct, dtype=float), np.asarray(n, dtype=float))
    total = np.where(n > 0, n, np.nan)
    share = correct / total
    center = (share + z**2 / (2 * total)) / (1 + z**2 / total)
    half = z / (1 + z**2 / total) * np.sqrt(share * (1 - share) / total + z**2 / (4 * total**2))
    # At the ends rounding would leave the unit interval, or exclude the share itself.
    low = np.where(correct == 0, 0.0, np.minimum(center - half, share))
    high = np.where(correct == n, 1.0, np.maximum(center + half, share))
    return np.where(n > 0, low, np.nan), np.where(n > 0, high, np.nan)


def scored(right: np.ndarray, n: np.ndarray) -> dict[str, np.ndarray]:
    """Columns of a table: `n`, to which `right` is broadcast, `right`, their share `accuracy`, and its interval."""
    n = np.broadcast_to(n, right.shape)
    low, high = wilson(right, n)
    return {"n": n, "right": right, "accuracy": share(right, n), "low": low, "high": high}


def best_heads(correct: np.ndarray) -> np.ndarray:
    """(relation, 3) direction, layer and head of the most in (direction, relation, layer, head)."""
    directions, relations, layers, heads = correct.shape
    flat = correct.transpose(1, 0, 2, 3).reshape(relations, -1).argmax(1)
    return np.stack(np.unravel_index(flat, (directions, layers, heads)), 1)


def of_heads(correct: np.ndarray, best: np.ndarray) -> np.ndarray:
    """(relation,) the counts of one head for each relation."""
    return correct[best[:, 0], np.arange(len(best)), best[:, 1], best[:, 2]]


def share(correct: Any, n: np.ndarray) -> np.ndarray:
    """Fractions; NaN where there is nothing to count."""
    return np.asarray(correct / np.where(n > 0, n, np.nan))


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
