"""In what order the quantities of a training arise (docs/methods.md, section 16)."""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import pandas as pd

from bertviz_core.analyses.base.findings import ABSENT, NOT_SHOWN, SHOWN, UNDECIDED, Finding
from bertviz_core.analyses.base.registry import display_label
from bertviz_core.analyses.base.result import cached_on_result
from bertviz_core.analyses.induction.result import COLUMNS
from bertviz_core.analyses.surface_patterns.result import sinks
from bertviz_core.corpora.treebank import UAS
from bertviz_core.emergence.result import Emergence, followed
from bertviz_core.heads import Head, highest

LEAST = 0.1  # the smallest way of a share from the first checkpoint to the last that has a half
RELATIONS = 2  # relations, beside UAS
NEIGHBORS = ("previous", "next")
PREFIX = next(column.short for column in COLUMNS if column.quantity == "prefix")
SAVING = "saving of a second copy"


class Way(NamedTuple):
    """The way of a quantity from the first checkpoint to the last.

    Attributes:
        name: As in figures.
        values: (step,) in nats for a loss or a saving, else shares, 0 to 1; NaN at a step that lacks it.
        head: The label of the head that is highest, or has the best accuracy, at the end; empty for nats.
    """

    name: str
    values: np.ndarray
    head: str = ""

    @property
    def share(self) -> np.ndarray:
        """(step,) the share of the way that is made: 0 at the first checkpoint, 1 at the last."""
        first, last = self.values[[0, -1]]
        share: np.ndarray = (self.values - first) / (last - first)
        return share

    @property
    def half(self) -> int:
        """The index of the first checkpoint from which on it never again has less than half of its way behind it."""
        behind = np.flatnonzero(~(self.share >= 0.5))  # the first checkpoint at least, those without a value too
        return int(behind[-1]) + 1


@cached_on_result
def ways(result: Emergence) -> list[Way]:
    """The loss, what a second copy saves, and the shares of attention and of right guesses, of those that change by
    LEAST, by the step of their half."""
    found = [way for way in _all_ways(result) if _has_half(way)]
    return sorted(found, key=lambda way: way.half)


def sentence(result: Emergence) -> str:
    """What has made half of its way at which step, in their order; empty where nothing has changed."""
    steps: dict[int, list[str]] = {}
    for way in ways(result):
        steps.setdefault(way.half, []).append(f"{way.name} ({way.head})" if way.head else way.name)
    if not steps:
        return ""
    parts = (f"{' and '.join(names)} by step {result.steps[half]:,}" for half, names in steps.items())
    return f"Half of the way from the first checkpoint to the last: {', then '.join(parts)}."


def finding(result: Emergence) -> Finding:
    """Whether attention to the previous token has its half before prefix matching; ABSENT where one has none."""
    found = {way.name: way for way in ways(result)}
    previous, prefix = found.get(display_label("previous")), found.get(PREFIX)
    state, number = ABSENT, ""
    if previous and prefix:
        state = UNDECIDED if previous.half == prefix.half else SHOWN if previous.half < prefix.half else NOT_SHOWN
        first, second = sorted((previous, prefix), key=lambda way: way.half)
        number = f"First {_at(first, result)}, then {_at(second, result)}"
        if saving := found.get(SAVING):
            number += f"; a second copy becomes cheaper by step {result.steps[saving.half]:,}"
    return Finding(
        id=f"{result.analysis}.order",
        analysis=result.analysis,
        section="",
        statement="",
        rule="At an earlier checkpoint than prefix matching, attention to the previous token has half of its way from "
        "the first checkpoint to the last behind it.",
        state=state,
        sentence=sentence(result),
        number=number,
    )


def _at(way: Way, result: Emergence) -> str:
    """A way with its head and the step of its half."""
    return f"{way.name} (head {way.head}, step {result.steps[way.half]:,})"


def order_table(result: Emergence) -> pd.DataFrame:
    """A row for each way: its first and last value, and the steps between which it made its half."""
    rows = [
        {
            "quantity": way.name,
            "head": way.head,
            f"step {result.steps[0]:,}": way.values[0],
            f"step {result.steps[-1]:,}": way.values[-1],
            "half not yet at": int(result.steps[way.half - 1]),
            "half at": int(result.steps[way.half]),
        }
        for way in ways(result)
    ]
    return pd.DataFrame(rows)


def _has_half(way: Way) -> bool:
    return bool(abs(way.values[-1] - way.values[0]) >= LEAST)  # of NaN it is not


def _all_ways(result: Emergence) -> Iterator[Way]:
    yield Way(result.loss_name, result.loss)
    if result.copy_losses is not None:
        yield Way(SAVING, result.copy_losses[:, 0] - result.copy_losses[:, 1])
    for name, values in _shares(result):
        has_value = ~np.isnan(values).all((1, 2))
        course = np.full(len(values), np.nan)
        course[has_value] = np.nanmax(values[has_value], axis=(1, 2))
        yield Way(name, course, highest(values[-1]).label() if has_value[-1] else "")
    best = result.dependencies[-1].best()
    for name in [UAS, *result.clearest_relations(RELATIONS)]:
        row = result.relations.index(name)
        yield Way(f"{name}, held out", result.heldout[:, row], Head(*best[row, 1:].tolist()).label())


def _shares(result: Emergence) -> Iterator[tuple[str, np.ndarray]]:
    """Quantities of heads between 0 and 1 with their name: to neighbors, to the sink, and those that are followed."""
    sink = sinks(dict(zip(result.quantities, result.averages[-1], strict=True)))[:1]
    for name in (*NEIGHBORS, *sink):
        if name in result.present:
            yield display_label(name), result[name]
    columns = followed()
    for name in result.curves:
        if name in columns and columns[name].maximum == 1:
            yield columns[name].short, result.curve(name)
