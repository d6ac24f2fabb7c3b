"""Averages over segments of what a pass measures of a model that predicts words, beside its loss."""

from typing import Any, Protocol, Self, TypeVar

import torch

from bertviz_core.analyses.base.accumulators import Layer, SegmentSums, as_tensor
from bertviz_core.corpora import Skipped
from bertviz_core.engine.packing import PackedValues
from bertviz_core.inputs.encoded_corpus import EncodedCorpus
from bertviz_core.inputs.encoding import Batch
from bertviz_core.inputs.tensors import device_of_sums, in_float64
from bertviz_core.models.loss import Predictions


class PredictingLayer(Layer, Protocol):
    """What a pass shows of one layer for one batch, with what the whole model predicts.

    Attributes:
        predictions: The losses and guesses of the whole model, the same for all layers of the batch.
    """

    @property
    def predictions(self) -> Predictions: ...


P = TypeVar("P", bound=PredictingLayer)


class PredictionSums(SegmentSums[P]):
    """Segment averages, and the whole model's loss: the fields of LossAverages.

    With L the mean cross-entropy over a segment's predicted tokens, in nats (docs/methods.md, section 3), the loss is
    the mean of L over segments.

    Attributes:
        predicted: (4,) sums over segments of L, of the right and of the predicted tokens, and of 1; float64.
        without_words: Segments that have no token to predict.
    """

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self.predicted = torch.zeros(4, dtype=torch.float64, device=device_of_sums(self.device))
        self.without_words = Skipped()

    @property
    def skipped(self) -> Skipped:
        return self.without_words

    def update(self, batch: Batch, layer: P) -> None:
        super().update(batch, layer)
        if layer.layer == 0:  # The predictions are the same for all layers: they count once a batch.
            whole = layer.predictions
            each = (whole.loss, whole.right, whole.selected, torch.ones_like(whole.loss))
            self.predicted += in_float64(torch.stack([values.float() for values in each])).sum(1)

    def merge(self, other: Self) -> None:
        super().merge(other)
        self.predicted += other.predicted
        self.without_words.merge(other.without_words)

    def fields(self, examples: EncodedCorpus[Any]) -> dict[str, Any]:
        """The fields of LossAverages; raises InputError where no segment had a token to predict."""
        loss, right, predicted, count = self.predicted.tolist()
        if not count:
            raise examples.source.error("No passage has a token to predict.", "Give text with words.")
        counts = {"loss": loss / count, "right": int(right), "predicted": int(predicted)}
        return super().fields(examples) | counts

    def state(self) -> PackedValues:
        return super().state() | {"predicted": self.predicted, "skipped": self.without_words.reasons}

    def restore(self, state: PackedValues) -> None:
        super().restore(state)
        self.predicted = as_tensor(state["predicted"], self.predicted)
        self.without_words = Skipped(state["skipped"])
