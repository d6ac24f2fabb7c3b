"""The result of the search for induction heads."""

from dataclasses import dataclass
from typing import ClassVar

from bertviz_core.analyses.head_averages import HeadAverages, averaged_column
from bertviz_core.plotting.palette import BROAD, PREVIOUS, SEP

KINDS = {  # quantity -> its words, name and marker
    "prefix": ("to the token after the first occurrence", "prefix matching", SEP),
    "duplicate": ("to the first occurrence of the same token", "duplicate token", BROAD),
    "previous": ("to the previous token", "previous token", PREVIOUS),
}
CONTROL = "{}_control"  # the same positions in sequences that repeat nothing
COLUMNS = (
    *(averaged_column(name, f"attention {label} ({short})", name=short, marker=marker, maximum=1.0,
                      overview=name != "previous")  # surface patterns have it on text
      for name, (label, short, marker) in KINDS.items()),
    *(averaged_column(CONTROL.format(name), f"without repetition, attention {label}", name=f"{short}, control",
                      marker=marker, maximum=1.0, overview=False)
      for name, (label, short, marker) in KINDS.items()),
)  # fmt: skip


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
