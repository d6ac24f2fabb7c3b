"""The heads that most clearly do one thing, and the segments in which they do it most (Figures 1 and 5)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from bertviz_core.analyses.head_averages import HeadAverages
from bertviz_core.analyses.registry import ANALYSES
from bertviz_core.analyses.results import Results
from bertviz_core.heads import Head, highest

# behavior -> the analysis and the quantity that show it
SHOWN = {
    "next": ("surface_patterns", "next"),
    "previous": ("surface_patterns", "previous"),
    "to_sep": ("surface_patterns", "to_sep"),
    "to_punct": ("surface_patterns", "to_punct"),
    "broad": ("entropy", "entropy"),
}


@dataclass(frozen=True, slots=True)
class Segment:
    """One segment in which a head does something: its number from 0, its value, where it stands, its tokens."""

    number: int
    value: float
    where: str
    tokens: list[str]


@dataclass(frozen=True, slots=True)
class ClearestHead:
    """The head with the highest document average of a quantity, and its segments, the highest value first."""

    behavior: str
    analysis: str
    quantity: str
    head: Head
    value: float
    segments: list[Segment]

    @property
    def text(self) -> str:
        """The value as it is shown."""
        return ANALYSES[self.analysis].column(self.quantity).text(self.value)


def clearest(results: Results) -> list[ClearestHead]:
    """An example of each behavior in SHOWN that the stored results can show."""
    examples = []
    for behavior, (analysis, quantity) in SHOWN.items():
        result = results.get(analysis)
        if isinstance(result, HeadAverages) and quantity in result.present:
            head = highest(result[quantity])
            value, own = float(result[quantity][head]), list(segments(result, quantity, head))
            examples.append(ClearestHead(behavior, analysis, quantity, head, value, own))
    return examples


def clearest_head(results: Results) -> Head | None:
    """The head with the largest share of attention of any behavior; without shares the broadest; None without both."""
    examples = clearest(results)
    shares = [example for example in examples if example.quantity != "entropy"] or examples
    return max(shares, key=lambda example: example.value).head if shares else None


def segments(result: HeadAverages, quantity: str, head: Head) -> Iterator[Segment]:
    """The segments in which a head's value is highest."""
    at = (result.quantities.index(quantity), *head)
    for number, value in zip(result.top[at].tolist(), result.top_values[at].tolist(), strict=True):
        if number >= 0:
            text = result.texts[str(number)]
            yield Segment(number, value, text["where"], text["tokens"])
