"""The clearest head of each behavior, and the segments in which it is clearest (Figures 1 and 5)."""

from dataclasses import dataclass

from bertviz_core.analyses.base.averages import HeadAverages, Segment
from bertviz_core.analyses.base.registry import ANALYSES
from bertviz_core.analyses.base.result import Results
from bertviz_core.analyses.behaviors import UNTRAINED
from bertviz_core.heads import Head, highest
from bertviz_core.overview.head_columns import in_order


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
        """The value as it is shown."""
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
            examples.append(
                ClearestHead(
                    name=role, analysis=name, quantity=quantity, head=head, value=float(values[head]), segments=top
                )
            )
    return examples


def clearest_head(results: Results) -> Head | None:
    """The head with the largest share of attention of any behavior; without shares the broadest; None without both."""
    examples = clearest(results)
    shares = [example for example in examples if not example.is_of_untrained] or examples
    return max(shares, key=lambda example: example.value).head if shares else None
