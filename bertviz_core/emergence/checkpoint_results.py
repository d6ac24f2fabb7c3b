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
class CheckpointResults:
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


def checkpoint_results(step: int, tokens: int, results: Mapping[str, Any]) -> CheckpointResults:
    """What is kept of a checkpoint's results; LOSS may be missing among them."""
    surface, entropy, gradients = results["surface_patterns"], results["entropy"], results.get(LOSS)
    named = [name for name in entropy.quantities if name not in NO_HEAD]
    return CheckpointResults(
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


def assemble(checkpoints: Sequence[CheckpointResults], provenance: dict[str, Any]) -> Emergence:
    """The checkpoints' numbers as one result, by rising step. They are of one shape, vocabulary, text and treebank."""
    last = checkpoints[-1]
    correct = np.stack([checkpoint_results.dependency.correct for checkpoint_results in checkpoints])
    return Emergence(
        provenance=provenance,
        steps=np.array([checkpoint_results.step for checkpoint_results in checkpoints], dtype=np.int64),
        tokens=np.array([checkpoint_results.tokens for checkpoint_results in checkpoints], dtype=np.int64),
        loss=np.array([checkpoint_results.loss for checkpoint_results in checkpoints]),
        right=np.array([checkpoint_results.right for checkpoint_results in checkpoints]),
        quantities=last.quantities,
        averages=np.stack([checkpoint_results.averages for checkpoint_results in checkpoints]),
        uniform=last.uniform,
        relations=last.dependency.relations,
        n=last.dependency.n,
        correct=correct.astype(np.min_scalar_type(int(correct.max()))),
        offsets=last.dependency.offsets,
        offset_correct=last.dependency.offset_correct,
    )
