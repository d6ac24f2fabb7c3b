"""The result of the next token: its quantities, columns and labels."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from bertviz_core.analyses.base.averages import HeadAverages, averaged_column
from bertviz_core.heads import Head
from bertviz_core.plotting import BEST

QUANTITIES = ("to_next_token", "next_token_logit")
LEAST = 0.1  # nats: with less, the odds of the next token change by less than a tenth


def _least(result: HeadAverages) -> float:
    return LEAST


COLUMNS = (
    averaged_column(
        "to_next_token",
        "contribution to the next token's logit, nats",
        name="contribution to the next token, nats",
        marker=(BEST, "circle"),
        signed=True,
        least=_least,
        is_followed=True,
    ),
)
LABELS = {"next_token_logit": "logit of the next token above the vocabulary's mean, nats"}


@dataclass(frozen=True)
class NextToken(HeadAverages):
    """Averages over inputs of what each head adds to the logit of the token that comes next.

    Quantities, each (layer, head), nats:
        to_next_token: What the head adds.
        next_token_logit: The whole logit above the mean over the vocabulary, the same for all heads.
    """

    analysis: ClassVar[str] = "next_token"
    baselines: ClassVar[tuple[str, ...]] = ("next_token_logit",)

    @property
    def logit(self) -> float:
        """The mean logit of the next token above the vocabulary's mean, nats."""
        return float(self["next_token_logit"][0, 0])

    @property
    def lowest(self) -> Head:
        """The head that adds least, or takes most away."""
        values = self["to_next_token"]
        return Head(*map(int, np.unravel_index(np.nanargmin(values), values.shape)))
