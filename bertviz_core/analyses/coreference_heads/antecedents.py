"""What tables and figures of coreference heads show."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd

from bertviz_core.analyses.coreference_heads.baselines import CHANCE, RANDOM
from bertviz_core.analyses.coreference_heads.counts import ItemCounts
from bertviz_core.analyses.coreference_heads.document_counts import (
    COLUMNS,
    interval_by_document,
)
from bertviz_core.analyses.coreference_heads.documents import Guess
from bertviz_core.analyses.coreference_heads.guesses import (
    BREAKDOWNS,
    CANDIDATES,
    DIRECTIONS,
    FOLDS,
    TYPE_ROWS,
)
from bertviz_core.analyses.coreference_heads.tables import groups_table, heads_table, table_2
from bertviz_core.analyses.findings import SHOWN, Interval, decide, of_gain, of_share
from bertviz_core.analyses.proportions import MIN_SCORED, MIN_UNITS, Estimate, effective_n, over
from bertviz_core.analyses.results import to_lists
from bertviz_core.corpora.source import Source
from bertviz_core.heads import DirectedHead


@dataclass(frozen=True)
class AntecedentCounts(ItemCounts):
    """Counts of right guesses, and the first documents with every head's guesses.

    Attributes:
        first_documents: The first ones, see `documents.shown`.
        items: (item, 5) their items, see `documents.Items`, the document by its place in that list.
        guess: (direction, layer, head, item) the mention guessed.
        weight: (direction, layer, head, item) the attention that it has.
    """

    first_documents: list[dict[str, Any]]
    items: np.ndarray
    guess: np.ndarray
    weight: np.ndarray

    @property
    def candidates(self) -> str:
        """What the head may choose from: the head words of preceding mentions, or all other words."""
        return str(self.provenance["options"].get("candidates", CANDIDATES[0]))

    def with_predictions(self, predictions: Source, correct: np.ndarray, moments: np.ndarray) -> AntecedentCounts:
        """One more system: another's chains, with right guesses and moments of `baselines.score`."""
        named = {"name": predictions.name, "digest": predictions.digest}
        return replace(
            self,
            provenance=self.provenance | {"options": self.provenance["options"] | {"predictions": named}},
            systems=[*self.systems, f"predictions: {predictions.name}"],
            system_correct=np.concatenate([self.system_correct, correct[None]]),
            system_moments=np.concatenate([self.system_moments, moments[:, None]], 1),
        )

    def estimates(self) -> dict[str, Estimate]:
        """For each type of mention that there is: accuracy from a mention to its antecedent."""
        size, freedom = effective_n(*(each[..., COLUMNS["type"]] for each in self.sums_of(0)))
        return {
            kind: Estimate(self.accuracy[0, row], None, n, size[..., row], freedom[..., row], units, "documents")
            for row, (kind, n, units) in enumerate(
                zip(TYPE_ROWS, self.n.tolist(), self.documents.tolist(), strict=True)
            )
            if n
        }

    @property
    def over(self) -> str:
        return over(int(self.documents[0]), "documents")

    def gain(self, system: str, direction: int = 0) -> Interval:
        """How far the best head's held-out accuracy on all mentions is above that of a system, over documents; CHANCE
        and RANDOM are exact, without an interval."""
        enough = bool(self.n[0] >= MIN_SCORED and self.documents[0] >= MIN_UNITS)
        share, other = self.heldout(direction=direction)[0], self.of_system(system)[0]
        size, freedom = (each[0] for each in effective_n(*self.sums_held_out("all", direction)))
        interval = of_share(share, size / FOLDS, freedom=freedom / FOLDS, enough=enough)
        if system in (CHANCE, RANDOM):
            return interval.minus(Interval(other, other))
        size, freedom = (each[0] for each in effective_n(*self.sums_of(system)))
        return of_gain(share, interval, other, of_share(other, size, freedom=freedom))

    def is_above(self, system: str, direction: int = 0) -> bool:
        """Whether the best head on all mentions is above a system."""
        return bool(decide(self.gain(system, direction)) == SHOWN)

    def better_direction(self) -> DirectedHead | None:
        """The best head of the direction that the paper does not measure, where it finds more; else None."""
        candidates = [self.best(direction=direction) for direction in range(len(self.directions))]
        best = max(candidates, key=lambda choice: self.head_row(choice)["accuracy"])
        return best if best.direction else None

    def to_frame(self) -> pd.DataFrame:
        return table_2(self)

    def tables(self) -> dict[str, pd.DataFrame]:
        return {"heads": heads_table(self), "groups": groups_table(self)}

    def arrays(self) -> dict[str, Any]:
        return {
            "accuracy": to_lists(self.accuracy),
            "directions": list(DIRECTIONS),
            "types": list(TYPE_ROWS),
            "n": to_lists(self.n),
            "single_candidate": self.single,
            "chance": to_lists(self.of_system(CHANCE)),
            "random_candidate": to_lists(self.of_system(RANDOM)),
        }

    def summary(self) -> dict[str, Any]:
        """The head that is best on all mentions by the paper's measure; what is absent is None."""
        row = self.head_row(self.best())
        numbers = {name: row[name] for name in ("accuracy", "low", "high", "heldout_accuracy")}
        absent = {name: None for name, number in numbers.items() if np.isnan(number)}
        chance = {"chance": float(self.of_system(CHANCE)[0]), "random_candidate": float(self.of_system(RANDOM)[0])}
        return {"best": {"head": self.best().head.label(), "direction": row["direction"]} | numbers | absent} | chance

    def by(self, breakdown: str, choice: DirectedHead | str) -> tuple[np.ndarray, np.ndarray]:
        """(group,) right guesses and items of a head, or of a system by name, in the groups of one of BREAKDOWNS."""
        part, _ = BREAKDOWNS[breakdown]
        if isinstance(choice, str):
            return self.system_correct[self.systems.index(choice), part], self.group_n[part]
        return self.correct[choice.direction, part, *choice.head], self.group_n[part]

    def group_intervals(self, breakdown: str, at: DirectedHead | str) -> tuple[np.ndarray, np.ndarray]:
        """(low, high), both (group,), of the accuracies of a head or a system in the groups of one of BREAKDOWNS."""
        low, high = interval_by_document(*self.sums_of(at))
        return low[COLUMNS[breakdown]], high[COLUMNS[breakdown]]

    def guesses(self, document: int, choice: DirectedHead) -> list[Guess]:
        """A head's guesses among preceding mentions, for the items of `first_documents[document]`."""
        mentions = self.first_documents[document]["mentions"]
        guesses = []
        for item in np.flatnonzero(self.items[:, 0] == document):
            mention = int(self.items[item, 1])
            guess, weight = int(self.guess[choice.at][item]), float(self.weight[choice.at][item])
            guesses.append(Guess(mention, guess, weight, mentions[guess][2] == mentions[mention][2]))
        return guesses
