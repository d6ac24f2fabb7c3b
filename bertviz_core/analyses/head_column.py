"""A quantity that an analysis gives every head: its values, and its words, color and format wherever it is shown."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from bertviz_core.analyses.head_averages import HeadAverages
from bertviz_core.numbers import half_width, number
from bertviz_core.plotting.palette import NEUTRAL, Marker

if TYPE_CHECKING:
    import numpy as np

    from bertviz_core.analyses.results import Result
    from bertviz_core.heads import Head
    from bertviz_core.plotting.head_map import HeadMap
    from bertviz_core.plotting.style import Series


@dataclass(frozen=True, slots=True)
class HeadColumn:
    """One quantity that an analysis gives every head, in the overview, the head panel and the exports.

    Attributes:
        quantity: Its name in exports.
        label: Its name on the screen, as in "attention to [SEP]".
        read: From a result to its values (layer, head), or None where the result lacks the quantity.
        baseline: From a result to the value reached without a model, and that baseline's name.
        percent: Whether values are shown as percentages.
        name: A shorter label, in the legend of its figure and the choice of its page; the label where it is empty.
        marker: Color and symbol of its dots.
        overview: Whether the column is in the overview and the head panel.
        maximum: The end of the map's scale; the highest value of all heads where it is None.
    """

    quantity: str
    label: str
    read: Callable[..., np.ndarray | None]
    baseline: Callable[..., tuple[float, str]] | None = None
    percent: bool = False
    name: str = ""
    marker: Marker = NEUTRAL
    overview: bool = True
    maximum: float | None = None

    @property
    def short(self) -> str:
        """The shorter name of the column, or its label."""
        return self.name or self.label

    def text(self, value: float) -> str:
        """A value of the column as it is shown."""
        return "–" if math.isnan(value) else f"{100 * value:.1f}%" if self.percent else number(value)

    def with_interval(self, result: Result, head: Head) -> str:
        """A head's value, with half its 95% interval where the result has intervals of the quantity."""
        values = self.read(result)
        assert values is not None, f"the result has no {self.quantity}"
        text = self.text(float(values[head]))
        if not isinstance(result, HeadAverages) or self.quantity not in result.present:
            return text
        return f"{text} ± {half_width(result.interval(self.quantity)[head], '.1%' if self.percent else '.1g')}"

    def series(self, result: Result) -> Series:
        """The column's dots in a figure by layer."""
        from bertviz_core.plotting.style import Series

        values = self.read(result)
        assert values is not None, f"the result has no {self.quantity}"
        return Series(self.quantity, values, self.short, self.marker)

    def map(self, result: Result, base: int = 1) -> HeadMap:
        """The map of heads, colored from 0 (or the lowest value below) to the maximum."""
        import numpy as np

        from bertviz_core.plotting.head_map import value_map

        values = self.read(result)
        assert values is not None, f"the result has no {self.quantity}"
        limits = (min(0.0, float(np.nanmin(values))), self.maximum or float(np.nanmax(values)))
        unit = "nats" if self.label.endswith(", nats") else ""
        return value_map(values, self.label, base=base, limits=limits, unit=unit)


def averaged_column(quantity: str, label: str, **more: Any) -> HeadColumn:
    """A column of a HeadAverages result; `more` are further fields of HeadColumn."""

    def read(result: HeadAverages) -> np.ndarray | None:
        return result[quantity] if quantity in result.present else None

    return HeadColumn(quantity, label, read, **more)
