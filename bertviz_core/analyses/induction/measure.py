"""Attention from each repeated token to three positions: after its first occurrence, at it, and before the token; and
what the tokens of both copies cost a model that predicts next words (docs/methods.md, section 15)."""

from typing import Any, Self

import torch
from torch import Tensor

from bertviz_core.analyses.base.accumulators import SegmentSums, as_tensor
from bertviz_core.analyses.induction.result import COLUMNS
from bertviz_core.engine.packing import PackedValues
from bertviz_core.inputs.encoded_corpus import EncodedCorpus
from bertviz_core.inputs.encoding import Batch, collate
from bertviz_core.inputs.tensors import device_of_sums, in_float64
from bertviz_core.models.attention import LayerAttention
from bertviz_core.models.loss import Labels, predict_words
from bertviz_core.models.model import AttentionModel


def measure(batch: Batch, attention: LayerAttention) -> Tensor:
    """(batch, head, quantity): with n tokens in each half, the means over the rows i of the second half of
    A[i, i-n+1] (prefix matching), A[i, i-n] (duplicate token) and A[i, i-1] (previous token), 0 to 1, NaN where nothing
    is repeated; then of the same weights, NaN where the sequence is repeated (docs/methods.md, section 15)."""
    start, size = _place(batch)
    rows = torch.arange(start + size, start + 2 * size, device=batch.ids.device)
    keys = torch.stack([rows - size + 1, rows - size, rows - 1])  # (quantity, row)
    values = attention.weights[:, :, rows, keys].mean(-1)
    repeated = _repeats(batch)[:, None, None]
    return torch.cat([values.where(repeated, torch.nan), values.where(~repeated, torch.nan)], -1)


def copy_losses(model: AttentionModel, batch: Batch) -> Tensor:
    """(repeated input, copy, place) the loss of tokens 2 to n of both copies, nats."""
    start, size = _place(batch)
    repeated = [each for each, repeats in zip(batch.examples, _repeats(batch).tolist(), strict=True) if repeats]
    if not repeated:
        return torch.zeros(0, 2, size - 1, device=batch.ids.device)
    inputs = collate(repeated, model.tokens, model.device)
    places = torch.arange(start + 1, start + size, device=inputs.ids.device)
    predicted = torch.cat([places, places + size])
    labels = Labels(
        rows=torch.arange(len(repeated), device=places.device).repeat_interleave(len(predicted)),
        positions=(predicted - 1).repeat(len(repeated)),
        ids=inputs.ids[:, predicted].flatten(),
        counts=torch.full([len(repeated)], len(predicted), device=places.device),
    )
    _, predictions, _ = predict_words(model, inputs, labels)
    return predictions.word_loss.view(len(repeated), 2, len(places))


def _place(batch: Batch) -> tuple[int, int]:
    """Where the first sequence begins, and its number of tokens; all inputs are of one length."""
    words = batch.examples[0].words
    assert words is not None, "random sequences have words"
    is_word = words >= 0
    return int(is_word.argmax()), int(is_word.sum()) // 2


def _repeats(batch: Batch) -> Tensor:
    """(batch,) whether the second sequence of an input is the first one again."""
    start, size = _place(batch)
    halves = batch.ids[:, start : start + 2 * size].unflatten(1, (2, size))
    return (halves[:, 0] == halves[:, 1]).all(-1)


class InductionSums(SegmentSums[LayerAttention]):
    """Averages of attention, and of a decoder that predicts next words the losses of both copies.

    Attributes:
        loss_sums: (copy, place) sums over repeated inputs of the losses of tokens 2 to n; float64.
        saving_moments: (3,) sums over repeated inputs of 1, d and d^2, where d is the mean loss of the first copy minus
            that of the second; float64.
    """

    def __init__(self, model: AttentionModel, size: int) -> None:
        """Begin with empty sums over sequences of `size` tokens."""
        quantities = [column.quantity for column in COLUMNS]
        super().__init__(quantities, measure, model.layers, model.heads, model.device)
        self.arguments = (model, size)
        self.model = model
        self.predicts = model.causal and model.language_model is not None
        where = device_of_sums(model.device)
        self.loss_sums = torch.zeros(2, size - 1, dtype=torch.float64, device=where)
        self.saving_moments = torch.zeros(3, dtype=torch.float64, device=where)

    def update(self, batch: Batch, layer: LayerAttention) -> None:
        super().update(batch, layer)
        if layer.layer == 0 and self.predicts:  # The losses are of the whole model: they count once a batch.
            losses = in_float64(copy_losses(self.model, batch))
            first, second = losses.mean(-1).unbind(1)
            saving = first - second
            self.loss_sums += losses.sum(0)
            self.saving_moments += torch.stack([torch.ones_like(saving), saving, saving.square()]).sum(1)

    def merge(self, other: Self) -> None:
        super().merge(other)
        self.loss_sums += other.loss_sums
        self.saving_moments += other.saving_moments

    def fields(self, examples: EncodedCorpus[Any]) -> dict[str, Any]:
        """The fields of Induction, but for the provenance and the length."""
        count, total, squares = self.saving_moments.tolist()
        found = super().fields(examples) | {"unit": "sequences"}
        if count:
            variance = (squares - total**2 / count) / max(count - 1, 1)
            error = (max(variance, 0.0) / count) ** 0.5
            found |= {"copy_losses": (self.loss_sums / count).cpu().numpy(), "saving_error": error}
        return found

    def state(self) -> PackedValues:
        return super().state() | {"loss_sums": self.loss_sums, "saving_moments": self.saving_moments}

    def restore(self, state: PackedValues) -> None:
        super().restore(state)
        self.loss_sums = as_tensor(state["loss_sums"], self.loss_sums)
        self.saving_moments = as_tensor(state["saving_moments"], self.saving_moments)
