"""From each checkpoint's ordinary results to one result of the whole training."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from bertviz_core.analyses.dependency_heads.result import DependencyHeads, shown_relations
from bertviz_core.emergence.result import Emergence

ANALYSES = ("surface_patterns", "entropy", "dependency_heads")  # without one of these a checkpoint is left out
LOSS = "sep_gradients"  # whose masked-word loss is shown, where a checkpoint has the head for it
NO_HEAD = ("uniform",)  # of the entropy's quantities: the same for every head


@dataclass(frozen=True, slots=True)
class Moment:
    """What is kept of one checkpoint.   tokens: -1 where not known.   loss, right: NaN where there is no head for it.
    averages: (quantity, layer, head), named by `quantities`.   dependency: as its page shows it at first,
    without the sentences.   origins: analysis -> provenance."""

    step: int
    tokens: int
    loss: float
    right: float
    quantities: list[str]
    averages: np.ndarray
    uniform: float
    dependency: DependencyHeads
    origins: dict[str, dict[str, Any]]


def moment(step: int, tokens: int, results: Mapping[str, Any]) -> Moment:
    """What is kept of a checkpoint's results; LOSS may be missing among them."""
    surface, entropy, gradients = results["surface_patterns"], results["entropy"], results.get(LOSS)
    named = [name for name in entropy.quantities if name not in NO_HEAD]
    return Moment(
        step=step,
        tokens=tokens,
        loss=gradients.loss if gradients else float("nan"),
        right=gradients.accuracy if gradients else float("nan"),
        quantities=[*surface.quantities, *named],
        averages=np.stack([*surface.mean, *(entropy[name] for name in named)]).astype(np.float32),
        uniform=entropy.uniform,
        dependency=shown_relations(_without_sentences(results["dependency_heads"])),
        origins={name: result.provenance for name, result in results.items()},
    )


def _without_sentences(result: DependencyHeads) -> DependencyHeads:
    """The counts alone: all checkpoints' are in memory together."""
    nothing = np.zeros((*result.guesses.shape[:-1], 0), dtype=np.uint8)
    return replace(result, sentences=[], guesses=nothing, weights=nothing)


def assemble(moments: Sequence[Moment], provenance: dict[str, Any]) -> Emergence:
    """The checkpoints' numbers as one result, by rising step. They are of one shape, vocabulary, text and treebank."""
    last = moments[-1]
    correct = np.stack([moment.dependency.correct for moment in moments])
    return Emergence(
        provenance=provenance,
        steps=np.array([moment.step for moment in moments], dtype=np.int64),
        tokens=np.array([moment.tokens for moment in moments], dtype=np.int64),
        loss=np.array([moment.loss for moment in moments]),
        right=np.array([moment.right for moment in moments]),
        quantities=last.quantities,
        averages=np.stack([moment.averages for moment in moments]),
        uniform=last.uniform,
        relations=last.dependency.relations,
        n=last.dependency.n,
        correct=correct.astype(np.min_scalar_type(int(correct.max()))),
        offsets=last.dependency.offsets,
        offset_correct=last.dependency.offset_correct,
    )
