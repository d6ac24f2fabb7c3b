"""Right guesses by head, direction and group of items, for one set of candidates: accuracies and their intervals."""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from bertviz_core.analyses.coreference_heads.document_counts import (
    COLUMNS,
    TYPED,
    Sums,
    by_row,
    interval_by_document,
    joint,
    pooled,
)
from bertviz_core.analyses.coreference_heads.guesses import DIRECTIONS, FOLDS, TYPE_ROWS, by_type
from bertviz_core.analyses.proportions import share
from bertviz_core.analyses.results import Result
from bertviz_core.heads import DirectedHead, Head, highest


@dataclass(frozen=True)
class ItemCounts(Result):
    """Counts of right guesses: accuracies, best heads, and their intervals over documents.

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

    @property
    def documents(self) -> np.ndarray:
        """(type,) documents with items of each of TYPE_ROWS."""
        return pooled(self.item_moments)[0, COLUMNS["type"]].astype(np.int64)

    def interval(self, at: DirectedHead | str, kind: str = "all", comparisons: int = 1) -> tuple[float, float]:
        """(low, high) 95% interval over documents of the accuracy of a head, or of a system by name; NaN where it is
        exact, or one document has items.

        Args:
            at: The head and its direction, or the system.
            kind: One of TYPE_ROWS.
            comparisons: How many intervals are to hold together (Bonferroni).
        """
        low, high = interval_by_document(*self.sums_of(at), comparisons)
        return float(low[TYPE_ROWS.index(kind)]), float(high[TYPE_ROWS.index(kind)])

    def heldout_interval(
        self, picked_on: str = "all", direction: int = 0, comparisons: int = 1
    ) -> tuple[np.ndarray, np.ndarray]:
        """(low, high), both (type,), of what `heldout` gives."""
        return interval_by_document(*self.sums_held_out(picked_on, direction), comparisons)

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

    def best(self, kind: str = "all", direction: int = 0) -> DirectedHead:
        """The head with the most right guesses on one type, the first of equals.

        Args:
            kind: One of TYPE_ROWS.
            direction: The index in DIRECTIONS in which heads are read; by default the paper's.
        """
        return DirectedHead(direction, highest(self.typed[direction, TYPE_ROWS.index(kind)].sum(-1)))

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

    def of_system(self, name: str) -> np.ndarray:
        """(type,) accuracy of one of the systems; of CHANCE the mean of 1 / candidates, of RANDOM of antecedents /
        candidates (docs/methods.md, section 7)."""
        return np.asarray(self.systems_accuracy[self.systems.index(name)])

    @property
    def systems_accuracy(self) -> np.ndarray:
        """(system, type) accuracy of the systems that heads are compared with."""
        return share(by_type(self.system_correct).sum(-1), self.n)

    def head_row(self, choice: DirectedHead, kind: str = "all", picked_on: str = "all") -> dict[str, Any]:
        """A row of Table 2: a head that is best on `picked_on` in its direction, scored on mentions of one kind."""
        row, direction = TYPE_ROWS.index(kind), DIRECTIONS[choice.direction]
        right = self.typed.sum(-1)[:, row][choice.at]
        name = f"head {choice.head.label()}" + (f", {direction}" if choice.direction else "")
        return self.row(choice, name, kind, right, self.heldout(picked_on, choice.direction)[row], direction)

    def row(
        self, at: DirectedHead | str, system: str, kind: str, right: float, heldout: float, direction: str = ""
    ) -> dict[str, Any]:
        """A row of Table 2 for a head or a system."""
        n, documents = (int(counts[TYPE_ROWS.index(kind)]) for counts in (self.n, self.documents))
        low, high = self.interval(at, kind)
        values = {"accuracy": right / n if n else np.nan, "low": low, "high": high, "heldout_accuracy": float(heldout)}
        return {"system": system, "type": kind, "n": n, "documents": documents, **values, "direction": direction}

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

    def sums_of(self, at: DirectedHead | str | int) -> Sums:
        """The sums (..., column) of a head, of a system, or of all heads of one direction; see `pooled`."""
        if isinstance(at, str):
            index = self.systems.index(at)
            correct, moments = self.system_correct[index], self.system_moments[:, index]
        elif isinstance(at, int):
            correct, moments = np.moveaxis(self.known[at], 0, -1), self.moments[:, at]
        else:
            correct, moments = self.known[at.direction, :, *at.head], self.moments[:, at.direction, *at.head]
        shared, n = pooled(self.item_moments), pooled(by_row(self.group_n))
        return pooled(by_row(correct)), n, joint(shared, pooled(moments))

    def sums_held_out(self, picked_on: str, direction: int) -> Sums:
        """The sums (type,) of the head best in one half of the documents, in the other half; both halves added."""
        heads = [self.best_of_fold(1 - fold, picked_on, direction) for fold in range(FOLDS)]

        def added(rows: np.ndarray) -> np.ndarray:
            return np.sum([rows[..., *head, fold:TYPED:FOLDS] for fold, head in enumerate(heads)], 0)

        correct = added(by_row(np.moveaxis(self.known[direction], 0, -1)))
        correct = np.where(np.isnan(self.heldout(picked_on, direction)), np.nan, correct)
        shared = pooled(self.item_moments)[:, COLUMNS["type"]]
        return correct, self.n, joint(shared, added(self.moments[:, direction]))
