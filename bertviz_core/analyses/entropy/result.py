"""The result of entropy: its quantities, columns and labels."""

from dataclasses import dataclass
from typing import ClassVar

from bertviz_core import plotting
from bertviz_core.analyses.base.averages import HeadAverages, averaged_column
from bertviz_core.paper import LAYER_MEANS

QUANTITIES = ("entropy", "from_cls", "max_weight", "uniform")
COLUMNS = (
    averaged_column(
        "entropy",
        "entropy, nats",
        name="all tokens",
        marker=plotting.BROAD,
        behavior="broad",
        role="broad attention",
        paper_means=LAYER_MEANS["entropy"],
    ),
    averaged_column(
        "from_cls",
        "entropy from [CLS], nats",
        name="[CLS] alone",
        marker=plotting.CLS,
        paper_means=LAYER_MEANS["from_cls"],
    ),
    averaged_column("max_weight", "largest weight per token"),
)
LABELS = {"uniform": "entropy of uniform attention, nats"}


@dataclass(frozen=True)
class Entropy(HeadAverages):
    """Averages over inputs of each head's entropy.

    Quantities, each (layer, head):
        entropy: Of all rows, nats.
        from_cls: Of the row of CLS alone, nats.
        max_weight: The mean of each row's largest weight, 0 to 1.
        uniform: The entropy of uniform attention: the average of the log of how many tokens a row sees, nats; equal in
            all heads of a layer.
    """

    analysis: ClassVar[str] = "entropy"
    baselines: ClassVar[tuple[str, ...]] = ("uniform",)

    @property
    def uniform(self) -> float:
        """The entropy of uniform attention, nats, of the layers that see the most: of all, where none is local."""
        return float(self["uniform"].max())

    def arrays(self) -> dict[str, object]:
        return super().arrays() | {"uniform": self.uniform}
