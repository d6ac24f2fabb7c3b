"""What the search for induction heads stores."""

from dataclasses import dataclass
from typing import ClassVar

from bertviz_core.analyses.head_averages import HeadAverages


@dataclass(frozen=True)
class Induction(HeadAverages):
    """Attention of each head from a repeated sequence of random tokens, and its controls.

    Attributes:
        length: Tokens of a sequence.
    """

    analysis: ClassVar[str] = "induction"
    length: int

    @property
    def sequences(self) -> int:
        """How many sequences were repeated."""
        return int(self.segments[self.quantities.index("prefix")])
