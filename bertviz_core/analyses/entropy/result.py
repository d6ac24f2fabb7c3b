"""The result of the entropy analysis, in nats."""

from dataclasses import dataclass
from typing import ClassVar

from bertviz_core.analyses.head_averages import HeadAverages, averaged_column
from bertviz_core.plotting import palette

QUANTITIES = ("entropy", "from_cls", "max_weight", "uniform")
COLUMNS = (
    averaged_column("entropy", "entropy, nats", name="all tokens", marker=palette.BROAD),
    averaged_column("from_cls", "entropy from [CLS], nats", name="[CLS] alone", marker=palette.CLS),
    averaged_column("max_weight", "largest weight of a row"),
)

LABELS = {"uniform": "entropy of uniform attention, nats"}


@dataclass(frozen=True)
class Entropy(HeadAverages):
    """`entropy` and `from_cls` (the CLS row alone) in nats; `max_weight`, the mean of each row's largest weight;
    `uniform`, the entropy that uniform attention would have: the same for every head."""

    analysis: ClassVar[str] = "entropy"

    @property
    def uniform(self) -> float:
        """The reference line: the average of log N (of log(i + 1) for a causal model), in nats."""
        return float(self["uniform"].flat[0])

    def arrays(self) -> dict[str, object]:
        return super().arrays() | {"uniform": self.uniform}
