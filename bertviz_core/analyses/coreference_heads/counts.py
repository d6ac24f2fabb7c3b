"""Accuracies by head, direction and group of items, for one set of candidates, and their intervals over documents, for
mentions of one document are alike (docs/methods.md, uncertainty)."""

from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np

from bertviz_core.analyses.coreference_heads.guesses import BREAKDOWNS, DIRECTIONS, DISTANCE, EXACT, FOLDS, TYPE_ROWS
from bertviz_core.analyses.findings import Interval, gain_interval, share_interval
from bertviz_core.analyses.proportions import MIN_SCORED, MIN_UNITS, effective_n, share, t_quantile, wilson
from bertviz_core.analyses.results import Result
from bertviz_core.heads import DirectedHead, highest

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
    return np.stack(np.broadcast_arrays(*shared, *own))


def interval_by_document(correct: np.ndarray, n: np.ndarray, moments: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(low, high) of shares: Wilson's interval of the effective counts, with the quantile of Student's t."""
    size, freedom = effective_n(correct, n, moments)
    return wilson(share(correct, n) * size, size, t_quantile(freedom))


class Scores(NamedTuple):
    """Right guesses among n items, and the 95% interval of their share over documents, (..., column); NaN where it is
    exact, or one document has items."""

    right: np.ndarray
    n: np.ndarray
    low: np.ndarray
    high: np.ndarray

    def of(self, groups: str) -> "Scores":
        """Those of TYPE_ROWS ("type"), or of the groups of one of BREAKDOWNS."""
        return Scores(*(part[..., COLUMNS[groups]] for part in self))


@dataclass(frozen=True)
class ItemCounts(Result):
    """Accuracies, best heads, and their intervals over documents, of the counts of one set of candidates."""

    analysis: ClassVar[str] = "coreference_heads"
    stored: Any  # the CoreferenceHeads that they are of
    index: int  # which of CANDIDATES

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
        return pooled(self.stored.item_moments)[0, COLUMNS["type"]].astype(np.int64)

    @property
    def n(self) -> np.ndarray:
        """(type,) items of each of TYPE_ROWS."""
        return pooled(by_row(self.stored.group_n))[COLUMNS["type"]]

    @property
    def systems(self) -> list[str]:
        """Names of chance levels and baselines."""
        return [*EXACT, *self.stored.systems]

    @property
    def directions(self) -> tuple[str, ...]:
        """Those of DIRECTIONS that have counts: in a causal model earlier words attend to no later ones."""
        return DIRECTIONS[:1] if self.is_causal else DIRECTIONS

    @property
    def rows(self) -> np.ndarray:
        """(direction, layer, head, row) right guesses, see `by_row`; NaN where a causal model cannot look ahead."""
        rows = by_row(np.moveaxis(self.stored.correct[:, self.index], 1, -1)).astype(float)
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
        """(system, type) accuracy of the systems; of EXACT the mean of 1 / candidates, and of antecedents /
        candidates (docs/methods.md, section 7)."""
        return np.stack([share(*self.sums_of(name)[:2])[COLUMNS["type"]] for name in self.systems])

    def of_system(self, name: str) -> np.ndarray:
        """(type,) accuracy of one of the systems that heads are compared with."""
        return np.asarray(self.systems_accuracy[self.systems.index(name)])

    def best(self, kind: str = "all", direction: int = 0) -> DirectedHead:
        """The head with the most right guesses on one of TYPE_ROWS in a direction (the paper's is 0), the first of
        equals."""
        return DirectedHead(direction, highest(self.right[direction, TYPE_ROWS.index(kind)]))

    def sums_of(self, at: DirectedHead | str | None = None) -> Sums:
        """The sums (..., column) of a head, of a system, or of all heads (direction, layer, head); see `pooled`."""
        stored = self.stored
        if isinstance(at, str):
            every = np.concatenate([stored.chance[:, self.index], stored.system_correct])  # of EXACT means of draws
            correct = by_row(every[self.systems.index(at)])
            exact = np.full_like(stored.item_moments, np.nan, dtype=float)
            moments = exact if at in EXACT else stored.system_moments[:, stored.systems.index(at)]
        else:
            index = at.at if at else ()
            correct = self.rows[index]
            moments = stored.moments[:, :, self.index][:, *index]
        return pooled(correct), pooled(by_row(stored.group_n)), joint(pooled(stored.item_moments), pooled(moments))

    def scores(self, at: DirectedHead | str | None = None) -> Scores:
        correct, n, moments = self.sums_of(at)
        return Scores(correct, n, *interval_by_document(correct, n, moments))

    def sums_held_out(self, picked_on: str, direction: int) -> Sums:
        """The sums (type,) of the head best in one half of the documents on `picked_on`, in the other half; both halves
        added. No right guesses are known (NaN) where a half has no item of that type."""
        picked = TYPE_ROWS.index(picked_on) * FOLDS
        rows = self.rows[direction]
        moments = self.stored.moments[:, direction, self.index]
        heads = [highest(rows[..., picked + 1 - fold]) for fold in range(FOLDS)]

        def added(rows: np.ndarray) -> np.ndarray:
            return np.sum([rows[..., *head, fold:TYPED:FOLDS] for fold, head in enumerate(heads)], 0)

        both = by_row(self.stored.group_n)[picked : picked + FOLDS].all()
        shared = pooled(self.stored.item_moments)[:, COLUMNS["type"]]
        return np.where(both, added(rows), np.nan), self.n, joint(shared, added(moments))

    def gain(self, system: str, direction: int = 0) -> Interval:
        """How far the best head's held-out accuracy on all mentions is above that of a system, over documents; EXACT
        have no interval."""
        enough = bool(self.n[0] >= MIN_SCORED and self.documents[0] >= MIN_UNITS)
        heldout = self.sums_held_out("all", direction)
        other = self.of_system(system)[0]
        accuracy = share(*heldout[:2])[0]
        size, freedom = (each[0] for each in effective_n(*heldout))
        interval = share_interval(accuracy, size / FOLDS, freedom=freedom / FOLDS, enough=enough)
        if system in EXACT:
            return interval.minus(Interval(other, other))
        size, freedom = (each[0] for each in effective_n(*self.sums_of(system)))
        return gain_interval(accuracy, interval, other, share_interval(other, size, freedom=freedom))

    def row(self, at: DirectedHead | str, kind: str = "all", picked_on: str = "all") -> dict[str, Any]:
        """A row of Table 2: a system, or a head that is best on `picked_on` in its direction, scored on mentions of one
        kind."""
        index = TYPE_ROWS.index(kind)
        right, n, low, high = (part[index].item() for part in self.scores(at).of("type"))
        accuracy = heldout = right / n if n else np.nan
        name, direction = at, ""
        if isinstance(at, DirectedHead):
            correct, n_held_out, _ = self.sums_held_out(picked_on, at.direction)
            direction = DIRECTIONS[at.direction]
            heldout = float(share(correct, n_held_out)[index])
            name = f"head {at.head.label()}" + (f", {direction}" if at.direction else "")
        values = {"accuracy": accuracy, "low": low, "high": high, "heldout_accuracy": heldout, "direction": direction}
        row = {"system": name, "type": kind, "n": n, "documents": int(self.documents[index]), **values}
        if self.is_causal and kind == "all":
            row |= {"n_of_all_mentions": self.of_all, "accuracy_of_all_mentions": right / self.of_all}
        return row
