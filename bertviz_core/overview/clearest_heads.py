"""The clearest head of each behavior, and the segments in which it is clearest (Figures 1 and 5)."""

from collections.abc import Iterable
from dataclasses import dataclass

from bertviz_core.analyses.base.averages import HeadAverages, HeadColumn, Segment
from bertviz_core.analyses.base.registry import ANALYSES
from bertviz_core.analyses.base.result import Results
from bertviz_core.analyses.behaviors import BEHAVIORS, SINKS, UNTRAINED, present
from bertviz_core.heads import Head, highest
from bertviz_core.overview.head_columns import in_order

MOST_FOUND = 3  # heads that find something, of an analysis, which the overview and the table of a report have


@dataclass(frozen=True)
class ClearestHead:
    """The head with the highest document average of a quantity.

    Attributes:
        name: What such heads do.
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
        """The value as it is shown."""
        return ANALYSES[self.analysis].column(self.quantity).text(self.value)


def clearest(results: Results) -> list[ClearestHead]:
    """The clearest head of each behavior that results are stored for; of the special tokens, of the sink alone."""
    examples: list[ClearestHead] = []
    for name, result in in_order(results):
        if not isinstance(result, HeadAverages):
            continue
        for column in _with_roles(ANALYSES[name].columns, result):
            values = result[column.quantity]
            head = highest(values)
            examples.append(
                ClearestHead(
                    name=column.role,
                    analysis=name,
                    quantity=column.quantity,
                    head=head,
                    value=float(values[head]),
                    segments=result.highest_segments(column.quantity, head),
                )
            )
    return examples


def _with_roles(columns: Iterable[HeadColumn], result: HeadAverages) -> list[HeadColumn]:
    """The columns of a result whose highest head has a role, in the order of BEHAVIORS; of the special tokens that of
    the sink, which gets the highest mean of a layer."""
    with_roles = [column for column in columns if column.role and column.quantity in result]
    tokens = {each.behavior: result[each.quantity] for each in with_roles if each.behavior in SINKS}
    sinks = sorted(present(tokens), key=SINKS.index)
    sink = max(sinks, key=lambda token: tokens[token].mean(1).max(), default="")
    columns_of_roles = [column for column in with_roles if column.behavior not in SINKS or column.behavior == sink]
    return sorted(
        columns_of_roles, key=lambda each: BEHAVIORS.index(each.behavior) if each.behavior else len(BEHAVIORS)
    )


def clearest_head(results: Results) -> Head | None:
    """The head with the largest share of attention of any behavior; without shares the broadest; None without both."""
    examples = clearest(results)
    shares = [example for example in examples if not example.is_of_untrained] or examples
    return max(shares, key=lambda example: example.value).head if shares else None
