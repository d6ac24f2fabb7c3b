"""Right guesses by head, direction and group of items, for one set of candidates: what tables and figures show."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import pandas as pd

from bertviz_core.analyses.coreference_heads.baselines import CHANCE, RANDOM
from bertviz_core.analyses.coreference_heads.document_counts import (
    COLUMNS,
    interval_by_document,
    pooled,
    sums_held_out,
    sums_of,
)
from bertviz_core.analyses.coreference_heads.documents import Guess
from bertviz_core.analyses.coreference_heads.guesses import (
    BREAKDOWNS,
    CANDIDATES,
    DIRECTIONS,
    FOLDS,
    TYPE_ROWS,
    by_type,
)
from bertviz_core.analyses.coreference_heads.tables import groups_table, heads_table, table_2
from bertviz_core.analyses.findings import SHOWN, Interval, decide, of_gain, of_share
from bertviz_core.analyses.proportions import MIN_SCORED, MIN_UNITS, Estimate, effective_n, share
from bertviz_core.analyses.results import Result, to_lists
from bertviz_core.heads import Choice, Head, highest

if TYPE_CHECKING:
    from bertviz_core.corpora.source import Source


@dataclass(frozen=True, slots=True)
class AntecedentCounts(Result):
    """Counts of right guesses, and the first documents with every head's guesses.

    Attributes:
        correct: (direction, group, layer, head) right guesses.
        group_n: (group,) items.
        systems: Names of chance levels, baselines and uploaded predictions.
        system_correct: (system, group) right guesses, those of CHANCE and RANDOM as means of random draws.
        moments: (2, direction, layer, head, row) sums over documents of n c and c^2, for c right guesses among n items.
            Rows are those of `document_counts.by_row`.
        system_moments: (2, system, row) the same; NaN for CHANCE and RANDOM.
        item_moments: (2, row) how many documents have items, and the sum of n^2.
        single: Items with exactly one word to choose from.
        first_documents: The first ones, see `documents.shown`.
        items: (item, 5) their items, see `documents.Items`, the document by its place in that list.
        guess: (direction, layer, head, item) the mention guessed.
        weight: (direction, layer, head, item) the attention that it has.
    """

    analysis: ClassVar[str] = "coreference_heads"

    correct: np.ndarray
    group_n: np.ndarray
    systems: list[str]
    system_correct: np.ndarray
    moments: np.ndarray
    system_moments: np.ndarray
    item_moments: np.ndarray
    single: int
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
        size, freedom = effective_n(*(each[..., COLUMNS["type"]] for each in sums_of(self, 0)))
        return {
            kind: Estimate(self.accuracy[0, row], None, n, size[..., row], freedom[..., row], units, "documents")
            for row, (kind, n, units) in enumerate(
                zip(TYPE_ROWS, self.n.tolist(), self.documents.tolist(), strict=True)
            )
            if n
        }

    @property
    def documents(self) -> np.ndarray:
        """(type,) documents with items of each of TYPE_ROWS."""
        return pooled(self.item_moments)[0, COLUMNS["type"]].astype(np.int64)

    def interval(self, at: Choice | str, kind: str = "all", comparisons: int = 1) -> tuple[float, float]:
        """(low, high) 95% interval over documents of the accuracy of a head, or of a system by name; NaN where it is
        exact, or one document has items.

        Args:
            at: The head and its direction, or the system.
            kind: One of TYPE_ROWS.
            comparisons: How many intervals are to hold together (Bonferroni).
        """
        low, high = interval_by_document(*sums_of(self, at), comparisons)
        return float(low[TYPE_ROWS.index(kind)]), float(high[TYPE_ROWS.index(kind)])

    def heldout_interval(
        self, picked_on: str = "all", direction: int = 0, comparisons: int = 1
    ) -> tuple[np.ndarray, np.ndarray]:
        """(low, high), both (type,), of what `heldout` gives."""
        return interval_by_document(*sums_held_out(self, picked_on, direction), comparisons)

    @property
    def n(self) -> np.ndarray:
        """(type,) items of each of TYPE_ROWS."""
        return by_type(self.group_n).sum(-1)

    @property
    def accuracy(self) -> np.ndarray:
        """(direction, type, layer, head), fractions of the items of each of TYPE_ROWS; NaN where there are none, and
        for the attention of earlier words to later ones in a causal model."""
        return share(self.typed.sum(-1), self.n[:, None, None])

    @property
    def directions(self) -> tuple[str, ...]:
        """Those of DIRECTIONS that have counts: in a causal model earlier words attend to no later ones."""
        return DIRECTIONS[:1] if self.provenance["model"]["causal"] else DIRECTIONS

    def best(self, kind: str = "all", direction: int = 0) -> Choice:
        """The head with the most right guesses on one type, the first of equals.

        Args:
            kind: One of TYPE_ROWS.
            direction: The index in DIRECTIONS in which heads are read; by default the paper's.
        """
        return Choice(direction, highest(self.typed[direction, TYPE_ROWS.index(kind)].sum(-1)))

    def heldout(self, picked_on: str = "all", direction: int = 0) -> np.ndarray:
        """(type,) accuracy of the head that is best on `picked_on`, read in one direction, in the other half of the
        documents, both halves pooled; NaN where a half has no item of that type."""
        typed = self.typed[direction]  # (type, layer, head, fold)
        if not by_type(self.group_n)[TYPE_ROWS.index(picked_on)].all():
            return np.full(len(TYPE_ROWS), np.nan)
        right = np.zeros(len(TYPE_ROWS))
        for fold in range(FOLDS):
            right += typed[:, *self.best_of_fold(1 - fold, picked_on, direction), fold]
        return share(right, self.n)

    def best_of_fold(self, fold: int, kind: str, direction: int) -> Head:
        """The head with the most right guesses on one type in one half of the documents."""
        return highest(self.typed[direction, TYPE_ROWS.index(kind), :, :, fold])

    def gain(self, system: str, direction: int = 0) -> Interval:
        """How far the best head's held-out accuracy on all mentions is above that of a system, over documents; CHANCE
        and RANDOM are exact, without an interval."""
        enough = bool(self.n[0] >= MIN_SCORED and self.documents[0] >= MIN_UNITS)
        share, other = self.heldout(direction=direction)[0], self.of_system(system)[0]
        size, freedom = (each[0] for each in effective_n(*sums_held_out(self, "all", direction)))
        interval = of_share(share, size / FOLDS, freedom=freedom / FOLDS, enough=enough)
        if system in (CHANCE, RANDOM):
            return interval.minus(Interval(other, other))
        size, freedom = (each[0] for each in effective_n(*sums_of(self, system)))
        return of_gain(share, interval, other, of_share(other, size, freedom=freedom))

    def is_above(self, system: str, direction: int = 0) -> bool:
        """Whether the best head on all mentions is above a system."""
        return bool(decide(self.gain(system, direction)) == SHOWN)

    def of_system(self, name: str) -> np.ndarray:
        """(type,) accuracy of one of the systems; of CHANCE the mean of 1 / candidates, of RANDOM of antecedents /
        candidates (docs/methods.md, section 7)."""
        return np.asarray(self.systems_accuracy[self.systems.index(name)])

    def better_direction(self) -> Choice | None:
        """The best head of the direction that the paper does not measure, where it finds more; else None."""
        candidates = [self.best(direction=direction) for direction in range(len(self.directions))]
        best = max(candidates, key=lambda choice: self.head_row(choice)["accuracy"])
        return best if best.direction else None

    @property
    def systems_accuracy(self) -> np.ndarray:
        """(system, type) accuracy of the systems that heads are compared with."""
        return share(by_type(self.system_correct).sum(-1), self.n)

    def head_row(self, choice: Choice, kind: str = "all", picked_on: str = "all") -> dict[str, Any]:
        """A row of Table 2: a head that is best on `picked_on` in its direction, scored on mentions of one kind."""
        row, direction = TYPE_ROWS.index(kind), DIRECTIONS[choice.direction]
        right = self.typed.sum(-1)[:, row][choice.at]
        name = f"head {choice.head.label()}" + (f", {direction}" if choice.direction else "")
        return self.row(choice, name, kind, right, self.heldout(picked_on, choice.direction)[row], direction)

    def row(
        self, at: Choice | str, system: str, kind: str, right: float, heldout: float, direction: str = ""
    ) -> dict[str, Any]:
        """A row of Table 2 for a head or a system."""
        n, documents = (int(counts[TYPE_ROWS.index(kind)]) for counts in (self.n, self.documents))
        low, high = self.interval(at, kind)
        values = {"accuracy": right / n if n else np.nan, "low": low, "high": high, "heldout_accuracy": float(heldout)}
        return {"system": system, "type": kind, "n": n, "documents": documents, **values, "direction": direction}

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

    def by(self, breakdown: str, choice: Choice | str) -> tuple[np.ndarray, np.ndarray]:
        """(group,) right guesses and items of a head, or of a system by name, in the groups of one of BREAKDOWNS."""
        part, _ = BREAKDOWNS[breakdown]
        if isinstance(choice, str):
            return self.system_correct[self.systems.index(choice), part], self.group_n[part]
        return self.correct[choice.direction, part, *choice.head], self.group_n[part]

    def group_intervals(self, breakdown: str, at: Choice | str) -> tuple[np.ndarray, np.ndarray]:
        """(low, high), both (group,), of the accuracies of a head or a system in the groups of one of BREAKDOWNS."""
        low, high = interval_by_document(*sums_of(self, at))
        return low[COLUMNS[breakdown]], high[COLUMNS[breakdown]]

    def guesses(self, document: int, choice: Choice) -> list[Guess]:
        """A head's guesses among preceding mentions, for the items of `first_documents[document]`."""
        mentions = self.first_documents[document]["mentions"]
        guesses = []
        for item in np.flatnonzero(self.items[:, 0] == document):
            mention = int(self.items[item, 1])
            guess, weight = int(self.guess[choice.at][item]), float(self.weight[choice.at][item])
            guesses.append(Guess(mention, guess, weight, mentions[guess][2] == mentions[mention][2]))
        return guesses

    @property
    def known(self) -> np.ndarray:
        """`correct`; NaN where a causal model cannot look ahead."""
        known = self.correct.astype(float)
        if self.provenance["model"]["causal"]:
            known[1] = np.nan
        return known

    @property
    def typed(self) -> np.ndarray:
        """(direction, type, layer, head, fold) right guesses; NaN where a causal model cannot look ahead."""
        return np.moveaxis(by_type(np.moveaxis(self.known, 1, -1)), 3, 1)
