"""Axes of a plotly figure as a static drawing needs them: pixels of a value, ticks and their texts."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

Spec = Mapping[str, Any]


@dataclass
class Axis:
    """One axis of a figure.

    Attributes:
        spec: Its part of plotly's layout.
        low, high: Ends of the range, in powers of ten on a logarithmic axis.
        start, end: Pixels of these ends.
        categories: Names in order, on an axis of categories.
    """

    spec: Spec
    low: float = 0.0
    high: float = 1.0
    start: float = 0.0
    end: float = 1.0
    categories: list[str] = field(default_factory=list)

    @property
    def log(self) -> bool:
        return self.spec.get("type") == "log"

    def number(self, value: Any) -> float:
        """A value in the units of the range; NaN where it has no place."""
        if self.categories:
            return float(self.categories.index(str(value))) if str(value) in self.categories else math.nan
        if value is None or (self.log and value <= 0):
            return math.nan
        return math.log10(value) if self.log else float(value)

    def pixel(self, value: Any) -> float:
        """The pixel of a value."""
        return self.at(self.number(value))

    def at(self, number: float) -> float:
        """The pixel of a number in the units of the range."""
        return self.start + (number - self.low) / (self.high - self.low) * (self.end - self.start)

    def fit(self, values: Iterable[Any]) -> None:
        """Set the range: that of the layout, or one around all values."""
        limits = self.spec.get("range")
        if limits is not None:
            self.low, self.high = float(limits[0]), float(limits[1])
            return
        if self.categories:
            self.low, self.high = -0.5, len(self.categories) - 0.5
        else:
            numbers = [n for n in map(self.number, values) if math.isfinite(n)] or [0.0, 1.0]
            low, high = min(numbers), max(numbers)
            space = 0.06 * (high - low) or 0.5
            zero = self.spec.get("rangemode") == "tozero" and low >= 0
            self.low, self.high = (0.0 if zero else low - space), high + space
        if self.spec.get("autorange") == "reversed":
            self.low, self.high = self.high, self.low

    def ticks(self) -> list[tuple[float, str]]:
        """(pixel, text) of every tick inside the range."""
        numbers, texts = self._numbers_and_texts()
        low, high = sorted((self.low, self.high))
        space = 1e-6 * (high - low)
        shown = [(n, t) for n, t in zip(numbers, texts, strict=True) if low - space <= n <= high + space]
        return [(self.at(number), text) for number, text in shown]

    def _numbers_and_texts(self) -> tuple[Sequence[float], Sequence[str]]:
        if (values := self.spec.get("tickvals")) is not None:
            texts = self.spec.get("ticktext")
            return [self.number(v) for v in values], [str(t) for t in (values if texts is None else texts)]
        if self.categories:
            return range(len(self.categories)), self.categories
        if self.log:
            within = (1, 2, 5) if self.spec.get("dtick") == "D2" else (1,)
            powers = range(math.floor(min(self.low, self.high)), math.ceil(max(self.low, self.high)) + 1)
            steps = [(power + math.log10(w), f"{w * 10.0**power:.3g}") for power in powers for w in within]
            return [number for number, _ in steps], [text for _, text in steps]
        numbers = round_numbers(min(self.low, self.high), max(self.low, self.high))
        return numbers, [self._text(number) for number in numbers]

    def _text(self, number: float) -> str:
        form = self.spec.get("tickformat", "")
        return f"{number:.0%}" if form == ".0%" else f"{number:,.0f}" if form == ",d" else f"{number:.6g}"


def round_numbers(low: float, high: float, count: int = 6) -> list[float]:
    """About `count` multiples of 1, 2 or 5 times a power of ten between two numbers."""
    rough = (high - low) / count
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(step * power for step in (1, 2, 5, 10) if step * power >= rough)
    first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    return [float(round(k * step, 12)) for k in range(first, last + 1)]


def find_axes(layout: Spec, traces: Sequence[Spec]) -> dict[str, Axis]:
    """The figure's axes by the names that traces call them ("x", "y2"), with ranges and categories."""
    names = {trace.get(f"{way}axis", way) for trace in traces for way in "xy"}
    axes = {name: Axis(layout.get(f"{name[0]}axis{name[1:]}", {})) for name in sorted(names)}
    values: dict[str, list[Any]] = {name: [] for name in axes}
    for trace in traces:
        for way in "xy":
            name = trace.get(f"{way}axis", way)
            values[name] += _extent(trace, way)
    for name, axis in axes.items():
        group = {name, axis.spec.get("matches", name)}
        group |= {other for other in axes if axes[other].spec.get("matches") in group}
        united = [value for other in sorted(group) for value in values[other]]
        if axis.spec.get("type") == "category" or any(isinstance(value, str) for value in united):
            axis.categories = list(dict.fromkeys(str(value) for value in united))
        axis.fit(united)
    return axes


def _extent(trace: Spec, way: str) -> list[Any]:
    """The values that an axis must show of a trace."""
    values = trace.get(way)
    if values is None and trace["type"] == "heatmap":
        return list(range(np.shape(trace["z"])[way == "x"]))
    return [value.item() if isinstance(value, np.generic) else value for value in ([] if values is None else values)]


def keep_scale(axes: Mapping[str, Axis]) -> None:
    """Give axes that share a scale the same pixels for each unit, by widening the range of one."""
    for axis in axes.values():
        other = axes.get(axis.spec.get("scaleanchor", ""))
        if other is None:
            continue
        own, its = (abs(a.end - a.start) / abs(a.high - a.low) for a in (axis, other))
        wider, factor = (axis, own / its) if own > its else (other, its / own)
        middle, half = (wider.low + wider.high) / 2, (wider.high - wider.low) / 2 * factor
        wider.low, wider.high = middle - half, middle + half
