"""Sums the changes of the loss without heads over a corpus, and keeps the words whose loss rises most."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import torch
from torch import Tensor

from bertviz_core.analyses.ablation.result import WordContext
from bertviz_core.analyses.base.averages import TOP
from bertviz_core.analyses.base.prediction_sums import PredictionSums
from bertviz_core.inputs.encoding import Batch, Encoded
from bertviz_core.inputs.labels import token_labels
from bertviz_core.inputs.tensors import device_of_sums, in_float64
from bertviz_core.inputs.tokens import Tokens
from bertviz_core.models.loss import Labels, Predictions, Targets

CONTEXT = 14  # tokens on either side of a word
FIELDS = ("change", "position_id", "original", "guess_before", "guess_after", "loss_before", "loss_after")
# The position_id of a word is the number of its segment * MAX_POSITIONS + its position there.
MAX_POSITIONS = 2**20


@dataclass(frozen=True)
class SetChanges:
    """One batch without each of several sets of heads.

    Attributes:
        layer: 0, since a set may have heads of several layers.
        values: (batch, set, quantity), without a set minus with it.
    """

    layer: int
    values: Tensor


@dataclass(frozen=True)
class LayerChanges:
    """One batch without each head of a layer.

    Attributes:
        layer: The layer, from 0.
        values: (batch, head, quantity), without a head minus with it.
        words: (head, word, field) float64 for FIELDS.
        predictions: Those of the whole model.
    """

    layer: int
    values: Tensor
    words: Tensor
    predictions: Predictions


class HeadChanges(PredictionSums[LayerChanges]):
    """Segment averages of the changes without each head, and the TOP words of each head by the change of their loss.

    With L_s the whole model's loss of segment s and L_s^-H that without a set H of heads, the change is the mean over
    segments of L_s^-H - L_s, in nats (docs/methods.md, section 12). Of words with equal changes the first in the corpus
    is kept.

    Attributes:
        worst: (layer, head, rank, field) float64 the words, for FIELDS; -inf for none.
    """

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        shape = (*self.top.shape[:2], TOP, len(FIELDS))
        # Ids are integers below 2^53, which float64 has exactly.
        self.worst = torch.full(shape, -torch.inf, dtype=torch.float64, device=device_of_sums(self.device))

    def update(self, batch: Batch, layer: LayerChanges) -> None:
        super().update(batch, layer)
        self._keep_words(slice(layer.layer, layer.layer + 1), layer.words[None])

    def merge(self, other: Self) -> None:
        super().merge(other)
        self._keep_words(slice(None), other.worst)

    def _keep_words(self, layers: slice, fields: Tensor) -> None:
        both = torch.cat([self.worst[layers], in_float64(fields)], 2)
        for field, descending in (("position_id", False), ("change", True)):
            values = both[..., FIELDS.index(field)]
            order = values.argsort(dim=-1, descending=descending, stable=True)
            both = both.gather(2, order[..., None].expand_as(both))
        self.worst[layers] = both[:, :, :TOP]

    def worst_words(self, examples: Sequence[Encoded], targets: Targets, tokens: Tokens) -> dict[str, Any]:
        """The fields of Ablation that describe the words whose loss rises most, of all segments.

        Args:
            examples: The segments.
            tokens: The model's tokenizer.
        """
        worst = self.worst.cpu().numpy()
        known = ~np.isinf(worst[..., 1])
        whole = np.where(known[..., None], worst, 0)
        position_ids = whole[..., 1].astype(np.int64)
        ids = whole[..., 2:5].astype(np.int64)
        vocabulary = np.unique(ids)
        by_number = {example.number: example for example in examples}
        contexts = {}
        for position_id in np.unique(position_ids[known]).tolist():
            number, position = divmod(position_id, MAX_POSITIONS)
            contexts[f"{number}:{position}"] = _context(by_number[number], position, targets, tokens)
        numbers = position_ids // MAX_POSITIONS
        return {
            "word_numbers": np.where(known, numbers, -1),
            "word_positions": position_ids % MAX_POSITIONS,
            "word_ids": ids,
            "word_losses": whole[..., 5:],
            "names": dict(zip(map(str, vocabulary), token_labels(vocabulary, tokens), strict=True)),
            "contexts": contexts,
        }


def _context(example: Encoded, position: int, targets: Targets, tokens: Tokens) -> WordContext:
    """The word's context as the model sees it, which excludes a next word and what follows it."""
    ids, _ = targets.apply(example)
    names = tokens.names(ids)
    if targets.shift:
        names[position:] = ["…"]
    left = names[max(0, position - CONTEXT) : position]
    right = names[position + 1 : position + 1 + CONTEXT]
    return {"where": example.where, "left": " ".join(left), "shown": names[position], "right": " ".join(right)}


def change_of(whole: Predictions, without: Iterable[Predictions]) -> Tensor:
    """(set, segment, 2): the loss without each set of heads minus that of the whole model, in nats per predicted word,
    and likewise the share of right guesses."""
    changes = [(after.loss - whole.loss, (after.right - whole.right) / whole.selected) for after in without]
    return torch.stack([torch.stack(change, -1) for change in changes])


def words_of(batch: Batch, labels: Labels, shift: int, whole: Predictions, without: Sequence[Predictions]) -> Tensor:
    """(head, word, field) float64 in the order of FIELDS, of the words that `labels` asks for and each head."""
    position_id = batch.numbers[labels.rows] * MAX_POSITIONS + labels.positions + shift
    guess = torch.stack([after.guess for after in without])  # (head, word)
    loss = in_float64(torch.stack([after.word_loss for after in without]))
    change = loss - in_float64(whole.word_loss)
    fields = (change, position_id, labels.ids, whole.guess, guess, whole.word_loss, loss)
    return torch.stack(torch.broadcast_tensors(*map(in_float64, fields)), -1)
