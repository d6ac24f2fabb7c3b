"""Document averages of every head: what surface patterns, entropy and gradients store."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

from bertviz_core.analyses.proportions import Estimate, corrected
from bertviz_core.analyses.results import Result, head_frame, to_lists

if TYPE_CHECKING:
    import pandas as pd


TOP = 5  # segments stored for each head and quantity: those with the highest values


@dataclass(frozen=True, slots=True)
class HeadAverages(Result):
    """Averages of several quantities for every head. Axes: (quantity, layer, head), `quantities` naming the first.

    Attributes:
        mean: Document averages, NaN for a quantity that no segment has.
        error: Standard error over segments, NaN for a single segment.
        segments: (quantity,) how many segments have it.
        top: (quantity, layer, head, rank) numbers of the segments with the highest values, -1 for none.
        top_values: (quantity, layer, head, rank) those values.
        texts: Segment number (as text) -> where it stands and its tokens, for those segments.
    """

    quantities: list[str]
    mean: np.ndarray
    error: np.ndarray
    segments: np.ndarray
    top: np.ndarray
    top_values: np.ndarray
    texts: dict[str, Any]

    def __getitem__(self, quantity: str) -> np.ndarray:
        """(layer, head) document averages; raises KeyError for an unknown name."""
        if quantity not in self.quantities:
            raise KeyError(quantity)
        return self.mean[self.quantities.index(quantity)]

    def interval(self, quantity: str, comparisons: int = 1) -> np.ndarray:
        """(layer, head) half-width of the 95% interval over segments, widened for so many comparisons; NaN where a
        single segment has the quantity."""
        return corrected(comparisons) * self._error_of(quantity)

    @property
    def units(self) -> np.ndarray:
        """(quantity,) number of units that the intervals rest on."""
        return self.segments

    def _error_of(self, quantity: str) -> np.ndarray:
        """(layer, head) standard errors; earlier versions stored 0, not NaN, for a single segment."""
        index = self.quantities.index(quantity)
        return np.where(self.segments[index] > 1, self.error[index], np.nan)

    @property
    def present(self) -> list[str]:
        """The quantities that some segment has: a model without SEP has no attention to SEP, not zero."""
        return [name for name, count in zip(self.quantities, self.segments, strict=True) if count]

    def estimates(self) -> dict[str, Estimate]:
        """Every present quantity with its standard errors over segments."""
        return {name: Estimate(self[name], self._error_of(name)) for name in self.present}

    def arrays(self) -> dict[str, Any]:
        return {name: to_lists(self[name]) for name in self.present}

    def to_frame(self) -> pd.DataFrame:
        columns = {name: self[name] for name in self.present}
        return head_frame(columns | {f"{name}_interval": self.interval(name) for name in self.present})

    def layer_means(self, quantity: str) -> np.ndarray:
        """(layer,) mean over heads, the line in the paper's figures."""
        return self[quantity].mean(axis=1)


@cache
def averages_of(analysis: str) -> type[HeadAverages]:
    """The class of one analysis's averages, where the analysis defines none."""
    return type("HeadAverages", (HeadAverages,), {"analysis": analysis, "__slots__": ()})
