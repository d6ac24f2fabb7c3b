"""What an analysis says of one head: numbers with the range of all heads behind them, in a form that any page or file
can draw, tables, and texts where there is room for a few words."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from math import isnan, nan
from typing import Any

import numpy as np

from bertviz_core import numbers
from bertviz_core.analyses.base.averages import HeadAverages, HeadColumn
from bertviz_core.analyses.base.head_facts import HeadFacts
from bertviz_core.analyses.base.result import Result
from bertviz_core.heads import Head, ranks

FAR = 3.0  # robust standard deviations from the median; a head that is nowhere further from it is like most heads
WORTH = 0.2  # of the scale of a number: a smaller distance from the median sets no head apart
POINTS = 0.1  # the same of a share
OUTER = 0.75  # share of all heads on one side of a number that sets a head apart
MIDDLE = (0.05, 0.95)  # quantiles over heads between which the band behind one head lies
TO_DEVIATION = 1.4826  # from the median absolute deviation of a normal distribution to its standard deviation
FROM_MEAN = 1.2533  # the same from its mean absolute deviation


@dataclass(frozen=True)
class HeadRow:
    """A number of one head beside those of all heads.

    Attributes:
        name: As its row is called in tables.
        value: In the unit that `text` has; NaN where the head has none.
        text: The number as it is shown, with half its interval and its unit.
        others: (layer, head) numbers of all heads, this one among them; NaN where a head has none.
        median_text: The median of all heads as it is shown.
        low, high: The ends of its 95% interval; NaN where none is known.
        baseline: The number of a baseline; NaN without one.
        baseline_text: The baseline with its name, as it is shown; empty without one.
        limits: The ends of the scale on which it is drawn.
        least: The smallest distance from the median that is worth the name; 0 for WORTH of the scale.
        other: Another head that the row is about, to which it leads; None for none.
    """

    name: str
    value: float
    text: str
    others: np.ndarray
    median_text: str
    head: Head
    limits: tuple[float, float]
    low: float = nan
    high: float = nan
    baseline: float = nan
    baseline_text: str = ""
    other: Head | None = None
    least: float = 0.0

    @cached_property
    def known(self) -> np.ndarray:
        """(head,) numbers of the heads that have one."""
        return self.others[~np.isnan(self.others)]

    @cached_property
    def median(self) -> float:
        """The median of all heads that have the number."""
        return float(np.median(self.known))

    @cached_property
    def band(self) -> tuple[float, float]:
        """The ends of the middle 90% of all heads."""
        low, high = np.quantile(self.known, MIDDLE)
        return float(low), float(high)

    @cached_property
    def rank(self) -> int:
        """The rank among all heads, 1 for the highest."""
        return int(ranks(self.others)[self.head])

    @cached_property
    def score(self) -> float:
        """How far it is from the median of all heads, in robust standard deviations (docs/methods.md, section 18)."""
        distances = np.abs(self.known - self.median)
        scale = TO_DEVIATION * float(np.median(distances)) or FROM_MEAN * float(distances.mean())
        return (self.value - self.median) / scale if scale else 0.0

    @cached_property
    def outer_rank(self) -> int:
        """How many heads are as far out on its side of the median, or further: 1 where it is the outermost."""
        is_beyond = self.known >= self.value if self.value >= self.median else self.known <= self.value
        return int(is_beyond.sum())

    @property
    def effect(self) -> float:
        """How far it is from the median of all heads, as a share of the scale on which it is drawn."""
        low, high = self.limits
        return abs(self.value - self.median) / (high - low) if high > low else 0.0

    @property
    def salience(self) -> tuple[bool, float]:
        """By what numbers are chosen and ordered, the largest first: those whose distance from the median one can see,
        then by effect and rank (docs/methods.md, section 18)."""
        return self.is_worth, self.effect / self.outer_rank

    @cached_property
    def is_apart(self) -> bool:
        """Whether three quarters of all heads are below it, or above it, and its interval, where one is known, does not
        have their median: where most numbers are nearly equal, one in the midst of them may be far from the median."""
        beyond = max(float((self.known < self.value).mean()), float((self.known > self.value).mean()))
        return beyond >= OUTER and not self.low <= self.median <= self.high

    @property
    def is_worth(self) -> bool:
        """Whether it is so far from the median of all heads that one can see it: in a network that knows nothing all
        heads are nearly equal, and some still lie far outside the rest."""
        least = self.least or WORTH * (self.limits[1] - self.limits[0])
        return abs(self.value - self.median) >= least

    @property
    def is_far(self) -> bool:
        """Whether it sets the head apart from most heads."""
        return self.is_worth and abs(self.score) >= FAR

    @property
    def sentence(self) -> str:
        """The number with the median, its rank, and its baseline."""
        beside = [f"median of all heads {self.median_text}", f"rank {self.rank} of {self.known.size}"]
        if equal := int((self.known == self.value).sum()) - 1:
            beside.append(f"the same in {numbers.plural(equal, 'others')}")
        return f"{self.name} {self.text} ({', '.join([*beside, *filter(None, [self.baseline_text])])})"


@dataclass(frozen=True)
class HeadCurve:
    """Numbers of one head along an axis, with the middle 90% of all heads.

    Attributes:
        ticks: (point,) names of the points.
        values: (point,) the head's numbers.
        interval: (2, point) the ends of their 95% intervals; NaN where none is known.
        low, high: (point,) the ends of the middle 90% of all heads.
        axis: What the points are.
        name: The title of the axis of the numbers, with their unit.
    """

    ticks: tuple[str, ...]
    values: np.ndarray
    interval: np.ndarray
    low: np.ndarray
    high: np.ndarray
    axis: str
    name: str


@dataclass(frozen=True)
class WordList:
    """Words under a name.

    Attributes:
        words: The first is the one that counts most.
    """

    name: str
    words: tuple[str, ...]


@dataclass(frozen=True)
class HeadFigure:
    """What an analysis shows of one head under one title.

    Attributes:
        rows: Numbers of the head, each on its own scale, which the small figure shows.
        curve: Numbers along an axis; None for none.
        lists: Words, below the numbers.
        distinctive: The numbers that may set the head apart from others; None for `rows`.
        candidates: All numbers of which these are chosen, among which one is found by its name at every step of a
            training; None where none is left out.
        facts: Tables under the head's numbers on every page.
        searched: Numbers of all heads that the overview finds heads by beside the columns: from the name, as pages show
            it, to (layer, head) values.
    """

    title: str
    rows: tuple[HeadRow, ...] = ()
    curve: HeadCurve | None = None
    lists: tuple[WordList, ...] = ()
    sentence: str = ""
    distinctive: tuple[HeadRow, ...] | None = None
    candidates: tuple[HeadRow, ...] | None = None
    facts: tuple[HeadFacts, ...] = ()
    searched: Mapping[str, np.ndarray] = field(default_factory=dict)

    @property
    def is_drawn(self) -> bool:
        """Whether there is anything to draw."""
        return bool(self.rows or self.lists) or self.curve is not None

    @property
    def apart(self) -> tuple[HeadRow, ...]:
        """The numbers that may set the head apart."""
        return self.rows if self.distinctive is None else self.distinctive

    @property
    def every(self) -> tuple[HeadRow, ...]:
        """The numbers among which those that set it apart are found again."""
        return self.apart if self.candidates is None else self.candidates


@dataclass(frozen=True)
class Rows:
    """What an analysis says of one head under one title: in a few words, and in numbers, which are computed when
    somebody looks at the head.

    Attributes:
        build: Computes the numbers.
        arguments: What `build` takes.
        column: A column of the overview's table and its exports, which every head has; empty for none.
        text: What stands there of the head.
        line: On the head's card beside the overview's map, which has room for a few; may be empty.
    """

    build: Callable[..., HeadFigure]
    arguments: tuple[Any, ...]
    column: str = ""
    text: str = ""
    line: str = ""

    @cached_property
    def figure(self) -> HeadFigure:
        """The numbers."""
        return self.build(*self.arguments)


def overview_columns(columns: Iterable[HeadColumn], result: Result) -> list[HeadColumn]:
    """The columns of a result that the overview has: where the first token is [CLS], without `to_first`."""
    is_cls = isinstance(result, HeadAverages) and "to_cls" in result
    return [
        column
        for column in columns
        if column.overview and column.read(result) is not None and not (is_cls and column.quantity == "to_first")
    ]


def column_rows(columns: Iterable[HeadColumn], result: Result, head: Head) -> list[tuple[HeadColumn, HeadRow]]:
    """Those of `overview_columns` in which the head has a number, each with that."""
    rows = ((column, column_row(column, result, head)) for column in overview_columns(columns, result))
    return [(column, row) for column, row in rows if row is not None]


def columns_figure(title: str, columns: Iterable[HeadColumn], result: Result, head: Head) -> HeadFigure:
    """A row for each of these columns."""
    return HeadFigure(title, tuple(row for _, row in column_rows(columns, result, head)))


def column_row(column: HeadColumn, result: Result, head: Head) -> HeadRow | None:
    """The row of a column that the result has; None where the head has no value of it."""
    values = column.values(result)
    value = float(values[head])
    if isnan(value):
        return None
    unit = " nats" if column.label.endswith(numbers.NATS) else ""
    low = high = nan
    if isinstance(result, HeadAverages) and column.quantity in result:
        low, high = (float(end[head]) for end in result.limits(column.quantity))
    text = column.with_interval(result, head) if not isnan(low) else column.text(value)
    baselines, baseline_name = column.baselines(result)
    baseline = float(baselines[head])
    ends = [0.0, column.maximum or float(np.nanmax(values)), *([] if isnan(baseline) else [baseline])]
    return HeadRow(
        name=column.label.removesuffix(numbers.NATS),
        value=value,
        text=text + unit,
        others=values,
        median_text=column.text(float(np.nanmedian(values))) + unit,
        head=head,
        limits=(min(*ends, float(np.nanmin(values))), max(ends)),
        low=low,
        high=high,
        baseline=baseline,
        baseline_text=f"{baseline_name} {column.text(baseline)}{unit}" if baseline_name else "",
        least=column.least(result) if column.least else POINTS * float(column.maximum == 1 or column.percent),
    )


def share_row(
    name: str,
    shares: np.ndarray,
    head: Head,
    *,
    interval: tuple[float, float] = (nan, nan),
    baseline: float = nan,
    baseline_name: str = "",
) -> HeadRow:
    """The row of a share that is shown as a percentage.

    Args:
        name: As its row is called in tables.
        shares: (layer, head) shares, 0 to 1; that of the head is known.
        interval: The ends of its 95% interval; NaN where none is known.
        baseline: The share of a baseline; NaN without one.
        baseline_name: The name of the baseline; empty without one.
    """
    value = float(shares[head])
    text = numbers.percentage(value)
    if not isnan(interval[0]):
        text += f" ({interval[0]:.1%} to {interval[1]:.1%})"
    return HeadRow(
        name,
        value,
        text,
        shares,
        numbers.percentage(float(np.nanmedian(shares))),
        head,
        (0.0, 1.0),
        *interval,
        baseline,
        f"{baseline_name} {numbers.percentage(baseline)}" if baseline_name else "",
        least=POINTS,
    )
