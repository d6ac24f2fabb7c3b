"""Averages of every head that rest on the loss of a model that predicts words."""

from dataclasses import dataclass
from typing import Any

from bertviz_core.analyses.base.averages import HeadAverages


@dataclass(frozen=True)
class LossAverages(HeadAverages):
    """Averages that rest on the loss of a model that predicts words.

    Attributes:
        loss: The whole model's mean over segments, nats for each predicted word.
        right: How many words the whole model predicts right.
        predicted: How many it predicts.
    """

    loss: float
    right: int
    predicted: int

    @property
    def accuracy(self) -> float:
        """The share of predicted words that are right, 0 to 1."""
        return self.right / self.predicted

    def counts(self) -> dict[str, Any]:
        """The words of exports: the share that is right, and how many are right and predicted."""
        return {"accuracy": self.accuracy, "right_tokens": self.right, "predicted_tokens": self.predicted}

    @property
    def input_note(self) -> str:
        """What the model reads where that is not the text as it is, which has other attention; empty for a decoder."""
        return "" if self.provenance["model"]["causal"] else "masked text"

    @property
    def loss_name(self) -> str:
        """What the loss is of: next words, or masked ones."""
        return "next-word loss" if self.provenance["model"]["causal"] else "masked-word loss"
