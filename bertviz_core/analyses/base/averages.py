"""Averages of every head, which several analyses store, and columns, each of which shows one quantity of every head."""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar, NamedTuple

import numpy as np
import pandas as pd

from bertviz_core import numbers
from bertviz_core.analyses.base.result import Result, head_frame, to_lists
from bertviz_core.analyses.base.statistics import Estimate, independent_items, t_quantile, units_text, wilson
from bertviz_core.corpora.language import is_english
from bertviz_core.heads import Head, all_labels
from bertviz_core.plotting import DIVERGING, NEUTRAL, SEQUENTIAL, HeadSeries, Marker, head_map

MAX_NAMED = 10  # heads in a sentence
TOP = 5  # segments stored for each head and quantity: those with the highest values


class Segment(NamedTuple):
    """A segment with a high value of a head.

    Attributes:
        number: Its number, from 0.
        value: In the unit of the quantity.
    """

    number: int
    value: float
    where: str
    tokens: list[str]

    @property
    def place(self) -> str:
        """Its number, from 1, and its location."""
        return f"passage {self.number + 1}, {self.where}"


@dataclass(frozen=True)
class HeadAverages(Result):
    """Averages of several quantities for every head; a unit is what varies independently (docs/methods.md,
    Uncertainty).

    Attributes:
        baselines: The quantities that tell of the inputs and of what layers see, not of heads: they are not compared.
        repeats: From a quantity to the one that says nearly the same where inputs have both: it is not compared then.
        quantities: Names along the first axis of the arrays.
        mean: (quantity, layer, head) document averages; NaN for a quantity that no segment has.
        error: (quantity, layer, head) standard errors over units; NaN for a single unit.
        segments: (quantity,) how many segments have it.
        units: (quantity,) how many units have it.
        effective_units: (quantity,) how many units of equal size carry the same information; NaN for a single unit.
        unit: What the units are: "documents", or "segments" of a text that is one document.
        top: (quantity, layer, head, rank) numbers of the segments with the highest values; -1 for none.
        top_values: (quantity, layer, head, rank) the values of these segments.
        texts: From the number (as text) of each of these segments to its location and tokens.
        shares: The quantities that are 0 or 1 in every segment: their averages are shares of segments, with the
            intervals of shares, and their errors lack the term of skewness.
    """

    baselines: ClassVar[tuple[str, ...]] = ()
    repeats: ClassVar[Mapping[str, str]] = {}
    shares: ClassVar[tuple[str, ...]] = ()
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
        """(layer, head) document averages; raises KeyError for a quantity that no segment has."""
        if quantity not in self:
            raise KeyError(quantity)
        return self.mean[self.quantities.index(quantity)]

    def __contains__(self, quantity: str) -> bool:
        return quantity in self.present

    def interval(self, quantity: str, comparisons: int = 1) -> np.ndarray:
        """Half-widths of 95% intervals over units of a quantity that is none of `shares`, whose intervals have no
        middle (docs/methods.md, Uncertainty).

        Args:
            quantity: One of `quantities`.
            comparisons: How many intervals are to hold together, see `t_quantile`.

        Returns:
            (layer, head); NaN for a single unit.
        """
        assert quantity not in self.shares, f"{quantity} is a share: its interval has two ends"
        index = self.quantities.index(quantity)
        return np.asarray(t_quantile(self.effective_units[index] - 1, comparisons) * self.error[index])

    def limits(self, quantity: str, comparisons: int = 1) -> tuple[np.ndarray, np.ndarray]:
        """The ends of 95% intervals over units, of `shares` Wilson's (docs/methods.md, Uncertainty).

        Args:
            quantity: One of `quantities`.
            comparisons: How many intervals are to hold together, see `t_quantile`.

        Returns:
            (low, high), each (layer, head); NaN for a single unit.
        """
        values = self.mean[self.quantities.index(quantity)]
        if quantity not in self.shares:
            half = self.interval(quantity, comparisons)
            return values - half, values + half
        size = self.independent_segments(quantity)
        freedom = self.effective_units[self.quantities.index(quantity)] - 1
        return wilson(values * size, size, t_quantile(freedom, comparisons))

    def independent_segments(self, quantity: str) -> np.ndarray:
        """(layer, head) how many independent segments say as much as those of one of `shares`; NaN for a single
        unit."""
        index = self.quantities.index(quantity)
        parts = (self.mean[index], self.segments[index], self.error[index], self.effective_units[index])
        return independent_items(*parts)

    def highest_segments(self, quantity: str, head: Head) -> list[Segment]:
        """The segments in which a head's value is highest, the highest first."""
        at = (self.quantities.index(quantity), *head)
        segments = []
        for number, value in zip(self.top[at].tolist(), self.top_values[at].tolist(), strict=True):
            if number >= 0:
                text = self.texts[str(number)]
                segments.append(Segment(number, value, text["where"], text["tokens"]))
        return segments

    @property
    def repeat_length(self) -> int:
        """The number of tokens of the random sequence that its inputs repeat; 0 where they are texts."""
        return 0

    @cached_property
    def counts_as_paper(self) -> bool:
        """Whether the paper's numbers are of the same language, and of tokens that see all others."""
        tokens = (token.strip() for text in self.texts.values() for token in text["tokens"])
        return not self.provenance["model"]["causal"] and is_english(tokens)

    @property
    def units_text(self) -> str:
        origin = " of one document" if self.unit == "segments" else ""
        return units_text(int(self.units.max(initial=0)), self.unit) + origin

    @property
    def present(self) -> list[str]:
        """The quantities that some segment has: a model without SEP has no attention to SEP, not zero."""
        return [name for name, count in zip(self.quantities, self.segments, strict=True) if count]

    @property
    def absence(self) -> str:
        """What the inputs lack, as a sentence; empty where all quantities are present."""
        absent = {*self.quantities} - {*self.present}
        tokens = [f"no [{token}]" for token in ("CLS", "SEP") if any(name.endswith(token.lower()) for name in absent)]
        parts = [f"the inputs have {' and '.join(tokens)}"] if tokens else []
        if "next" in absent:
            parts.append("no token sees the next one")
        text = f"{', and '.join(parts)}: what needs that does not exist, and is not shown."
        return text[0].upper() + text[1:] if parts else ""

    @property
    def notes(self) -> list[str]:
        return super().notes + ([self.absence] if self.absence else [])

    def estimates(self) -> dict[str, Estimate]:
        estimates = {}
        for name in self.present:
            if name in self.baselines or self.repeats.get(name) in self.present:
                continue
            index = self.quantities.index(name)
            freedom = float(self.effective_units[index] - 1)
            units = int(self.units[index])
            estimates[name] = Estimate(self[name], self.error[index], freedom=freedom, units=units, unit=self.unit)
            if name in self.shares:
                n = int(self.segments[index])
                estimates[name] = replace(estimates[name], n=n, effective_n=self.independent_segments(name))
        return estimates

    def arrays(self) -> dict[str, Any]:
        return {name: to_lists(self[name]) for name in self.present}

    def to_frame(self) -> pd.DataFrame:
        columns = {name: self[name] for name in self.present}
        return head_frame(columns | self.interval_columns())

    def interval_columns(self) -> dict[str, np.ndarray]:
        """(layer, head) columns of exports: `_interval`, half the width of each interval; of shares `_low` and
        `_high`, its ends."""
        columns = {}
        for name in self.present:
            if name in self.shares:
                columns[f"{name}_low"], columns[f"{name}_high"] = self.limits(name)
            else:
                columns[f"{name}_interval"] = self.interval(name)
        return columns


@dataclass(frozen=True)
class HeadColumn:
    """One quantity that an analysis gives every head, in the overview, the head panel and the exports.

    Attributes:
        quantity: Its name in exports.
        label: Its name on the screen, as "attention to [SEP]"; it ends with the unit where there is one, as ", nats".
        read: From a result to (layer, head) values; None where the result lacks the quantity.
        baseline: From a result to the value, or (layer, head) values, and the name of a baseline.
        percent: Whether values are shares that are shown as percentages.
        name: A shorter label, in the legend of its figure and the choice of its page.
        marker: Color and symbol of its dots.
        overview: Whether it is in the overview and the head panel.
        maximum: The end of the map's scale; None for the highest value of all heads.
        signed: Whether values are averaged changes: their map is centered on 0, with their intervals.
        least: From a result to the smallest difference from other heads that is worth the name; None for a part of the
            scale.
        behavior: The behavior that heads above a threshold of it have (docs/methods.md, section 9); empty for none.
        rule: From a result to the heads that have it, (layer, head) bool, where that is not decided by a threshold.
        role: What its highest head does, which is then among the strongest heads of overview and report; may be empty.
        is_followed: Whether Emergence draws its course over a training.
        paper_means: (layer,) means of BERT-base's heads in the paper, for a report to show beside its own.
    """

    quantity: str
    label: str
    read: Callable[..., np.ndarray | None]
    baseline: Callable[..., tuple[float | np.ndarray, str]] | None = None
    percent: bool = False
    name: str = ""
    marker: Marker = NEUTRAL
    overview: bool = True
    maximum: float | None = None
    signed: bool = False
    least: Callable[..., float] | None = None
    behavior: str = ""
    rule: Callable[..., np.ndarray] | None = None
    role: str = ""
    is_followed: bool = False
    paper_means: tuple[float, ...] = ()

    @property
    def short(self) -> str:
        """The shorter label, where there is one."""
        return self.name or self.label

    def text(self, value: float) -> str:
        """A value as it is shown, a share as a percentage; a dash for NaN."""
        if self.percent:
            return numbers.percentage(value)
        return "–" if math.isnan(value) else numbers.number(value)

    def values(self, result: Result) -> np.ndarray:
        """(layer, head) values of a result that has the quantity."""
        values = self.read(result)
        assert values is not None, f"the result has no {self.quantity}"
        return values

    def baselines(self, result: Result) -> tuple[np.ndarray, str]:
        """(layer, head) baselines and their name; NaN and "" without one."""
        level, name = self.baseline(result) if self.baseline else (math.nan, "")
        return np.broadcast_to(level, self.values(result).shape), name

    def with_interval(self, result: Result, head: Head) -> str:
        """A head's value, with half its 95% interval, or its ends, where the result has intervals of the quantity."""
        value = float(self.values(result)[head])
        if not (isinstance(result, HeadAverages) and self.quantity in result):
            return self.text(value)
        if self.quantity in result.shares:
            low, high = (end[head] for end in result.limits(self.quantity))
            return self.text(value) + ("" if math.isnan(low) else f" ({self.text(low)} to {self.text(high)})")
        return self._text(result, value, result.interval(self.quantity)[head])

    def series(self, result: Result) -> HeadSeries:
        """The column of a result as dots of a figure by layer."""
        return HeadSeries(
            key=self.quantity, values=self.values(result), name=self.short, marker=self.marker, label=self.label
        )

    def map(self, result: Result) -> head_map.HeadMap:
        """The map of heads.

        Colors go from 0, or the lowest value where that is below, to the maximum; of a signed column as far to either
        side of 0.

        Args:
            result: A result that has the quantity.
        """
        values = self.values(result)
        texts = list(map(self.text, values.flat))
        if self.signed:
            scale = DIVERGING
            maximum = self.maximum or float(np.nanmax(np.abs(values))) or 1.0
            minimum = -maximum
            if isinstance(result, HeadAverages) and self.quantity in result:
                halves = result.interval(self.quantity)
                texts = [self._text(result, *each) for each in zip(values.flat, halves.flat, strict=True)]
        else:
            scale = SEQUENTIAL
            maximum = self.maximum or float(np.nanmax(values))
            minimum = min(0.0, float(np.nanmin(values)))
        unit = "nats" if self.label.endswith(numbers.NATS) else ""
        hover = [numbers.quantity(self.label, text) for text in texts]
        return head_map.value_map(values, limits=(minimum, maximum), unit=unit, scale=scale, texts=hover)

    def _text(self, result: HeadAverages, value: float, half: float) -> str:
        if math.isnan(value):
            return "–"
        if self.maximum and 0 < value + half < 5e-5:  # a share of attention, next to nothing
            return numbers.fixed(value, 4)
        whole = numbers.SCALE_OF_NATS if self.label.endswith(numbers.NATS) else math.inf
        scale = (1 + self.signed if self.percent else self.maximum) or whole
        return numbers.measured(value, half, percent=self.percent, scale=scale, units=result.unit)


def averaged_column(quantity: str, label: str, **more: Any) -> HeadColumn:
    """A column of a HeadAverages result; `more` are further fields of HeadColumn."""
    return HeadColumn(
        quantity,
        label,
        lambda result: result[quantity] if quantity in result.present else None,
        **more,
    )


def uniform_text(uniform: np.ndarray, decimals: int) -> str:
    """(layer, head) values of uniform attention, as "4.81"; where layers see differently much, "2.79 (in the layer
    that sees the least) to 4.81"."""
    low, high = (f"{end:.{decimals}f}" for end in (uniform.min(), uniform.max()))
    return high if low == high else f"{low} (in the layer that sees the least) to {high}"


def name_heads_over(values: np.ndarray, threshold: float | np.ndarray, description: str) -> str:
    """The heads with (layer, head) values over the threshold, one or one for each, the highest first, after a
    description of what they do."""
    labels = all_labels(*values.shape)
    order = np.argsort(-values, axis=None, kind="stable")
    is_over = values > threshold
    over = [labels[index] for index in order[is_over.flat[order]]]
    more = f" and {len(over) - MAX_NAMED} more" if len(over) > MAX_NAMED else ""
    return f"{description}: {', '.join(over[:MAX_NAMED]) or 'no head'}{more}."
