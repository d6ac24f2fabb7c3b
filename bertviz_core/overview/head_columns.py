"""Every quantity that the results of a model have of its heads, and the behavior of each head."""

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pandas as pd

from bertviz_core.analyses.base.averages import HeadAverages, HeadColumn
from bertviz_core.analyses.base.head_figures import Rows, overview_columns
from bertviz_core.analyses.base.registry import ANALYSES
from bertviz_core.analyses.base.result import Result, Results, head_frame
from bertviz_core.analyses.behaviors import (
    BEHAVIORS,
    LINGUISTIC,
    OTHER,
    QUANTITIES,
    UNTRAINED,
    Thresholds,
    behaviors,
    by_rank,
    linguistic,
)
from bertviz_core.heads import Head, all_heads, ranks


@dataclass(frozen=True)
class Column:
    """One quantity of every head.

    Attributes:
        values: (layer, head) values; NaN where a head has none.
        baseline: (layer, head) values of the baseline; None or NaN without one.
        baseline_name: Its name; empty without one.
    """

    analysis: str
    quantity: str
    values: np.ndarray
    baseline: np.ndarray | None = None
    baseline_name: str = ""

    @property
    def spec(self) -> HeadColumn:
        """The column of the analysis."""
        return ANALYSES[self.analysis].column(self.quantity)

    @cached_property
    def ranks(self) -> np.ndarray:
        """(layer, head) ranks, 1 for the highest value."""
        return ranks(self.values)

    def rank(self, head: Head) -> str:
        """The head's rank among those that have a value, as "3 of 72"; a dash without one."""
        known = int((~np.isnan(self.values)).sum())
        return "–" if np.isnan(self.values[head]) else f"{self.ranks[head]} of {known}"


def in_order(results: Results) -> list[tuple[str, Result]]:
    """The results by the name of their analysis, in the order of ANALYSES."""
    return [(name, results[name]) for name in ANALYSES if name in results]


def of_head(results: Results, head: Head) -> Iterator[Rows]:
    """All that the analyses say of one head."""
    for name, result in in_order(results):
        yield from ANALYSES[name].of_head(result, head)


def columns(results: Results) -> list[Column]:
    """Every quantity that the results have of the heads; where the first token is [CLS], only `to_cls`."""
    quantities = []
    for name, result in in_order(results):
        for column in overview_columns(ANALYSES[name].columns, result):
            quantities.append(Column(name, column.quantity, column.values(result), *column.baselines(result)))
    return quantities


def behavior_averages(results: Results) -> list[tuple[str, str, HeadAverages]]:
    """(behavior, quantity, result) of the averages whose thresholds decide behaviors."""
    return [
        (behavior, quantity, result)
        for name, result in in_order(results)
        for quantity, behavior in ANALYSES[name].behaviors.items()
        if isinstance(result, HeadAverages) and quantity in result and quantity in QUANTITIES
    ]


def behavior_heads(results: Results) -> dict[str, np.ndarray] | None:
    """The heads of each behavior (docs/methods.md, section 9); None without surface patterns and entropy.

    Returns:
        Behavior -> (layer, head) bool, in the order of BEHAVIORS, without behaviors of no head. A head may have
        several: that of Figure 6, those of `more_behaviors`, and LINGUISTIC. Only a head without any is broad or OTHER.
    """
    known = {quantity: result[quantity] for _, quantity, result in behavior_averages(results)}
    if not known:
        return None
    labels = behaviors(known, Thresholds())
    members = {name: labels == name for name in BEHAVIORS}
    for label in linguistic(results):
        members[LINGUISTIC][Head.parse(label)] = True
    for name, result in in_order(results):
        members |= ANALYSES[name].more_behaviors(result)
    named = np.any([heads for name, heads in members.items() if name not in UNTRAINED], axis=0)
    members |= {name: members[name] & ~named for name in UNTRAINED}
    return {name: members[name] for name in BEHAVIORS if members[name].any()}


def behaviors_of(members: Mapping[str, np.ndarray], head: Head) -> list[str]:
    """The behaviors of one head, of (layer, head) bool by behavior, the one that says most first; none of OTHER."""
    return by_rank(name for name, heads in members.items() if name != OTHER and heads[head])


def behavior_labels(results: Results) -> np.ndarray | None:
    """(layer, head) names of the first of each head's behaviors, or OTHER; None as of `behavior_heads`."""
    members = behavior_heads(results)
    if members is None:
        return None
    labels = np.full(next(iter(members.values())).shape, OTHER, dtype=f"<U{max(map(len, BEHAVIORS))}")
    for name in reversed(by_rank(members)):
        labels[members[name]] = name
    return labels


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
    """A row for each head: its behaviors, every quantity, and what analyses say of it in a few words."""
    known = columns(results)
    table = head_frame({ANALYSES[each.analysis].export_name(each.quantity): each.values for each in known})
    heads = all_heads(*known[0].values.shape)
    labels = behavior_labels(results)
    members = behavior_heads(results)
    if labels is not None and members is not None:
        table.insert(3, "behavior", labels.reshape(-1))
        table.insert(4, "more_behaviors", [", ".join(behaviors_of(members, head)[1:]) for head in heads])
    texts = [{each.column: each.text for each in of_head(results, head) if each.column} for head in heads]
    return table.join(pd.DataFrame(texts, index=table.index))
