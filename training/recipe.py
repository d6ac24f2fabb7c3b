"""What a training is asked to do: the recipe that makes its numbers, and the plan of how far it goes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bertviz_core.errors import SettingsError
from training.penalty import EntropyPenalty


@dataclass(frozen=True, slots=True)
class Recipe:
    """What makes the numbers: a checkpoint goes on only under the same recipe.

    Attributes:
        batch: Segments in a step.
        length: Tokens in a segment.
        rate: Peak learning rate.
        warmup: Steps over which the rate rises.
        seed: Of the order of the text and the masks.
        micro_batches: Equal parts of a step, whose gradients are averaged; processes share them.
        query_key_rate: Peak rate of AdamW on the queries' and keys' matrices; None leaves them to Muon.
        penalty: On the entropy of attention.
    """

    batch: int = 32
    length: int = 128
    rate: float = 1.2e-3
    warmup: int = 200
    seed: int = 0
    micro_batches: int = 1
    query_key_rate: float | None = None
    penalty: EntropyPenalty | None = None

    def query_key_scale(self) -> float | None:
        """The rate on queries and keys as a multiple of the rate; None where Muon has them."""
        return None if self.query_key_rate is None else self.query_key_rate / self.rate

    def check(self, processes: int, layers: int) -> None:
        """Raises SettingsError for what cannot be divided, or a penalty that does not fit the model."""
        if self.batch % self.micro_batches:
            raise SettingsError(
                f"--batch {self.batch} cannot be divided into {self.micro_batches} equal micro-batches.",
                hint="Give a --micro-batches that divides it.",
            )
        if self.micro_batches % processes:
            raise SettingsError(
                f"{processes} processes cannot share {self.micro_batches} micro-batches equally.",
                hint=f"Give a --micro-batches that is a multiple of {processes}.",
            )
        if self.penalty is not None:
            self.penalty.check(layers)


@dataclass(frozen=True, slots=True)
class Plan:
    """How far, and what is kept on the way: may change when a run goes on. A shorter `steps` ends it early."""

    steps: int
    decay: int
    validate_every: int = 1000
    validation_examples: int = 1024
    checkpoint_every: int = 250
    save_at: int = 0

    def saved_steps(self) -> set[int]:
        """0 and about `save_at` log-spaced steps up to the last."""
        return {0, *np.geomspace(1, self.steps, self.save_at).round().astype(int).tolist()} if self.save_at else set()
