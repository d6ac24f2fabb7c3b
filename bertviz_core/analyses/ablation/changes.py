"""What is summed over the segments of a corpus: changes without heads, and the heads' mean outputs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

from bertviz_core.analyses.ablation.worst_words import WorstWords
from bertviz_core.analyses.sep_gradients.measure import GradientAverages

if TYPE_CHECKING:
    from torch import Tensor

    from bertviz_core.models.encoding import Batch
    from bertviz_core.models.masked_lm import Predictions


@dataclass(frozen=True, slots=True)
class Changes:
    """One batch without each head of one layer, or without each of several sets of heads.

    Attributes:
        layer: The layer; 0 for sets.
        values: (batch, head or set, quantity).
        words: (head, masked word, field) for the fields of WorstWords.
        predictions: The whole model's predictions of the masked words.
    """

    layer: int
    values: Tensor
    words: Tensor | None = None
    predictions: Predictions | None = None


class HeadChanges(GradientAverages):
    """Segment averages of the changes without each head, what the whole model predicts, and the worst words."""

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        layers, heads, _ = self.count.shape
        self.words = WorstWords(layers, heads, self.device)

    def update(self, batch: Batch, changes: Changes) -> None:  # type: ignore[override]
        super().update(batch, changes)  # type: ignore[arg-type]
        assert changes.words is not None, "single heads have words"
        self.words.add(changes.layer, changes.words)

    def merge(self, other: HeadChanges) -> None:  # type: ignore[override]
        self.words.merge(other.words)  # first: examples without a top segment or word are let go by the next line
        super().merge(other)

    def _numbers(self) -> list[int]:
        return sorted({*super()._numbers(), *self.words.numbers()})


class MeanOutputs:
    """Sums of the heads' outputs over the tokens of a corpus: `mean` is (layer, head, width of a head)."""

    def __init__(self) -> None:
        self.sums: dict[int, Tensor] = {}
        self.tokens = 0

    def fresh(self) -> Self:
        return type(self)()

    def update(self, batch: Batch, shown: tuple[int, Tensor]) -> None:
        layer, output = shown  # (batch, head, query, width)
        self.sums[layer] = (output.double() * batch.mask[:, None, :, None]).sum((0, 2))
        self.tokens = batch.tokens()

    def merge(self, other: MeanOutputs) -> None:
        self.sums = {layer: self.sums[layer] + total if self.sums else total for layer, total in other.sums.items()}
        self.tokens += other.tokens

    @property
    def mean(self) -> Tensor:
        """(layer, head, width of a head) mean output of each head over the tokens."""
        import torch

        return torch.stack([self.sums[layer] for layer in sorted(self.sums)]) / self.tokens


def measure(whole: Predictions, without: Predictions) -> Tensor:
    """(segment, 2): the loss without the heads minus the loss of the whole model, in nats per masked word, and the same
    difference of the share of right guesses."""
    import torch

    return torch.stack([without.loss - whole.loss, (without.right - whole.right) / whole.selected], -1)


def values_of(batch: Batch, changes: Changes) -> Tensor:
    """Names of the values that are averaged over segments."""
    return changes.values
