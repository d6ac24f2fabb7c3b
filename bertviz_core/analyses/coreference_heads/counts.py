"""Accuracies by head, direction and group of items, with intervals over documents (docs/methods.md, uncertainty)."""

from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np

from bertviz_core.analyses.base.findings import Interval, gain_interval, share_interval
from bertviz_core.analyses.base.result import Result
from bertviz_core.analyses.base.statistics import MIN_SCORED, MIN_UNITS, Sums, effective_n, share, t_quantile, wilson
from bertviz_core.analyses.coreference_heads.guesses import (
    BREAKDOWNS,
    DIRECTIONS,
    DISTANCE,
    EXACT,
    FOLDS,
    SIMPLE,
    TYPE_ROWS,
)
from bertviz_core.heads import DirectedHead, highest

TYPED = len(TYPE_ROWS) * FOLDS  # rows of types
ENDS = np.cumsum([0, *map(len, (TYPE_ROWS, *BREAKDOWNS.values()))])
COLUMNS = dict(zip(("type", *BREAKDOWNS), map(slice, ENDS[:-1], ENDS[1:]), strict=True))  # of the last axis of `pooled`


def by_row(counts: np.ndarray) -> np.ndarray:
    """(..., group) to (..., row): each of TYPE_ROWS in each fold; then the bins of distance, then the genders."""
    of_all_types = [counts[..., fold:DISTANCE:FOLDS].sum(-1) for fold in range(FOLDS)]
    return np.concatenate([np.stack(of_all_types, -1), counts], -1)


def pooled(rows: np.ndarray) -> np.ndarray:
    """(..., row) to (..., column), both folds of each type added; see COLUMNS."""
    by_fold = rows[..., :TYPED].reshape(*rows.shape[:-1], -1, FOLDS)
    return np.concatenate([by_fold.sum(-1), rows[..., TYPED:]], -1)


def interval_by_document(correct: np.ndarray, n: np.ndarray, moments: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(low, high) of shares: Wilson's interval of the effective counts, with the quantile of Student's t."""
    size, freedom = effective_n(correct, n, moments)
    return wilson(share(correct, n) * size, size, t_quantile(freedom))


class Scores(NamedTuple):
    """(..., column) right guesses among n items, and the 95% interval of their share over documents; NaN where it is
    exact, or one document has items."""

    right: np.ndarray
    n: np.ndarray
    low: np.ndarray
    high: np.ndarray

    def of(self, groups: str) -> "Scores":
        """Those of TYPE_ROWS ("type") or of one of BREAKDOWNS."""
        return Scores(*(part[..., COLUMNS[groups]] for part in self))


@dataclass(frozen=True)
class ItemCounts(Result):
    """Accuracies and best heads for one set of candidates."""

    analysis: ClassVar[str] = "coreference_heads"
    stored: Any  # the CoreferenceHeads
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
        """(type,) items of TYPE_ROWS."""
        return pooled(by_row(self.stored.group_n))[COLUMNS["type"]]

    @property
    def systems(self) -> list[str]:
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
        """(direction, type, layer, head); NaN where there are no items."""
        return share(self.right, self.n[:, None, None])

    @property
    def systems_accuracy(self) -> np.ndarray:
        """(system, type); of EXACT the means of 1 / candidates, and of antecedents / candidates."""
        return np.stack([self.of_system(name) for name in self.systems])

    def of_system(self, name: str) -> np.ndarray:
        """(type,) accuracy of a system."""
        scores = self.scores(name).of("type")
        return share(scores.right, scores.n)

    def best(self, kind: str = "all", direction: int = 0) -> DirectedHead:
        """The head with the most right guesses on one of TYPE_ROWS, the first of equals."""
        return DirectedHead(direction, highest(self.right[direction, TYPE_ROWS.index(kind)]))

    def sums_of(self, at: DirectedHead | str | None = None) -> Sums:
        """The sums (..., column) of a head, of a system, or of all heads (direction, layer, head)."""
        stored = self.stored
        moments = np.full(stored.item_moments.shape, np.nan)
        if not isinstance(at, str):
            index = at.at if at else ()
            correct = self.rows[index]
            moments = stored.moments[:, :, self.index][:, *index]
        elif at in EXACT:
            correct = by_row(stored.chance[EXACT.index(at), self.index])
        else:
            system = stored.systems.index(at)
            correct = by_row(stored.system_correct[system].astype(float))
            moments = stored.system_moments[:, system]
        shared = pooled(stored.item_moments)
        all_moments = np.stack(np.broadcast_arrays(*shared, *pooled(moments)))  # (4, ..., column)
        return pooled(correct), pooled(by_row(stored.group_n)), all_moments

    def scores(self, at: DirectedHead | str | None = None) -> Scores:
        correct, n, moments = self.sums_of(at)
        return Scores(correct, n, *interval_by_document(correct, n, moments))

    def sums_held_out(self, picked_on: str, direction: int) -> Sums:
        """The sums (type,) of the heads best in one half of the documents on `picked_on`, scored in the other half; no
        right guesses are known (NaN) where a half has no item of `picked_on`."""
        picked = TYPE_ROWS.index(picked_on) * FOLDS
        rows = self.rows[direction]
        heads = [highest(rows[..., picked + 1 - fold]) for fold in range(FOLDS)]

        def added(rows: np.ndarray) -> np.ndarray:
            return np.sum([rows[..., *head, fold:TYPED:FOLDS] for fold, head in enumerate(heads)], 0)

        n = by_row(self.stored.group_n)[picked : picked + FOLDS]
        right = np.where(n.all(), added(rows), np.nan)
        moments = added(self.stored.moments[:, direction, self.index])
        shared = pooled(self.stored.item_moments)[:, COLUMNS["type"]]
        return right, self.n, np.stack(np.broadcast_arrays(*shared, *moments))

    def gain(self, system: str, direction: int = 0) -> Interval:
        """How far the best head's held-out accuracy on all mentions is above that of a system."""
        enough = bool(self.n[0] >= MIN_SCORED and self.documents[0] >= MIN_UNITS)
        heldout = self.sums_held_out("all", direction)
        accuracy = share(*heldout[:2])[0]
        other = self.of_system(system)[0]
        size, freedom = (each[0] for each in effective_n(*heldout))
        interval = share_interval(accuracy, size / FOLDS, freedom=freedom / FOLDS, enough=enough)
        if system in EXACT:  # has no interval
            return interval.minus(Interval(other, other))
        size, freedom = (each[0] for each in effective_n(*self.sums_of(system)))
        return gain_interval(accuracy, interval, other, share_interval(other, size, freedom=freedom))

    def simple_gain(self, direction: int = 0) -> Interval:
        """How far the best head's held-out accuracy is above each of SIMPLE: above the one to which it is closest."""
        gains = [self.gain(system, direction) for system in SIMPLE]
        return Interval(min(gain.low for gain in gains), min(gain.high for gain in gains), gains[0].enough)

    def row(self, at: DirectedHead | str, kind: str = "all", picked_on: str = "all") -> dict[str, Any]:
        """A row of Table 2: a system, or a head that is best on `picked_on` in its direction, scored on one kind."""
        index = TYPE_ROWS.index(kind)
        right, n, low, high = (part[index].item() for part in self.scores(at).of("type"))
        accuracy = right / n if n else np.nan
        heldout = accuracy
        name = at
        direction = ""
        if isinstance(at, DirectedHead):
            correct, n_held_out, _ = self.sums_held_out(picked_on, at.direction)
            heldout = float(share(correct, n_held_out)[index])
            direction = DIRECTIONS[at.direction]
            name = f"head {at.head.label()}" + (f", {direction}" if at.direction else "")
        row = {
            "system": name,
            "type": kind,
            "n": n,
            "documents": int(self.documents[index]),
            "accuracy": accuracy,
            "low": low,
            "high": high,
            "heldout_accuracy": heldout,
            "direction": direction,
        }
        if self.is_causal and kind == "all":
            row |= {"n_of_all_mentions": self.of_all, "accuracy_of_all_mentions": right / self.of_all}
        return row
