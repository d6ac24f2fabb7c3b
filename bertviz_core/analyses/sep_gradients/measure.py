"""Sink gradients: how much the loss would change with attention to a class of tokens (3.2; methods, section 3)."""

from collections.abc import Iterable, Sequence
from functools import partial
from typing import Any

import torch
from torch import Tensor

from bertviz_core.analyses.base.accumulators import SegmentAverages
from bertviz_core.analyses.base.request import Request
from bertviz_core.analyses.sep_gradients import QUANTITIES
from bertviz_core.corpora import Skipped
from bertviz_core.engine import stream
from bertviz_core.engine.progress import Progress
from bertviz_core.inputs.encoding import Batch, Encoded
from bertviz_core.inputs.segments import Segments
from bertviz_core.inputs.tensors import device_of_sums, in_float64
from bertviz_core.models.loss import LayerGradient, Targets, backward, targets_of
from bertviz_core.models.model import AttentionModel
from bertviz_core.settings import Settings

BATCH_TOKENS = 8_192  # the graph keeps every layer: fewer segments at once than a forward pass takes


class GradientAverages(SegmentAverages):
    """Segment averages of the gradients, sums of L, right and predicted tokens, and segments; what was skipped."""

    summed = ("sums", "predicted")

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self.predicted = torch.zeros(4, dtype=torch.float64, device=device_of_sums(self.device))
        self.skipped = Skipped()

    def update(self, batch: Batch, gradient: LayerGradient) -> None:
        super().update(batch, gradient)
        if gradient.layer == 0:  # once a batch
            whole = gradient.predictions
            each = (whole.loss, whole.right, whole.selected, torch.ones_like(whole.loss))
            self.predicted += in_float64(torch.stack([values.float() for values in each])).sum(1)

    def merge(self, other: "GradientAverages") -> None:
        super().merge(other)
        self.skipped.merge(other.skipped)

    def fields(self, examples: Segments) -> dict[str, Any]:
        """The fields of LossAverages; raises InputError where no segment had a token to predict."""
        loss, right, predicted, count = self.predicted.tolist()
        if not count:
            raise examples.source.error("No segment has a token to predict.", "Give text with words.")
        counts = {"loss": loss / count, "right": int(right), "predicted": int(predicted)}
        return super().fields(examples) | counts

    def state(self) -> dict[str, Any]:
        return super().state() | {"skipped": self.skipped.reasons}

    def restore(self, state: dict[str, Any]) -> None:
        super().restore(state)
        self.skipped = Skipped(state["skipped"])


def measure(batch: Batch, gradients: LayerGradient) -> Tensor:
    """(batch, head, quantity) for QUANTITIES, G = |dL/dA|: the mean of G over rows i and keys j in a class, the sums
    over j of A G and of A, mean over i. NaN where a segment lacks the class; padding never counts, nor does a key that
    a mask hides from a row: its weight is 0, and nothing can change it (section 3.2)."""
    first = ~(batch.sep | batch.cls)
    first[:, 1:] = False
    punctuation = batch.punctuation & ~first
    other = batch.mask & ~(batch.sep | punctuation | batch.cls | first)
    visible = (gradients.weights > 0).to(gradients.weights)  # (batch, head, query, key)
    size = gradients.gradient.abs() * visible
    classes = torch.stack([batch.sep, punctuation, batch.cls, other, first], -1).to(size)  # (batch, key, class)
    counts = classes.sum(1)[:, None]  # (batch, 1, class)
    rows = batch.row_weights[:, None, None].to(size)  # (batch, 1, 1, query)

    def sums(values: Tensor) -> Tensor:
        """(batch, head, class): sums over the keys of each class, mean over rows."""
        return (rows @ values)[:, :, 0] @ classes * (counts / counts)

    weights = gradients.weights
    return torch.cat([sums(size) / sums(visible), sums(size * weights), sums(weights)], -1)


def accumulator(model: AttentionModel, request: Request) -> GradientAverages:
    return GradientAverages(QUANTITIES, measure, model.layers, model.heads, model.device)


def run(
    model: AttentionModel,
    settings: Settings,
    examples: Iterable[Encoded],
    accumulators: Sequence[GradientAverages],
    progress: Progress,
    batch_tokens: int | None,
) -> None:
    """One forward and one backward pass of every segment, its masked words drawn from the settings' seed."""
    targets = targets_of(model.checkpoint, model.tokens, settings.seed)
    skipped = Skipped()
    segments = with_words(examples, targets, skipped)
    size = batch_tokens or min(model.batch_tokens, BATCH_TOKENS)
    stream.run(model, segments, accumulators, progress, size, partial(backward, targets=targets))
    for accumulator in accumulators:
        accumulator.skipped = skipped


def with_words(segments: Iterable[Encoded], targets: Targets, skipped: Skipped) -> Iterable[Encoded]:
    """The segments that have a token to predict; the others are left out and counted."""
    for example in segments:
        if len(targets.candidates(example.ids)):
            yield example
        else:
            skipped.add("a segment of special tokens only, with nothing to predict", example.where)
