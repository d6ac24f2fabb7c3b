"""What a model's stored results say of each head, and the clearest head of each behavior (Figures 1 and 5)."""

from collections import Counter
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pandas as pd

from bertviz_core.analyses.base.averages import HeadAverages, HeadColumn, Segment
from bertviz_core.analyses.base.registry import ANALYSES
from bertviz_core.analyses.base.result import Result, Results, head_frame
from bertviz_core.analyses.behaviors import BEHAVIORS, OTHER, UNTRAINED, Thresholds, behaviors, linguistic
from bertviz_core.heads import Head, all_heads, highest, ranks


@dataclass(frozen=True)
class Column:
    """One quantity of every head.

    Attributes:
        analysis: The name of the analysis.
        quantity: The name of the quantity.
        values: (layer, head) values; NaN where a head has none.
        baseline: The value of the baseline; NaN without one.
        baseline_name: Its name; empty without one.
    """

    analysis: str
    quantity: str
    values: np.ndarray
    baseline: float = float("nan")
    baseline_name: str = ""

    @property
    def spec(self) -> HeadColumn:
        return ANALYSES[self.analysis].column(self.quantity)

    @cached_property
    def ranks(self) -> np.ndarray:
        return ranks(self.values)

    def rank(self, head: Head) -> str:
        return f"{self.ranks[head]} of {self.values.size}"


def in_order(results: Results) -> list[tuple[str, Result]]:
    """The results by the name of their analysis, in the order of ANALYSES."""
    return [(name, results[name]) for name in ANALYSES if name in results]


def columns(results: Results) -> list[Column]:
    """Every quantity that the results have of the heads; where the first token is [CLS], only `to_cls`."""
    quantities = []
    for name, result in in_order(results):
        for column in ANALYSES[name].head_columns(result):
            baseline = column.baseline(result) if column.baseline else ()
            quantities.append(Column(name, column.quantity, column.values(result), *baseline))
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
    """Behavior -> how many heads have it, in the order of the legend, without behaviors of no head."""
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


@dataclass(frozen=True)
class ClearestHead:
    """The head with the highest document average of a quantity.

    Attributes:
        name: What such heads do.
        analysis: The name of the analysis.
        quantity: The name of the quantity.
        head: The head.
        value: Its document average.
        segments: The segments with the highest values of this head.
    """

    name: str
    analysis: str
    quantity: str
    head: Head
    value: float
    segments: list[Segment]

    @property
    def is_of_untrained(self) -> bool:
        """Whether heads of an untrained network behave so, too."""
        return ANALYSES[self.analysis].behaviors.get(self.quantity) in UNTRAINED

    @property
    def text(self) -> str:
        return ANALYSES[self.analysis].column(self.quantity).text(self.value)


def clearest(results: Results) -> list[ClearestHead]:
    """The clearest head of each behavior that results are stored for; of the special tokens, of the sink alone."""
    examples: list[ClearestHead] = []
    for name, result in in_order(results):
        if not isinstance(result, HeadAverages):
            continue
        for quantity, role in ANALYSES[name].clearest(result).items():
            values = result[quantity]
            head = highest(values)
            top = result.highest_segments(quantity, head)
            examples.append(ClearestHead(role, name, quantity, head, float(values[head]), top))
    return examples


def clearest_head(results: Results) -> Head | None:
    """The head with the largest share of attention of any behavior; without shares the broadest; None without both."""
    examples = clearest(results)
    shares = [example for example in examples if not example.is_of_untrained] or examples
    return max(shares, key=lambda example: example.value).head if shares else None
