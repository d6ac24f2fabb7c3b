"""Every quantity that the results of a model have of its heads, and the behavior of each head."""

from collections import Counter
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pandas as pd

from bertviz_core.analyses.base.averages import HeadAverages, HeadColumn
from bertviz_core.analyses.base.registry import ANALYSES
from bertviz_core.analyses.base.result import Result, Results, head_frame
from bertviz_core.analyses.behaviors import BEHAVIORS, OTHER, Thresholds, behaviors, linguistic
from bertviz_core.heads import Head, all_heads, ranks


@dataclass(frozen=True)
class Column:
    """One quantity of every head.

    Attributes:
        analysis: The name of the analysis.
        quantity: The name of the quantity.
        values: (layer, head) values; NaN where a head has none.
        baseline: (layer, head) values of the baseline; NaN without one.
        baseline_name: Its name; empty without one.
    """

    analysis: str
    quantity: str
    values: np.ndarray
    baseline: np.ndarray
    baseline_name: str

    @property
    def spec(self) -> HeadColumn:
        """The column of the analysis."""
        return ANALYSES[self.analysis].column(self.quantity)

    @cached_property
    def ranks(self) -> np.ndarray:
        """(layer, head) ranks, 1 for the highest value."""
        return ranks(self.values)

    def rank(self, head: Head) -> str:
        """The head's rank, as "3 of 72"."""
        return f"{self.ranks[head]} of {self.values.size}"


def in_order(results: Results) -> list[tuple[str, Result]]:
    """The results by the name of their analysis, in the order of ANALYSES."""
    return [(name, results[name]) for name in ANALYSES if name in results]


def columns(results: Results) -> list[Column]:
    """Every quantity that the results have of the heads; where the first token is [CLS], only `to_cls`."""
    quantities = []
    for name, result in in_order(results):
        for column in ANALYSES[name].head_columns(result):
            quantities.append(Column(name, column.quantity, column.values(result), *column.baselines(result)))
    return quantities


def behavior_averages(results: Results) -> list[tuple[str, str, HeadAverages]]:
    """(behavior, quantity, result) of the averages that decide behaviors."""
    return [
        (behavior, quantity, result)
        for name, result in in_order(results)
        for quantity, behavior in ANALYSES[name].behaviors.items()
        if isinstance(result, HeadAverages) and quantity in result
    ]


def behavior_labels(results: Results) -> np.ndarray | None:
    """(layer, head) names of behaviors (docs/methods.md, section 9); None without surface patterns and entropy."""
    known = {quantity: result[quantity] for _, quantity, result in behavior_averages(results)}
    if not known:
        return None
    heads = map(Head.parse, linguistic(results))
    return behaviors(known, Thresholds(), heads)


def behavior_counts(labels: np.ndarray) -> dict[str, int]:
    """How many heads have each behavior, without behaviors of no head.

    Args:
        labels: Names of behaviors, (layer, head) or of any shape.

    Returns:
        Behavior -> number of heads, in the order of the legend.
    """
    order = sorted(BEHAVIORS, key=lambda name: name == OTHER)
    counts = Counter(labels.flat)
    return {name: counts[name] for name in order if counts[name]}


def frame(results: Results) -> pd.DataFrame:
    """A row for each head: its behavior, every quantity, and what analyses say of it in a few words."""
    known = columns(results)
    table = head_frame({ANALYSES[each.analysis].export_name(each.quantity): each.values for each in known})
    labels = behavior_labels(results)
    if labels is not None:
        table.insert(3, "behavior", labels.reshape(-1))
    heads = all_heads(*known[0].values.shape)
    for name, result in in_order(results):
        for title, texts in ANALYSES[name].head_texts(result, heads).items():
            table[title] = texts
    return table
