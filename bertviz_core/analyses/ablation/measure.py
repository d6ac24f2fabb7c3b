"""The passes of an ablation: without each head, without its attention to the sink, and without groups of heads
(docs/methods.md, section 12)."""

from collections.abc import Callable, Iterator, Sequence
from functools import partial

import numpy as np
import torch
from torch import Tensor

from bertviz_core.analyses.ablation.changes import HeadChanges, LayerChanges, SetChanges, change_of, words_of
from bertviz_core.analyses.ablation.result import QUANTITIES, Ablation, GroupRecord
from bertviz_core.analyses.base.accumulators import SegmentSums
from bertviz_core.analyses.base.corpus_run import RunStage
from bertviz_core.analyses.base.request import Request
from bertviz_core.analyses.base.result import Provenance
from bertviz_core.analyses.base.statistics import t_quantile
from bertviz_core.analyses.behaviors import BEHAVIORS, OTHER, Thresholds, behaviors
from bertviz_core.analyses.entropy import measure as entropy
from bertviz_core.analyses.surface_patterns import measure as surface_patterns
from bertviz_core.analyses.surface_patterns.result import sinks
from bertviz_core.corpora import Skipped
from bertviz_core.engine import forward_pass
from bertviz_core.engine.progress import Progress
from bertviz_core.heads import Head
from bertviz_core.inputs.encoding import Batch, Encoded, buckets, collate
from bertviz_core.inputs.segments import Segments
from bertviz_core.models.ablation import Restart, WholeModel, mean_outputs, predict_whole, predict_without
from bertviz_core.models.loss import BATCH_TOKENS, Labels, Predictions, mask_and_label, targets_of, with_words
from bertviz_core.models.model import AttentionModel

DRAWS = 5  # random sets of heads for each group
PRUNED_SETS = 20  # sets of the pruning curve, the empty one not counted


class AblationRun:
    """The passes over the labeled segments of a corpus that one request takes, and what they measure.

    The change of the loss without a set H of heads is the mean over segments s of L_s^-H - L_s, in nats, with L_s the
    whole model's loss in the segment (docs/methods.md, section 12).

    Attributes:
        request: The request, which has the seed and the options.
        heads: The averages of QUANTITIES for each head.
        skipped: Segments that have no word to predict.
        sink: The class of the token that receives the most attention; empty where no input has one. Set by `run`, as
            are those that follow.
        removals: The sets (layer, head) of the pruning curve, from no head to all.
        groups: The heads (layer, head) of each behavior and layer, followed by the random draws.
        sets: The average change for each of these sets but the empty one.
    """

    def __init__(self, model: AttentionModel, request: Request) -> None:
        self.model = model
        self.request = request
        self.targets = targets_of(model.checkpoint, model.tokens, request.settings.seed)
        self.heads = HeadChanges(QUANTITIES, lambda _, changes: changes.values, model.layers, model.heads, model.device)
        self.skipped = Skipped()

    def run(
        self, examples: Sequence[Encoded], run_stage: RunStage, progress: Progress, batch_tokens: int | None
    ) -> None:
        """Measure behaviors, then the loss without each head, then the loss without sets of heads.

        Args:
            examples: The segments.
            run_stage: Not used: the passes need one another's results, so that one process computes them.
            progress: Counts the layers that are computed; raises Cancelled.
            batch_tokens: The most tokens of a batch; None for the model's default.
        """
        layers = self.model.layers
        self.restart = Restart(self.model)
        self.progress = progress
        self.batch_tokens = batch_tokens or self.model.batch_tokens
        labels, self.sink = self.behaviors(examples)
        self.examples = list(with_words(examples, self.targets, self.skipped))
        replacement = self.request.options.get("replace")
        self.uniform = replacement == "uniform"
        self.mean = self._mean_outputs() if replacement == "mean" else None
        work = self.model.heads * layers * (layers + 1)
        self._stream("Ablating each head", work, self.heads, self._each_head)
        self.removals = removals(self.heads.result()["mean"][0])
        self.groups = groups(labels, self.request.settings.seed)
        of_groups = [heads for sets in self.groups.values() for heads in sets]
        sets = torch.from_numpy(np.stack(self.removals[1:] + of_groups))  # (set, layer, head)
        self.sets: SegmentSums[SetChanges] = SegmentSums(
            ("loss_change",), lambda _, changes: changes.values, 1, len(sets), self.model.device
        )
        work = int((layers - _lowest_layer(sets)).sum())
        self._stream("Ablating groups of heads", work, self.sets, partial(self._each_set, sets=sets))

    def behaviors(self, examples: Sequence[Encoded]) -> tuple[np.ndarray, str]:
        """Measure the behavior of each head on all segments, unmasked (docs/methods.md, section 9).

        Returns:
            (layer, head) labels by the default thresholds; and the class of the sink, empty where no input has one.
        """
        sums = [analysis.accumulator(self.model, self.request) for analysis in (surface_patterns, entropy)]
        self.progress.start("Measuring the behavior of heads", sum(map(len, examples)), "tokens")
        forward_pass.run(self.model, examples, sums, self.progress, self.batch_tokens)
        means = dict[str, np.ndarray]()
        for each in sums:
            means |= zip(each.quantities, each.result()["mean"], strict=True)
        ranked = sinks(means)
        return behaviors(means, Thresholds()), ranked[0].removeprefix("to_") if ranked else ""

    def _stream(
        self, stage: str, work: int, sums: forward_pass.Accumulator, passing: forward_pass.PassFunction
    ) -> None:
        """One pass over the labeled segments; `passing` counts the progress, `work` layers of each segment."""
        self.progress.start(stage, len(self.examples) * work, "layers")
        batches = Progress(cancelled=self.progress.cancelled)
        forward_pass.run(self.model, self.examples, [sums], batches, min(self.batch_tokens, BATCH_TOKENS), passing)

    def _mean_outputs(self) -> Tensor:
        """(layer, head, width of a head): the mean output of each head over the tokens of the labeled segments."""
        self.progress.start("Measuring the mean outputs of heads", len(self.examples), "segments")
        batch_tokens = min(self.batch_tokens, BATCH_TOKENS)

        def batches() -> Iterator[Batch]:
            for examples in buckets(self.examples, batch_tokens, self.model.length_limit):
                batch = collate(examples, self.model.tokens, self.model.device)
                yield mask_and_label(batch, self.targets)[0]
                self.progress.advance(len(examples))

        return mean_outputs(self.model, batches())

    def _each_head(self, model: AttentionModel, batch: Batch, observe: Callable[[LayerChanges], None]) -> None:
        shown, labels = mask_and_label(batch, self.targets)
        whole = predict_whole(self.restart, shown, labels)
        first = torch.zeros_like(batch.mask)
        first[:, 0] = self.sink == "first"
        keys = {"sep": batch.sep, "cls": batch.cls}.get(self.sink, first)  # (batch, key)
        has_sink = keys.any(1)[None, :, None]  # Without a sink there is no attention to it: absent, not zero.
        for layer in range(model.layers):
            heads = torch.zeros(model.heads, model.layers, model.heads, dtype=torch.bool)
            heads[:, layer].fill_diagonal_(True)
            without = list(self._without(shown, labels, whole, heads, mean=self.mean))
            to_sink = self._without(shown, labels, whole, heads, keys=keys)
            output = change_of(whole.predictions, without)
            attention = change_of(whole.predictions, to_sink).where(has_sink, torch.nan)
            estimate = whole.estimates[layer].T[..., None]
            values = torch.cat([output, attention, estimate], -1)  # (head, batch, quantity)
            words = words_of(batch, labels, self.targets.shift, whole.predictions, without)
            observe(LayerChanges(layer, values.transpose(0, 1), words, whole.predictions))

    def _each_set(
        self, model: AttentionModel, batch: Batch, observe: Callable[[SetChanges], None], sets: Tensor
    ) -> None:
        shown, labels = mask_and_label(batch, self.targets)
        whole = predict_whole(self.restart, shown, labels)
        first = _lowest_layer(sets)
        change = torch.empty(len(batch.examples), len(sets), 1, device=batch.ids.device)
        for layer in first.unique().tolist():
            at = (first == layer).nonzero().flatten()
            without = self._without(shown, labels, whole, sets[at], mean=self.mean)
            change[:, at] = change_of(whole.predictions, without)[..., :1].transpose(0, 1)
        observe(SetChanges(0, change))

    def _without(
        self,
        shown: Batch,
        labels: Labels,
        whole: WholeModel,
        heads: Tensor,
        *,
        keys: Tensor | None = None,
        mean: Tensor | None = None,
    ) -> Iterator[Predictions]:
        """`predict_without` for sets (set, layer, head) that begin at the same layer; counts the progress."""
        layers = self.model.layers - int(_lowest_layer(heads)[0])
        for predictions in predict_without(
            self.restart,
            shown,
            labels,
            whole.inputs,
            heads,
            keys=keys,
            mean=mean,
            uniform=self.uniform and keys is None,
            batch_tokens=self.batch_tokens,
        ):
            yield predictions
            self.progress.advance(layers * len(shown.ids))


def _lowest_layer(sets: Tensor) -> Tensor:
    """(set,) the lowest layer of each set of heads (set, layer, head)."""
    return sets.any(-1).int().argmax(-1)


def groups(labels: np.ndarray, seed: int) -> dict[str, list[np.ndarray]]:
    """Group the heads by behavior and by layer, with random draws for comparison (docs/methods.md, section 12, Groups).

    Args:
        labels: (layer, head) the behavior of each head.
        seed: The seed of the draws.

    Returns:
        For each group its heads, (layer, head) bool, followed by DRAWS sets of as many random heads of the same layers,
        unless the group is all heads of its layers.
    """
    groups = {name: [labels == name] for name in BEHAVIORS if name != OTHER and (labels == name).any()}
    layer_of = np.indices(labels.shape)[0]
    groups |= {f"layer {layer + 1}": [layer_of == layer] for layer in range(len(labels))}
    for index, sets in enumerate(groups.values()):
        counts = sets[0].sum(1, keepdims=True)  # (layer, 1)
        order = np.random.default_rng([seed % 2**64, index]).random((DRAWS, *labels.shape)).argsort(-1)
        if not np.isin(counts, (0, labels.shape[1])).all():
            sets.extend(order < counts)
    return groups


def removals(change: np.ndarray) -> list[np.ndarray]:
    """Sets of the least important heads (docs/methods.md, section 12, Pruning curve).

    Args:
        change: (layer, head) the change of the loss without each head, nats.

    Returns:
        About PRUNED_SETS + 1 sets (layer, head) bool, from no head to all heads.
    """
    order = np.argsort(change, axis=None, kind="stable")
    rank = np.argsort(order)
    counts = np.unique(np.linspace(0, change.size, PRUNED_SETS + 1).round().astype(int))
    return [(rank < count).reshape(change.shape) for count in counts]


def finish(run: AblationRun, segments: Segments, provenance: Provenance) -> Ablation:
    """Create the result: averages for each head, a record for each group, the pruning curve, and the worst words.

    Args:
        run: A finished run.
        segments: The corpus as it was read.
        provenance: What the result was computed from.
    """
    fields = run.heads.fields(segments)
    averages = run.sets.result()
    curve = len(run.removals) - 1
    change = averages["mean"][0, 0].tolist()
    interval = (t_quantile(averages["effective_units"][0] - 1) * averages["error"][0, 0]).tolist()
    records: list[GroupRecord] = []
    first = curve  # The sets of the next group begin at this number.
    for name, sets in run.groups.items():
        end = first + len(sets)
        draws = change[first + 1 : end]
        records.append(
            {
                "name": name,
                "heads": [Head(*at).key() for at in np.argwhere(sets[0]).tolist()],
                "loss_change": change[first],
                "interval": None if np.isnan(interval[first]) else interval[first],
                "random_loss_change": float(np.mean(draws)) if draws else None,
                "random_draws": draws,
            }
        )
        first = end
    return Ablation(
        provenance=provenance,
        **fields,
        sink=run.sink,
        groups=records,
        removed=np.array([int(removal.sum()) for removal in run.removals]),
        removed_loss=fields["loss"] + np.append(0.0, change[:curve]),
        **run.heads.worst_words(run.examples, run.targets, segments.tokens),
    )
