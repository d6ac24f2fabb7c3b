"""Ablation: the masked-word loss without each head, without groups of heads, and without attention to [SEP] (beyond the
paper; docs/methods.md, section 12)."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from bertviz_core.analyses.ablation.changes import HeadChanges, values_of
from bertviz_core.analyses.ablation.groups import Group, groups, removals
from bertviz_core.analyses.ablation.result import QUANTITIES, Ablation
from bertviz_core.analyses.averages import SegmentAverages
from bertviz_core.analyses.results import with_skipped
from bertviz_core.corpora.skipped import Skipped
from bertviz_core.errors import InputError

if TYPE_CHECKING:
    from bertviz_core.analyses.request import Request
    from bertviz_core.engine.progress import Progress
    from bertviz_core.models.model import AttentionModel
    from bertviz_core.models.segments import Segments


@dataclass
class Measured:
    """The values that the passes of one request measure, in the order of the passes."""

    request: Request
    heads: HeadChanges
    groups: list[Group] = field(default_factory=list)
    removals: list[np.ndarray] = field(default_factory=list)
    sets: SegmentAverages | None = None
    skipped: Skipped = field(default_factory=Skipped)


def accumulator(model: AttentionModel, request: Request) -> Measured:
    """The accumulator that the passes of `run` fill."""
    return Measured(request, HeadChanges(QUANTITIES, values_of, model.layers, model.heads, model.device))


def run(
    model: AttentionModel,
    examples: Segments,
    accumulators: list[Measured],
    progress: Progress,
    batch_tokens: int | None,
) -> None:
    """The passes of each request: behaviors; mean outputs, where they are asked for; each head; sets of heads."""
    from bertviz_core.analyses.ablation.passes import Passes
    from bertviz_core.models.ablation import Restart
    from bertviz_core.models.masking import Masking

    masking = Masking.of(model.tokens, examples.settings.seed)
    passes = Passes(Restart(model), examples, masking, progress, progress.total, batch_tokens or model.batch_tokens)
    for measured in accumulators:
        labels = passes.behaviors(measured.request)
        mean = passes.mean_outputs() if measured.request.options.get("mean") else None
        passes.heads(measured.heads, mean)
        if not measured.heads.predicted[3]:
            hint = "Give text with words."
            raise InputError("No segment has a token to mask.", where=examples.source.name, hint=hint)
        measured.removals = removals(measured.heads.result()["mean"][0])
        measured.groups = groups(labels, examples.settings.seed)
        sets = [*measured.removals[1:], *(heads for group in measured.groups for heads in (group.heads, *group.draws))]
        measured.sets = passes.sets(np.stack(sets), mean)
        measured.skipped = passes.skipped


def finish(measured: Measured, segments: Segments, provenance: dict[str, Any]) -> Ablation:
    """The result of an ablation from what its passes measured."""
    from bertviz_core.models.masking import Masking

    heads, sets = measured.heads, measured.sets
    assert sets is not None, "every pass was run"
    loss, right, masked, count = heads.predicted.tolist()
    averages = sets.result()
    change, interval = averages["mean"][0, 0], 1.96 * averages["error"][0, 0]
    points = len(measured.removals) - 1
    masking = Masking.of(segments.tokens, segments.settings.seed)
    return Ablation(
        provenance=with_skipped(provenance, measured.skipped),
        **heads.result(),
        texts=heads.texts(segments.tokens),
        loss=loss / count,
        right=int(right),
        masked=int(masked),
        groups=_records(measured.groups, change[points:], interval[points:]),
        removed=np.array([int(removal.sum()) for removal in measured.removals]),
        removed_loss=loss / count + np.concatenate([[0.0], change[:points]]),
        **heads.words.result(heads.examples, masking, segments.tokens),
    )


def _records(groups: list[Group], change: np.ndarray, interval: np.ndarray) -> list[dict[str, Any]]:
    """The groups as JSON; `change` and `interval` hold each group's, then its draws'."""
    records, at = [], 0
    for group in groups:
        draws = [float(value) for value in change[at + 1 : at + 1 + len(group.draws)]]
        heads = [f"{layer + 1}-{head + 1}" for layer, head in np.argwhere(group.heads)]
        records.append(
            {
                "name": group.name,
                "heads": heads,
                "loss_change": float(change[at]),
                "interval": None if np.isnan(interval[at]) else float(interval[at]),
                "random_loss_change": float(np.mean(draws)) if draws else None,
                "random_draws": draws,
            }
        )
        at += 1 + len(draws)
    return records
