"""Sink gradients: how much the loss would change with attention to a class of tokens (docs/methods.md, section 3)."""

from collections.abc import Iterable, Sequence
from functools import partial

import torch
from torch import Tensor

from bertviz_core.analyses.base.prediction_sums import PredictionSums
from bertviz_core.analyses.base.request import Request
from bertviz_core.analyses.sep_gradients.result import QUANTITIES
from bertviz_core.corpora import Skipped
from bertviz_core.engine import forward_pass
from bertviz_core.engine.progress import Progress
from bertviz_core.inputs.encoding import Batch, Encoded
from bertviz_core.models.loss import BATCH_TOKENS, LayerGradient, backward, targets_of, with_words
from bertviz_core.models.model import AttentionModel
from bertviz_core.settings import Settings


def measure(batch: Batch, gradients: LayerGradient) -> Tensor:
    """(batch, head, quantity) for QUANTITIES, G = |dL/dA|: the mean of G over rows i and keys j in a class, the sums
    over j of A G and of A, mean over i. NaN where a segment lacks the class; padding never counts, nor does a key that
    a mask hides from a row: nothing can change its weight (docs/methods.md, section 3)."""
    first = ~(batch.sep | batch.cls)
    first[:, 1:] = False
    punctuation = batch.punctuation & ~first
    other = batch.mask & ~(batch.special | punctuation | first)
    visible = gradients.visible.to(gradients.weights)  # (batch, 1 or head, query, key)
    size = gradients.gradient.abs() * visible
    classes = torch.stack([batch.sep, punctuation, batch.cls, other, first], -1).to(size)  # (batch, key, class)
    counts = classes.sum(1)[:, None]  # (batch, 1, class)
    rows = batch.row_weights[:, None, None].to(size)  # (batch, 1, 1, query)

    def sums(values: Tensor) -> Tensor:
        """(batch, head, class): sums over the keys of each class, mean over rows."""
        return (rows @ values)[:, :, 0] @ classes * (counts / counts)

    weights = gradients.weights
    return torch.cat([sums(size) / sums(visible), sums(size * weights), sums(weights)], -1)


def accumulator(model: AttentionModel, request: Request) -> PredictionSums[LayerGradient]:
    """The accumulator for one pass."""
    return PredictionSums[LayerGradient](QUANTITIES, measure, model.layers, model.heads, model.device)


def run(
    model: AttentionModel,
    settings: Settings,
    examples: Iterable[Encoded],
    accumulators: Sequence[PredictionSums[LayerGradient]],
    progress: Progress,
    batch_tokens: int | None,
) -> None:
    """One forward and one backward pass of every segment, its masked words drawn from the settings' seed.

    Args:
        model: A model with the head that predicts words.
        examples: The segments of a chunk.
        accumulators: The sums to fill; they also get the segments that have no token to predict.
        progress: Counts the tokens that are done.
        batch_tokens: The most tokens of a batch; None for the model's default, at most BATCH_TOKENS.
    """
    targets = targets_of(model.checkpoint, model.tokens, settings.seed)
    skipped = Skipped()
    segments = with_words(examples, targets, skipped)
    size = batch_tokens or min(model.batch_tokens, BATCH_TOKENS)
    forward_pass.run(model, segments, accumulators, progress, size, partial(backward, targets=targets))
    for accumulator in accumulators:
        accumulator.without_words = skipped
