"""Shares of right guesses and other quantities of heads: best heads, standard errors and confidence intervals."""

from dataclasses import dataclass, replace
from math import inf

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import stdtrit

from bertviz_core.heads import Head
from bertviz_core.numbers import plural, unit_name

ALPHA = 0.05
MIN_SCORED = 20  # words or mentions that a decision needs
ROUNDING = 1e-14  # A smaller share of the sum of squares is only rounding of float32.
MIN_UNITS = 5  # documents (or other units of an interval) that any decision needs


Sums = tuple[np.ndarray, np.ndarray, np.ndarray]  # right guesses, items and moments, the arguments of `effective_n`


def t_quantile(freedom: ArrayLike = inf, comparisons: int = 1) -> np.ndarray:
    """Half-width of a two-sided 95% interval in standard errors, by Student's t (docs/methods.md, Uncertainty).

    Args:
        freedom: Degrees of freedom, of any shape; the normal distribution where they are infinite.
        comparisons: How many intervals are to hold together: the level is 1 - 0.05 / comparisons (Bonferroni).
    """
    return np.asarray(stdtrit(freedom, 1 - ALPHA / 2 / max(comparisons, 1)))


def units_text(units: int, unit: str) -> str:
    """The units of an interval, as "38 documents"; also says if they are too few to decide anything."""
    too_few = f" (too few {unit_name(unit)} to decide anything)" if units < MIN_UNITS else ""
    return plural(units, unit) + too_few


def wilson(correct: ArrayLike, n: ArrayLike, z: ArrayLike | None = None) -> tuple[np.ndarray, np.ndarray]:
    """Wilson's score interval of shares (docs/methods.md, Uncertainty, Shares).

    Args:
        correct: How many are right, of any shape; may be effective counts.
        n: Of how many, likewise.
        z: Standard errors to each side; None for those of 95%.

    Returns:
        (low, high), shares from 0 to 1; NaN where n is 0 or not known.
    """
    z = t_quantile() if z is None else np.asarray(z)
    correct, n = np.broadcast_arrays(np.asarray(correct, dtype=float), np.asarray(n, dtype=float))
    total = np.where(n > 0, n, np.nan)
    share = correct / total
    center = (share + z**2 / (2 * total)) / (1 + z**2 / total)
    variance = share * (1 - share) / total + z**2 / (4 * total**2)
    half = z / (1 + z**2 / total) * np.sqrt(variance)
    # At the ends rounding would leave the unit interval, or exclude the share itself.
    low = np.where(correct == 0, 0.0, np.minimum(center - half, share))
    high = np.where(correct == n, 1.0, np.maximum(center + half, share))
    return np.where(n > 0, low, np.nan), np.where(n > 0, high, np.nan)


def best_heads(correct: np.ndarray) -> np.ndarray:
    """(relation, 3) direction, layer and head of the most in (direction, relation, layer, head)."""
    directions, relations, layers, heads = correct.shape
    flat = correct.transpose(1, 0, 2, 3).reshape(relations, -1).argmax(1)
    return np.stack(np.unravel_index(flat, (directions, layers, heads)), 1)


def counts_of_best(correct: np.ndarray, best: np.ndarray) -> np.ndarray:
    """(relation,) counts of the `best` heads."""
    return correct[best[:, 0], np.arange(len(best)), best[:, 1], best[:, 2]]


def share(correct: ArrayLike, n: np.ndarray) -> np.ndarray:
    """The shares correct / n, both of any shape; NaN where n is 0."""
    return np.asarray(correct) / np.where(n > 0, n, np.nan)


def error_by_document(n: np.ndarray, s: np.ndarray, moments: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Standard errors by document of ratios of sums s / n (docs/methods.md, Uncertainty, Averages).

    With e_d = s_d - n_d s / n for each document d, the error's square is K / (K - 1) sum e_d^2 / n^2. K, Kish's
    effective number of documents, is n^2 / sum n_d^2: that many documents of equal size carry as much information.

    Args:
        n: Sums over documents of n_d, of any shape.
        s: Sums over documents of s_d.
        moments: (4, ...) sums over documents of 1, n_d^2, n_d s_d and s_d^2.

    Returns:
        The errors, and the effective numbers of documents K; NaN where fewer than two documents have the quantity.
    """
    documents, nn, ns, ss = moments
    known = np.where(documents > 1, n, np.nan)
    mean = s / known
    effective = known**2 / np.where(nn > 0, nn, np.nan)
    squares = ss - 2 * mean * ns + mean**2 * nn
    squares = np.where(squares <= ROUNDING * ss, 0.0, squares)  # NaN remains: the error is not known.
    return np.sqrt(squares * effective / (effective - 1)) / known, effective


def error_of_average(n: np.ndarray, s: np.ndarray, moments: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """`error_by_document`, wider where documents are skewed, so that 95% intervals cover the mean.

    The error is multiplied by 1 + g^2 (t^4 + 2 t^2 - 3) / 18, with g the skewness of the mean and t the quantile of an
    interval (docs/methods.md, Uncertainty, Averages).

    Args:
        n: Sums over documents of n_d, of any shape.
        s: Sums over documents of s_d.
        moments: (8, ...) sums over documents of 1, n_d^2, n_d s_d, s_d^2, n_d^3, n_d^2 s_d, n_d s_d^2 and s_d^3.

    Returns:
        The errors, and the effective numbers of documents, as of `error_by_document`.
    """
    documents, *_, nnn, nns, nss, sss = moments
    error, effective = error_by_document(n, s, moments[:4])
    with np.errstate(divide="ignore", invalid="ignore"):
        mean = s / n
        cubes = sss - 3 * mean * nss + 3 * mean**2 * nns - mean**3 * nnn
        skewness = documents**2 / ((documents - 1) * (documents - 2)) * cubes / (n * error) ** 3
    skewness = np.where((documents > 2) & (error > 0), skewness, 0.0)
    t = t_quantile(np.maximum(effective - 1, 2))
    return error * (1 + skewness**2 * (t**4 + 2 * t**2 - 3) / 18), effective


def effective_n(correct: ArrayLike, n: ArrayLike, moments: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Number of independent items that carry as much information as n items that are correlated within documents.

    n is divided by the design effect (Kish, 1965), the variance by document over p (1 - p) / n, at least 1
    (docs/methods.md, Uncertainty, Shares). Where no item is right, or every one, the variance is not known, and all
    items of a document count as one.

    Args:
        correct: How many items are right, of any shape.
        n: Of how many.
        moments: (4, ...) as in `error_by_document`, with the right items of a document as its s_d.

    Returns:
        The number, and the degrees of freedom of its interval; NaN where fewer than two documents have items.
    """
    correct, n = np.broadcast_arrays(np.asarray(correct, dtype=float), np.asarray(n, dtype=float))
    error, documents = error_by_document(n, correct, moments)
    return independent_items(share(correct, n), n, error, documents), documents - 1


def independent_items(p: np.ndarray, n: ArrayLike, error: np.ndarray, documents: ArrayLike) -> np.ndarray:
    """`effective_n` of shares whose standard errors are known.

    Args:
        p: The shares, of any shape.
        n: Of how many items.
        error: Their standard errors by document, see `error_by_document`.
        documents: The effective numbers of documents.
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        size = np.minimum(p * (1 - p) / error**2, n)
    return np.where((p == 0) | (p == 1), documents, size)


@dataclass(frozen=True)
class Estimate:
    """One quantity of every head, with what its uncertainty follows from.

    Attributes:
        values: (layer, head) values; NaN where a head has none.
        error: (layer, head) standard errors of averages; None where none are known.
        n: Number of cases of which `values` are the shares; None where they are not proportions.
        effective_n: (layer, head) number of independent cases that carry as much information as the `n`; None for `n`
            itself.
        freedom: (layer, head) degrees of freedom of the errors, or a scalar for all.
        units: How many units vary independently; None where each case does.
        unit: What the units are, in the plural.
        choices: How many values of each head these are the best of.
    """

    values: np.ndarray
    error: np.ndarray | None = None
    n: int | None = None
    effective_n: np.ndarray | None = None
    freedom: float | np.ndarray = inf
    units: int | None = None
    unit: str = ""
    choices: int = 1

    def of(self, head: Head) -> "Estimate":
        """The estimate of one head, as of a model that has only this head."""
        parts = {"error": self.standard_error, "effective_n": self.size, "freedom": np.asarray(self.freedom)}
        shape = self.values.shape
        own = {name: np.broadcast_to(part, shape)[head].reshape(1, 1) for name, part in parts.items()}
        return replace(self, values=self.values[head].reshape(1, 1), **own)

    @property
    def size(self) -> np.ndarray:
        """(layer, head) number of independent cases; `n` where `effective_n` is not known, 0 where values are not
        shares."""
        if self.effective_n is not None:
            return self.effective_n
        return np.broadcast_to(float(self.n or 0), self.values.shape)

    @property
    def standard_error(self) -> np.ndarray:
        """(layer, head); of a proportion half the width of Wilson's interval of one standard error, which is above 0
        where no case is right, or every one; NaN where no error is known."""
        if self.n:
            low, high = wilson(self.values * self.size, self.size, 1.0)
            return (high - low) / 2
        return np.full_like(self.values, np.nan) if self.error is None else self.error

    @property
    def is_enough(self) -> bool:
        """Whether it rests on enough units to decide anything."""
        return self.units is None or self.units >= MIN_UNITS
