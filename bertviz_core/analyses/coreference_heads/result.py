"""What the coreference analysis stores: right guesses for every set of candidates."""

from dataclasses import dataclass, fields
from typing import Any, ClassVar

import numpy as np

from bertviz_core.analyses.coreference_heads.antecedents import AntecedentCounts
from bertviz_core.analyses.coreference_heads.baselines import CHANCE, RANDOM
from bertviz_core.analyses.coreference_heads.guesses import CANDIDATES, check_candidates
from bertviz_core.analyses.results import ViewedResult


@dataclass(frozen=True)
class CoreferenceHeads(ViewedResult):
    """Counts of right guesses, and the first documents with every head's guesses.

    Attributes:
        correct: (direction, candidates, group, layer, head) right guesses; all others are as in AntecedentCounts.
        chance: (2, candidates, group) sums over items of 1 / candidates, and of antecedents / candidates.
        moments: (2, direction, candidates, layer, head, row), as in AntecedentCounts.
    """

    analysis: ClassVar[str] = "coreference_heads"

    correct: np.ndarray
    group_n: np.ndarray
    systems: list[str]
    system_correct: np.ndarray
    chance: np.ndarray
    moments: np.ndarray
    system_moments: np.ndarray
    item_moments: np.ndarray
    single: int
    first_documents: list[dict[str, Any]]
    items: np.ndarray
    guess: np.ndarray
    weight: np.ndarray

    def show(self, candidates: str | None = None) -> AntecedentCounts:
        """The counts for one of CANDIDATES: what a head may choose from, the head words of preceding mentions (where
        nothing is given), or all other words. Raises SettingsError for another."""
        values = {field.name: getattr(self, field.name) for field in fields(self)}
        index = CANDIDATES.index(check_candidates(candidates or CANDIDATES[0]))
        values["correct"], values["moments"] = self.correct[:, index], self.moments[:, :, index]
        values["systems"] = [CHANCE, RANDOM, *self.systems]
        values["system_correct"] = np.concatenate([values.pop("chance")[:, index], self.system_correct])
        exact = np.full((2, 2, self.system_moments.shape[-1]), np.nan)
        values["system_moments"] = np.concatenate([exact, self.system_moments], 1)
        if candidates:
            options = self.provenance["options"] | {"candidates": candidates}
            values["provenance"] = self.provenance | {"options": options}
        return AntecedentCounts(**values)

    def default_view(self) -> AntecedentCounts:
        return self.show()
