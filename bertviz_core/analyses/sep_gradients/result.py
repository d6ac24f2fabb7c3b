"""The result of the sink gradients."""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from bertviz_core.analyses.head_averages import HeadAverages, averaged_column
from bertviz_core.analyses.proportions import share
from bertviz_core.plotting.palette import TOKENS

CLASSES = ("sep", "punct", "cls", "other", "first")  # they partition the tokens of a segment
QUANTITIES = (
    *(f"to_{name}" for name in CLASSES),
    *(f"to_{name}_times_attention" for name in CLASSES),
    *(f"attention_to_{name}" for name in CLASSES),
)


FORMS = (
    ("to_{}", "gradient to {}", ", nats"),
    ("to_{}_times_attention", "attention × gradient to {}", ""),
    ("attention_to_{}", "attention to {}", ""),
)
OVERVIEW = ("to_sep", "to_first", "to_other", "to_sep_times_attention", "to_first_times_attention")
COLUMNS = tuple(
    averaged_column(
        quantity := form.format(token),
        f"{title.format(name)}{unit}",
        name=title.format(name),
        marker=marker,
        overview=quantity in OVERVIEW,
        maximum=1.0 if quantity.startswith("attention") else None,
    )
    for form, title, unit in FORMS
    for token, (name, marker) in TOKENS.items()
)


@dataclass(frozen=True)
class LossAverages(HeadAverages):
    """Averages that rest on the loss of a model that predicts words.

    Attributes:
        loss: The whole model's loss, the mean over segments, in nats.
        right: Number of tokens that the model predicts right.
        predicted: Number of tokens to predict.
    """

    loss: float
    right: int
    predicted: int

    @property
    def accuracy(self) -> float:
        """The share of the tokens to predict that the model predicts right."""
        return self.right / self.predicted

    def counts(self) -> dict[str, Any]:
        """Numbers of right predictions and of tokens to predict, as `arrays` lists them."""
        return {"accuracy": self.accuracy, "right_tokens": self.right, "predicted_tokens": self.predicted}

    @property
    def input_name(self) -> str:
        """What the model reads: attention differs from that to the same text without masks."""
        return "text" if self.provenance["model"]["causal"] else "masked text"

    @property
    def loss_name(self) -> str:
        """ "masked-word loss", or that of a decoder."""
        return "next-word loss" if self.provenance["model"]["causal"] else "masked-word loss"


@dataclass(frozen=True)
class SepGradients(LossAverages):
    """Gradients for each class of target tokens j (by the original token, before masking), over the segments that have
    the class; `first` is the first token where it is no special token of another class.

    `to_CLASS`: the mean of G = |dL/dA| over the pairs (i, j) that a mask allows, in nats for a unit of attention.
    `to_CLASS_times_attention`: the sum over j of A G, mean over i, in nats: the classes' values partition the total.
    `attention_to_CLASS`: the sum over j of A, mean over i, 0 to 1.
    """

    analysis: ClassVar[str] = "sep_gradients"

    def shares(self, form: str) -> dict[str, np.ndarray]:
        """Share of each class in a layer's attention, or in its attention × gradient.

        Args:
            form: "attention_to_{}" or "to_{}_times_attention".

        Returns:
            Class -> (layer,) from 0 to 1, summed over the layer's heads. Classes that no segment has are missing.
        """
        sums = {name: self[form.format(name)].sum(1) for name in CLASSES if form.format(name) in self.present}
        total = np.sum(list(sums.values()), axis=0)
        return {name: share(values, total) for name, values in sums.items()}

    def arrays(self) -> dict[str, Any]:
        return super().arrays() | {"loss": self.loss} | self.counts()
