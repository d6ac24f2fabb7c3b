"""The passes of the model over a corpus that ablation takes."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np
import torch
from torch import Tensor

from bertviz_core.analyses.ablation.changes import MAX_POSITIONS, Changes, HeadChanges, MeanOutputs, measure, values_of
from bertviz_core.analyses.averages import SegmentAverages
from bertviz_core.analyses.behaviors import Thresholds, behaviors
from bertviz_core.analyses.entropy import measure as entropy
from bertviz_core.analyses.request import Request
from bertviz_core.analyses.sep_gradients.measure import BATCH_TOKENS, with_words
from bertviz_core.analyses.surface_patterns import measure as surface_patterns
from bertviz_core.analyses.surface_patterns import ranked_sinks
from bertviz_core.corpora.skipped import Skipped
from bertviz_core.engine import stream
from bertviz_core.engine.jobs import Progress
from bertviz_core.models.ablation import Restart, WholeModel, predict_whole, predict_without
from bertviz_core.models.encoding import Batch, Encoded
from bertviz_core.models.model import AttentionModel
from bertviz_core.models.word_loss import IGNORED, Predictions, Targets, label

Observe = Callable[[Any], None]


@dataclass
class Passes:
    """Passes over the labeled segments of a corpus, about `count` of them."""

    restart: Restart
    examples: Sequence[Encoded]
    targets: Targets
    progress: Progress
    count: int
    batch_tokens: int
    skipped: Skipped = field(default_factory=Skipped)

    def behaviors(self, request: Request) -> tuple[np.ndarray, str]:
        """(layer, head) labels by the paper's thresholds, on the same segments, unmasked; and the class of the sink."""
        model = self.restart.model
        sums = [analysis.accumulator(model, request) for analysis in (surface_patterns, entropy)]
        self.progress.start("Measuring the behavior of heads", self.count)
        stream.run(model, self.examples, sums, self.progress, self.batch_tokens)
        means = [dict(zip(average.quantities, average.result()["mean"], strict=True)) for average in sums]
        sink = next(iter(ranked_sinks(means[0])), "").removeprefix("to_")
        return behaviors({**means[0], **means[1]}, Thresholds()), sink

    def mean_outputs(self) -> Tensor:
        """(layer, head, width of a head): the mean output of each head over the tokens of the labeled segments."""
        self.progress.start("Measuring the mean outputs of heads", self.count)
        outputs = MeanOutputs()
        self._stream(outputs, self._outputs)
        return outputs.mean

    def heads(self, sums: HeadChanges, mean: Tensor | None, sink: str) -> None:
        """Averages of the changes without each head, one head at a time, and without its attention to the sink."""
        model = self.restart.model
        work = model.heads * model.layers * (model.layers + 1)
        self.progress.start("Switching off each head", self.count * work, "layers")
        self._stream(sums, partial(self._each_head, mean=mean, sink=sink))

    def sets(self, sets: np.ndarray, mean: Tensor | None) -> SegmentAverages:
        """Averages of the change of the loss without each set of heads; sets: (set, layer, head) bool."""
        model = self.restart.model
        sums = SegmentAverages(("loss_change",), values_of, 1, len(sets), model.device)
        work = int((model.layers - sets.any(-1).argmax(-1)).sum())
        self.progress.start("Switching off groups of heads", self.count * work, "layers")
        self._stream(sums, partial(self._each_set, sets=torch.from_numpy(sets).to(model.device), mean=mean))
        return sums

    def _stream(self, sums: Any, passing: stream.PassFunction) -> None:
        """One pass over the labeled segments; `passing` counts the progress, in finer steps than batches."""
        self.skipped = Skipped()
        examples = with_words(self.examples, self.targets, self.skipped)
        batches = Progress(cancelled=self.progress.cancelled)
        stream.run(self.restart.model, examples, [sums], batches, min(self.batch_tokens, BATCH_TOKENS), passing)

    def _outputs(self, model: AttentionModel, batch: Batch, observe: Observe) -> None:
        layers = iter(range(model.layers))

        def combine(weights: Tensor, value: Tensor) -> Tensor:
            output = weights @ value
            observe((next(layers), output))
            return output

        with torch.inference_mode():
            model.encoder(**label(batch, self.targets)[0].inputs(model), combine=combine)
        self.progress.advance(len(batch.examples))

    def _each_head(self, model: AttentionModel, batch: Batch, observe: Observe, mean: Tensor | None, sink: str) -> None:
        shown, labels = label(batch, self.targets)
        whole = predict_whole(self.restart, shown, labels)
        words = _words(batch, labels, whole.predictions, self.targets.shift)
        keys = _sink_tokens(batch, sink)
        has_sink = keys.any(1)[None, :, None]  # without a sink there is no attention to it: absent, not zero
        for layer in range(model.layers):
            heads = torch.zeros(model.heads, model.layers, model.heads, dtype=torch.bool, device=labels.device)
            heads[:, layer].fill_diagonal_(True)
            without = list(self._without(shown, labels, whole, heads, mean=mean))
            to_sink = list(self._without(shown, labels, whole, heads, keys=keys))
            output, attention = (torch.stack([measure(whole.predictions, p) for p in ps]) for ps in (without, to_sink))
            attention = attention.where(has_sink, torch.nan)
            values = torch.cat([output, attention, whole.estimates[layer].T[..., None]], -1)  # (head, batch, quantity)
            worse = torch.stack([_with_guess(words, after) for after in without])
            observe(Changes(layer, values.transpose(0, 1), worse, whole.predictions))

    def _each_set(
        self, model: AttentionModel, batch: Batch, observe: Observe, sets: Tensor, mean: Tensor | None
    ) -> None:
        shown, labels = label(batch, self.targets)
        whole = predict_whole(self.restart, shown, labels)
        first = sets.any(-1).int().argmax(-1)  # the lowest layer of each set
        change = torch.empty(len(batch.examples), len(sets), 1, device=labels.device)
        for layer in first.unique().tolist():
            which = (first == layer).nonzero()[:, 0]
            for at, after in zip(which, self._without(shown, labels, whole, sets[which], mean=mean), strict=True):
                change[:, at] = measure(whole.predictions, after)[:, :1]
        observe(Changes(0, change))

    def _without(
        self, shown: Batch, labels: Tensor, whole: WholeModel, heads: Tensor, **how: Any
    ) -> Iterator[Predictions]:
        """`predict_without`, whose sets (set, layer, head) begin at one layer; counts the progress."""
        layers = self.restart.model.layers - int(heads.any(0).any(-1).int().argmax())
        arguments = (self.restart, shown, labels, whole.inputs, heads)
        for predictions in predict_without(*arguments, batch_tokens=self.batch_tokens, **how):
            yield predictions
            self.progress.advance(layers * len(labels))


def _sink_tokens(batch: Batch, sink: str) -> Tensor:
    """(row, token) whether a token is of the sink's class."""
    first = torch.zeros_like(batch.mask)
    first[:, 0] = sink == "first"
    return {"sep": batch.sep, "cls": batch.cls}.get(sink, first)


def _words(batch: Batch, labels: Tensor, whole: Predictions, shift: int) -> Tensor:
    """(word, field) in the order of FIELDS; fields that need the model without a head are 0."""
    rows, positions = (labels != IGNORED).nonzero().T
    position_id = batch.numbers[rows] * MAX_POSITIONS + positions + shift
    zero = torch.zeros(len(rows), device=labels.device)
    fields = (zero, position_id, labels[rows, positions], whole.guess, zero, whole.word_loss, zero)
    return torch.stack([field.double() for field in fields], -1)


def _with_guess(words: Tensor, after: Predictions) -> Tensor:
    """(word, field) as `_words` gives them, with the prediction of a model without a head filled in."""
    words = words.clone()
    words[:, 0], words[:, 4], words[:, 6] = after.word_loss - words[:, 5], after.guess, after.word_loss
    return words
