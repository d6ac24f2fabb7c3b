"""What the gradients of the masked-word loss store."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from bertviz_core.analyses.head_averages import HeadAverages, averaged_column
from bertviz_core.analyses.proportions import share
from bertviz_core.plotting.palette import TOKENS

CLASSES = ("sep", "punct", "cls", "other")  # they partition the tokens of a segment
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
OVERVIEW = ("to_sep", "to_other", "to_sep_times_attention")
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
class SepGradients(HeadAverages):
    """Gradients for each class of target tokens j (by the original token, before masking), over the segments that have
    the class.

    `to_CLASS`: the mean of G = |dL/dA| over all (i, j), in nats for a unit of attention.
    `to_CLASS_times_attention`: the sum over j of A G, mean over i, in nats: the classes' values partition the total.
    `attention_to_CLASS`: the sum over j of A, mean over i, 0 to 1.

    Attributes:
        loss: The mean over segments of L, in nats.
        correct: How many masked tokens the model got right.
        masked: Number of masked tokens.
    """

    analysis: ClassVar[str] = "sep_gradients"
    loss: float
    correct: int
    masked: int

    @property
    def accuracy(self) -> float:
        """The share of masked tokens that the model got right."""
        return self.correct / self.masked

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
        return super().arrays() | {
            "loss": self.loss,
            "accuracy": self.accuracy,
            "right_tokens": self.correct,
            "masked_tokens": self.masked,
        }
