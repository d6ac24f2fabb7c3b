"""Document averages of every head: what surface patterns, entropy and gradients store."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
import pandas as pd

from bertviz_core.analyses.proportions import Estimate, over, t_quantile
from bertviz_core.analyses.results import Result, head_frame, to_lists

TOP = 5  # segments stored for each head and quantity: those with the highest values


@dataclass(frozen=True, slots=True)
class HeadAverages(Result):
    """Averages of several quantities for every head. Axes: (quantity, layer, head), `quantities` naming the first.

    Attributes:
        mean: Document averages, NaN for a quantity that no segment has.
        error: Standard error over units (docs/methods.md, uncertainty), NaN for a single unit.
        segments: (quantity,) how many segments have it.
        units: (quantity,) how many units have it.
        effective_units: (quantity,) how many units of equal size would say as much; NaN for a single unit.
        unit: What varies independently: "documents", or "segments" of a text that is one document.
        top: (quantity, layer, head, rank) numbers of the segments with the highest values, -1 for none.
        top_values: (quantity, layer, head, rank) those values.
        texts: Segment number (as text) -> where it stands and its tokens, for those segments.
    """

    quantities: list[str]
    mean: np.ndarray
    error: np.ndarray
    segments: np.ndarray
    units: np.ndarray
    effective_units: np.ndarray
    unit: str
    top: np.ndarray
    top_values: np.ndarray
    texts: dict[str, Any]

    def __getitem__(self, quantity: str) -> np.ndarray:
        """(layer, head) document averages; raises KeyError for an unknown name."""
        if quantity not in self.quantities:
            raise KeyError(quantity)
        return self.mean[self.quantities.index(quantity)]

    def interval(self, quantity: str, comparisons: int = 1) -> np.ndarray:
        """(layer, head) half-width of the 95% interval over units; NaN where a single unit has the quantity.

        Args:
            quantity: Its name.
            comparisons: How many intervals are to hold together (Bonferroni).
        """
        index = self.quantities.index(quantity)
        return np.asarray(t_quantile(self.effective_units[index] - 1, comparisons) * self.error[index])

    def over(self, quantity: str) -> str:
        """What an interval is over, as "38 documents"; says where they are too few to decide anything."""
        return over(int(self.units[self.quantities.index(quantity)]), self.unit)

    @property
    def present(self) -> list[str]:
        """The quantities that some segment has: a model without SEP has no attention to SEP, not zero."""
        return [name for name, count in zip(self.quantities, self.segments, strict=True) if count]

    def estimates(self) -> dict[str, Estimate]:
        """Every present quantity with its standard errors over units."""
        return {name: self._estimate(name) for name in self.present}

    def _estimate(self, quantity: str) -> Estimate:
        index = self.quantities.index(quantity)
        freedom = float(self.effective_units[index]) - 1
        return Estimate(
            self.mean[index], self.error[index], freedom=freedom, units=int(self.units[index]), unit=self.unit
        )

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
