"""Right guesses by head, direction and group of items, for one set of candidates: accuracies, and their intervals over
documents, for mentions of one document are alike (docs/methods.md, uncertainty).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from bertviz_core.analyses.coreference_heads.guesses import BREAKDOWNS, DIRECTIONS, DISTANCE, FOLDS, TYPE_ROWS
from bertviz_core.analyses.proportions import effective_n, share, t_quantile, wilson
from bertviz_core.analyses.results import Result
from bertviz_core.heads import DirectedHead, Head, highest

Sums = tuple[np.ndarray, np.ndarray, np.ndarray]  # right guesses, items, moments: see `proportions.effective_n`
TYPED = len(TYPE_ROWS) * FOLDS  # rows of types, each in each fold
ENDS = np.cumsum([0, *map(len, (TYPE_ROWS, *BREAKDOWNS.values()))])
COLUMNS = dict(zip(("type", *BREAKDOWNS), map(slice, ENDS[:-1], ENDS[1:]), strict=True))  # of the last axis of `pooled`


def by_row(counts: np.ndarray) -> np.ndarray:
    """(..., group) to (..., row): each of TYPE_ROWS in each fold; then the bins of distance, then the genders."""
    every = [counts[..., fold:DISTANCE:FOLDS].sum(-1) for fold in range(FOLDS)]
    return np.concatenate([np.stack(every, -1), counts], -1)


def pooled(rows: np.ndarray) -> np.ndarray:
    """(..., row) to (..., column), both folds of each type added; COLUMNS says what the columns are."""
    typed = rows[..., :TYPED].reshape(*rows.shape[:-1], len(TYPE_ROWS), FOLDS).sum(-1)
    return np.concatenate([typed, rows[..., TYPED:]], -1)


def joint(shared: np.ndarray, own: np.ndarray) -> np.ndarray:
    """(4, ..., column) moments from those of the items (2, column) and those of the right guesses (2, ..., column)."""
    middle = (1,) * (own.ndim - 2)
    return np.concatenate([np.broadcast_to(shared.reshape(2, *middle, -1), own.shape), own])


def interval_by_document(
    correct: np.ndarray, n: np.ndarray, moments: np.ndarray, comparisons: int = 1
) -> tuple[np.ndarray, np.ndarray]:
    """(low, high) of shares: Wilson's interval of the effective counts, with the quantile of Student's t."""
    size, freedom = effective_n(correct, n, moments)
    return wilson(share(correct, n) * size, size, t_quantile(freedom, comparisons))


@dataclass(frozen=True)
class StoredCounts(Result):
    """Counts of right guesses, and the first documents with every head's guesses, of one set of candidates.

    Attributes:
        correct: (direction, group, layer, head) right guesses.
        group_n: (group,) items.
        systems: Names of chance levels and baselines.
        system_correct: (system, group) right guesses, those of CHANCE and RANDOM as means of random draws.
        moments: (2, direction, layer, head, row) sums over documents of n c and c^2, for c right guesses among n items.
            Rows are those of `by_row`.
        system_moments: (2, system, row) the same; NaN for CHANCE and RANDOM.
        item_moments: (2, row) how many documents have items, and the sum of n^2.
        single: Number of items with exactly one candidate.
        first_documents: The first ones, see `passages.document_record`.
        items: (item, 5) their items, see `passages.Items`, the document by its place in that list.
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


class ItemCounts(StoredCounts):
    """Accuracies, best heads, and their intervals over documents."""

    @property
    def is_causal(self) -> bool:
        return bool(self.provenance["model"]["causal"])

    @property
    def of_all(self) -> int:
        """Mentions with an antecedent, whether a causal model can see it or not."""
        return int(self.provenance["items"])

    @property
    def documents(self) -> np.ndarray:
        """(type,) documents with items of each of TYPE_ROWS."""
        return pooled(self.item_moments)[0, COLUMNS["type"]].astype(np.int64)

    @property
    def n(self) -> np.ndarray:
        """(type,) items of each of TYPE_ROWS."""
        return pooled(by_row(self.group_n))[COLUMNS["type"]]

    @property
    def directions(self) -> tuple[str, ...]:
        """Those of DIRECTIONS that have counts: in a causal model earlier words attend to no later ones."""
        return DIRECTIONS[:1] if self.is_causal else DIRECTIONS

    @property
    def rows(self) -> np.ndarray:
        """(direction, layer, head, row) right guesses, see `by_row`; NaN where a causal model cannot look ahead."""
        rows = by_row(np.moveaxis(self.correct, 1, -1)).astype(float)
        rows[len(self.directions) :] = np.nan
        return rows

    @property
    def right(self) -> np.ndarray:
        """(direction, type, layer, head) right guesses."""
        return np.moveaxis(pooled(self.rows)[..., COLUMNS["type"]], -1, 1)

    @property
    def accuracy(self) -> np.ndarray:
        """(direction, type, layer, head), fractions of the items of each of TYPE_ROWS; NaN where there are none."""
        return share(self.right, self.n[:, None, None])

    @property
    def systems_accuracy(self) -> np.ndarray:
        """(system, type) accuracy of the systems; of CHANCE the mean of 1 / candidates, of RANDOM of antecedents /
        candidates (docs/methods.md, section 7)."""
        return share(pooled(by_row(self.system_correct))[:, COLUMNS["type"]], self.n)

    def of_system(self, name: str) -> np.ndarray:
        """(type,) accuracy of one of the systems that heads are compared with."""
        return np.asarray(self.systems_accuracy[self.systems.index(name)])

    def best(self, kind: str = "all", direction: int = 0) -> DirectedHead:
        """The head with the most right guesses on one of TYPE_ROWS in a direction (the paper's is 0), the first of
        equals."""
        return DirectedHead(direction, highest(self.right[direction, TYPE_ROWS.index(kind)]))

    def best_of_fold(self, fold: int, kind: str, direction: int) -> Head:
        """The head with the most right guesses on one type in one half of the documents."""
        return highest(self.rows[direction, :, :, TYPE_ROWS.index(kind) * FOLDS + fold])

    def sums_of(self, at: DirectedHead | str | int) -> Sums:
        """The sums (..., column) of a head, of a system, or of all heads of one direction; see `pooled`."""
        if isinstance(at, str):
            index = self.systems.index(at)
            correct, moments = by_row(self.system_correct[index]), self.system_moments[:, index]
        elif isinstance(at, int):
            correct, moments = self.rows[at], self.moments[:, at]
        else:
            correct, moments = self.rows[at.at], self.moments[:, *at.at]
        return pooled(correct), pooled(by_row(self.group_n)), joint(pooled(self.item_moments), pooled(moments))

    def sums_held_out(self, picked_on: str, direction: int) -> Sums:
        """The sums (type,) of the head best in one half of the documents on `picked_on`, in the other half; both halves
        added. No right guesses are known (NaN) where a half has no item of that type."""
        heads = [self.best_of_fold(1 - fold, picked_on, direction) for fold in range(FOLDS)]

        def added(rows: np.ndarray) -> np.ndarray:
            return np.sum([rows[..., *head, fold:TYPED:FOLDS] for fold, head in enumerate(heads)], 0)

        picked = TYPE_ROWS.index(picked_on) * FOLDS
        both = by_row(self.group_n)[picked : picked + FOLDS].all()
        correct = np.where(both, added(self.rows[direction]), np.nan)
        shared = pooled(self.item_moments)[:, COLUMNS["type"]]
        return correct, self.n, joint(shared, added(self.moments[:, direction]))

    def heldout(self, picked_on: str = "all", direction: int = 0) -> np.ndarray:
        """(type,) accuracy of the head that is best on `picked_on`, read in one direction, in the other half of the
        documents, both halves pooled."""
        correct, n, _ = self.sums_held_out(picked_on, direction)
        return share(correct, n)

    def interval(self, at: DirectedHead | str, kind: str = "all", comparisons: int = 1) -> tuple[float, float]:
        """(low, high) 95% interval over documents of the accuracy of a head, or of a system by name, on one of
        TYPE_ROWS, corrected for `comparisons`; NaN where it is exact, or one document has items."""
        low, high = interval_by_document(*self.sums_of(at), comparisons)
        return float(low[TYPE_ROWS.index(kind)]), float(high[TYPE_ROWS.index(kind)])

    def row(self, at: DirectedHead | str, kind: str = "all", picked_on: str = "all") -> dict[str, Any]:
        """A row of Table 2: a system, or a head that is best on `picked_on` in its direction, scored on mentions of one
        kind."""
        index = TYPE_ROWS.index(kind)
        right, n, documents = float(self.sums_of(at)[0][index]), int(self.n[index]), int(self.documents[index])
        accuracy = heldout = right / n if n else np.nan
        (low, high), name, direction = self.interval(at, kind), at, ""
        if isinstance(at, DirectedHead):
            direction, heldout = DIRECTIONS[at.direction], float(self.heldout(picked_on, at.direction)[index])
            name = f"head {at.head.label()}" + (f", {direction}" if at.direction else "")
        values = {"accuracy": accuracy, "low": low, "high": high, "heldout_accuracy": heldout}
        row = {"system": name, "type": kind, "n": n, "documents": documents, **values, "direction": direction}
        if self.is_causal and kind == "all":
            row |= {"n_of_all_mentions": self.of_all, "accuracy_of_all_mentions": right / self.of_all}
        return row
