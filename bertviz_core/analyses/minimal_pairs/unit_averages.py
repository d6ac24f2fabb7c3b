"""Averages over pairs with errors by unit: the pair, or the template that several share (docs/methods.md,
Uncertainty)."""

from typing import NamedTuple

import numpy as np

from bertviz_core.analyses.base.statistics import (
    error_by_document,
    error_of_average,
    independent_items,
)


class UnitAverages(NamedTuple):
    """Averages of several numbers over the same pairs.

    Attributes:
        mean: (...) averages over pairs.
        error: (...) their standard errors over units; NaN for a single unit.
        units: How many units.
        effective_units: How many units of equal size carry the same information; NaN for a single unit.
    """

    mean: np.ndarray
    error: np.ndarray
    units: int
    effective_units: float


def sums_by_unit(values: np.ndarray, units: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(unit,) the number of pairs of each unit, and (unit, ...) the sums of their `values` (pair, ...)."""
    _, places = np.unique(units, return_inverse=True)
    counts = np.bincount(places).astype(float)
    sums = np.zeros((len(counts), *values.shape[1:]))
    np.add.at(sums, places, values)
    return counts, sums


def averages(values: np.ndarray, units: np.ndarray) -> UnitAverages:
    """Average values over pairs.

    Args:
        values: (pair, ...), one pair at least.
        units: (pair,) the unit of each pair.
    """
    counts, sums = sums_by_unit(values, units)
    n = counts.reshape(-1, *(1,) * (sums.ndim - 1))
    powers = (n > 0, n * n, n * sums, sums**2, n**3, n * n * sums, n * sums**2, sums**3)
    moments = np.stack([np.broadcast_to(each, sums.shape).sum(0) for each in powers])
    total = sums.sum(0)
    error, effective = error_of_average(np.full(total.shape, counts.sum()), total, moments)
    return UnitAverages(total / counts.sum(), error, len(counts), float(np.ravel(effective)[0]))


def independent_pairs(right: np.ndarray, units: np.ndarray) -> float:
    """How many independent pairs say as much of the share that is right (docs/methods.md, Uncertainty, Shares).

    Args:
        right: (pair,) bool.
        units: (pair,) the unit of each pair.

    Returns:
        The number; NaN for a single unit.
    """
    n, s = sums_by_unit(right.astype(float), units)
    moments = np.array([len(n), (n * n).sum(), (n * s).sum(), (s * s).sum()])
    error, effective = error_by_document(n.sum(), s.sum(), moments)
    return float(independent_items(np.array(right.mean()), n.sum(), error, effective))
