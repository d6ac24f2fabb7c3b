"""Ablation: the loss without each head, without groups of heads, and without attention to the sink (beyond the
paper; docs/methods.md, section 12)."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

import numpy as np

from bertviz_core.analyses.ablation.changes import HeadChanges, values_of
from bertviz_core.analyses.ablation.passes import Passes
from bertviz_core.analyses.ablation.result import QUANTITIES, Ablation
from bertviz_core.analyses.averages import SegmentAverages
from bertviz_core.analyses.behaviors import BEHAVIORS, OTHER
from bertviz_core.analyses.proportions import t_quantile
from bertviz_core.analyses.request import Request
from bertviz_core.analyses.results import with_skipped
from bertviz_core.corpora.skipped import Skipped
from bertviz_core.engine.jobs import Progress
from bertviz_core.errors import InputError
from bertviz_core.heads import Head
from bertviz_core.models.ablation import Restart
from bertviz_core.models.encoding import Encoded
from bertviz_core.models.model import AttentionModel
from bertviz_core.models.segments import Segments
from bertviz_core.models.word_loss import Targets, targets_of

DRAWS, POINTS = 5, 20


@dataclass(frozen=True)
class Group:
    """Heads (layer, head) that are removed together; `draws` are as many random ones, none where a draw would be the
    group."""

    name: str
    heads: np.ndarray
    draws: tuple[np.ndarray, ...] = ()


@dataclass
class AblationSums:
    """The accumulated values of one request, in the order of the passes that measure them."""

    request: Request
    model: AttentionModel
    targets: Targets
    heads: HeadChanges
    sink: str = ""
    groups: list[Group] = field(default_factory=list)
    removals: list[np.ndarray] = field(default_factory=list)
    sets: SegmentAverages | None = None
    skipped: Skipped = field(default_factory=Skipped)


def accumulator(model: AttentionModel, request: Request) -> AblationSums:
    """Create the accumulator that the passes of `run` fill."""
    sums = HeadChanges(QUANTITIES, values_of, model.layers, model.heads, model.device)
    return AblationSums(request, model, targets_of(model.checkpoint, model.tokens, request.settings.seed), sums)


def run(
    measured: AblationSums, examples: Sequence[Encoded], run_stage: Any, progress: Progress, batch_tokens: int | None
) -> None:
    """The passes of a request: behaviors; mean outputs, where they are asked for; each head; sets of heads."""
    request, size = measured.request, batch_tokens or measured.model.batch_tokens
    passes = Passes(Restart(measured.model), examples, measured.targets, progress, progress.total, size)
    labels, measured.sink = passes.behaviors(request)
    mean = passes.mean_outputs() if request.options.get("mean") else None
    passes.heads(measured.heads, mean, measured.sink)
    if not measured.heads.predicted[3]:
        hint = "Give text with words."
        raise InputError("No segment has a token to predict.", where=request.source.name, hint=hint)
    measured.removals = removals(measured.heads.result()["mean"][0])
    measured.groups = groups(labels, request.settings.seed)
    sets = [*measured.removals[1:], *(heads for group in measured.groups for heads in (group.heads, *group.draws))]
    measured.sets = passes.sets(np.stack(sets), mean)
    measured.skipped = passes.skipped


def finish(measured: AblationSums, segments: Segments, provenance: dict[str, Any]) -> Ablation:
    """The result of an ablation from what its passes measured."""
    heads, sets = measured.heads, measured.sets
    assert sets is not None, "every pass was run"
    loss, right, predicted, count = heads.predicted.tolist()
    averages = sets.result()
    change = averages["mean"][0, 0]
    interval = t_quantile(averages["effective_units"][0] - 1) * averages["error"][0, 0]
    points = len(measured.removals) - 1
    return Ablation(
        provenance=with_skipped(provenance, measured.skipped),
        **heads.result(),
        texts=heads.texts(segments.tokens),
        loss=loss / count,
        right=int(right),
        predicted=int(predicted),
        sink=measured.sink,
        groups=[*_records(measured.groups, zip(change[points:].tolist(), interval[points:].tolist(), strict=True))],
        removed=np.array([int(removal.sum()) for removal in measured.removals]),
        removed_loss=loss / count + np.concatenate([[0.0], change[:points]]),
        **heads.worst_words(measured.targets, segments.tokens),
    )


def _records(groups: list[Group], values: Iterable[tuple[float, float]]) -> Iterator[dict[str, Any]]:
    """The groups as JSON; `values` are the changes with half their intervals, each group's and then its draws'."""
    values = iter(values)
    for group in groups:
        change, interval = next(values)
        draws = [draw for draw, _ in islice(values, len(group.draws))]
        yield {
            "name": group.name,
            "heads": [Head(*at).label() for at in np.argwhere(group.heads).tolist()],
            "loss_change": change,
            "interval": None if np.isnan(interval) else interval,
            "random_loss_change": float(np.mean(draws)) if draws else None,
            "random_draws": draws,
        }


def groups(labels: np.ndarray, seed: int) -> list[Group]:
    """The groups to switch off together: each behavior of `labels` (layer, head), and each layer."""
    named = [(name, labels == name) for name in BEHAVIORS if name != OTHER and (labels == name).any()]
    layers = [(f"layer {i + 1}", np.arange(len(labels))[:, None] == i) for i in range(len(labels))]
    every = [(name, np.broadcast_to(heads, labels.shape)) for name, heads in (*named, *layers)]
    return [Group(name, heads, _draws(heads, [seed % 2**64, i])) for i, (name, heads) in enumerate(every)]


def _draws(heads: np.ndarray, seed: list[int]) -> tuple[np.ndarray, ...]:
    """Random sets with as many heads of each layer as a group has, drawn without replacement."""
    counts = heads.sum(1)
    if set(counts.tolist()) <= {0, heads.shape[1]}:
        return ()
    draw = np.random.default_rng(seed)
    orders = draw.random((DRAWS, *heads.shape)).argsort(-1)  # (draw, layer, head)
    return tuple(orders < counts[None, :, None])


def removals(change: np.ndarray) -> list[np.ndarray]:
    """(layer, head) bool sets of the first heads by `change` (layer, head), the least important first: none, then about
    POINTS more, the last of all heads."""
    order = np.argsort(change, axis=None, kind="stable")
    rank = np.argsort(order)
    counts = np.unique(np.linspace(0, change.size, POINTS + 1).round().astype(int))
    return [(rank < count).reshape(change.shape) for count in counts]
