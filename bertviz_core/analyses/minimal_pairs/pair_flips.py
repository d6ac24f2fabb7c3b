"""The pairs that turn wrong without heads: those that a result keeps, with their texts."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from bertviz_core.analyses.minimal_pairs.result import KEPT, PairText


class Flips(NamedTuple):
    """The pairs of a phenomenon that turn wrong without heads, the largest falls of the margin first.

    Attributes:
        places: (..., rank) the places of the KEPT pairs whose margin falls most; -1 for none.
        margins: (..., rank) their margins without the heads, nats; NaN for none.
        total: (...) how many turn wrong.
    """

    places: np.ndarray
    margins: np.ndarray
    total: np.ndarray


def flips_of(margins: np.ndarray, without: np.ndarray, member: np.ndarray) -> Flips:
    """The pairs that flip.

    Args:
        margins: (pair,) with all heads, nats.
        without: (pair, ...) without heads, nats.
        member: (pair,) which pairs are of the phenomenon.
    """
    rest = (1,) * (without.ndim - 1)
    flips = (member & (margins > 0)).reshape(-1, *rest) & (without <= 0)
    fall = np.where(flips, without - margins.reshape(-1, *rest), np.inf)
    fall = np.concatenate([fall, np.full((KEPT, *fall.shape[1:]), np.inf)])  # so that there are KEPT
    order = np.argsort(fall, axis=0, kind="stable")[:KEPT]
    is_pair = np.isfinite(np.take_along_axis(fall, order, 0))
    places = np.where(is_pair, order, -1)
    without_and_nan = np.concatenate([without, np.full((KEPT, *without.shape[1:]), np.nan)])
    margins_without = np.where(is_pair, np.take_along_axis(without_and_nan, order, 0), np.nan)
    return Flips(np.moveaxis(places, 0, -1), np.moveaxis(margins_without, 0, -1).astype(np.float32), flips.sum(0))


def texts_of(examples: Sequence[Any], margins: np.ndarray, flipped: np.ndarray) -> dict[str, PairText]:
    """The texts of the pairs that are kept, by their numbers.

    Args:
        examples: The EncodedPairs.
        margins: (pair,) with all heads, nats.
        flipped: Places of pairs, of any shape; -1 for none.
    """
    return {
        str(place): {
            "where": examples[place].where,
            "good": examples[place].pair.good,
            "bad": examples[place].pair.bad,
            "margin": float(margins[place]),
        }
        for place in np.unique(flipped[flipped >= 0]).tolist()
    }
