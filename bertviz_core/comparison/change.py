"""One quantity in two runs, head by head: the difference, its interval and its test (docs/methods.md, section 13)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import stdtr

from bertviz_core.analyses.findings import Interval, of_gain
from bertviz_core.analyses.proportions import ALPHA, Estimate, t_quantile, wilson
from bertviz_core.heads import Head, all_heads

HALVINGS = 60


@dataclass(frozen=True)
class Change:
    """One quantity in both runs, of the same shape. All (layer, head).

    Attributes:
        a, b: The quantity in each run.
        difference: b - a.
        low, high: 95% interval of the difference: Newcombe's for proportions, Welch's for averages; NaN where no error
            is known.
        p: Two-sided, adjusted over all heads by Holm; NaN where the error is not known, or rests on too few units.
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
        freedom = welch(a, b)
        quantile = t_quantile(freedom)
        if a.n and b.n:
            z = newcombe_errors(a, b)
            interval = newcombe(a, b, quantile)
        else:
            error = np.hypot(a.standard_error, b.standard_error)
            z = np.divide(np.abs(difference), error, out=np.full_like(difference, np.inf), where=error != 0)
            interval = difference - quantile * error, difference + quantile * error
        p = two_sided(np.where((difference == 0) & ~np.isnan(z), 0.0, z), freedom)
        if not (a.is_enough and b.is_enough):
            p = np.full_like(p, np.nan)
        return cls(a.values, b.values, difference, *interval, holm(p))

    @property
    def marked(self) -> np.ndarray:
        """(layer, head) bool: whether the head's adjusted p is under ALPHA."""
        return np.nan_to_num(self.p, nan=1.0) < ALPHA

    @property
    def untested(self) -> bool:
        """Whether no head has a p: no errors are known, or they rest on too few units."""
        return bool(np.isnan(self.p).all())

    def by_size(self) -> list[Head]:
        """All heads, the largest difference first; heads without a value are left out."""
        heads = [head for head in all_heads(*self.a.shape) if not np.isnan(self.difference[head])]
        return sorted(heads, key=lambda head: -abs(self.difference[head]))


def two_sided(z: np.ndarray, freedom: np.ndarray) -> np.ndarray:
    """p of differences of so many standard errors, by Student's t."""
    return np.asarray(2 * stdtr(freedom, -z))


def welch(a: Estimate, b: Estimate) -> np.ndarray:
    """(layer, head) degrees of freedom of a difference (Welch, 1947; Satterthwaite, 1946)."""
    variances = a.standard_error**2, b.standard_error**2
    with np.errstate(divide="ignore", invalid="ignore"):
        each = sum(v**2 / freedom for v, freedom in zip(variances, (a.freedom, b.freedom), strict=True))
        joint = (variances[0] + variances[1]) ** 2 / each
    return np.where(each == 0, np.where(joint > 0, np.inf, np.minimum(a.freedom, b.freedom)), joint)


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


def newcombe(a: Estimate, b: Estimate, z: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Interval of b - a, two independent proportions (Newcombe 1998, method 10): (low, high), from the Wilson intervals
    of z standard errors of both."""
    of_a, of_b = (Interval(*wilson(each.values * each.size, each.size, z)) for each in (a, b))
    gain = of_gain(b.values, of_b, a.values, of_a)
    return gain.low, gain.high


def newcombe_errors(a: Estimate, b: Estimate) -> np.ndarray:
    """The z with which an end of Newcombe's interval is 0: a difference is significant where its interval excludes 0.
    Found by doubling and halving, for the interval widens with z."""
    rises = b.values > a.values

    def excludes(z: np.ndarray) -> np.ndarray:
        low, high = newcombe(a, b, z)
        return np.where(rises, low > 0, high < 0)

    below, above = np.zeros_like(a.values), np.ones_like(a.values)
    while (wide := excludes(above)).any():
        below, above = np.where(wide, above, below), np.where(wide, 2 * above, above)
    for _ in range(HALVINGS):
        middle = (below + above) / 2
        wide = excludes(middle)
        below, above = np.where(wide, middle, below), np.where(wide, above, middle)
    return np.where(np.isnan(a.values + b.values + a.size + b.size), np.nan, below)
