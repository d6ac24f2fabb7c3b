"""Right guesses of antecedents for one set of candidates, with intervals over documents (docs/methods.md,
Uncertainty)."""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
import pandas as pd

from bertviz_core.analyses.base.findings import GAIN, SHOWN, Interval, decide_worth, gain_interval, share_interval
from bertviz_core.analyses.base.guess_lists import StoredParts
from bertviz_core.analyses.base.result import Result, tidy, to_lists
from bertviz_core.analyses.base.statistics import (
    MIN_SCORED,
    MIN_UNITS,
    Estimate,
    Sums,
    effective_n,
    share,
    t_quantile,
    units_text,
    wilson,
)
from bertviz_core.analyses.coreference_heads.baselines import EXACT, SIMPLE
from bertviz_core.analyses.coreference_heads.groups import (
    BREAKDOWNS,
    COLUMNS,
    FOLDS,
    TYPE_ROW_COUNT,
    TYPE_ROWS,
    by_row,
    columns_of,
    pooled,
)
from bertviz_core.analyses.coreference_heads.guesses import CANDIDATES, DIRECTIONS
from bertviz_core.corpora.language import is_english
from bertviz_core.heads import DirectedHead, Head, all_keys, highest

CAUSAL = (
    "A token of this model sees only what comes earlier: only mentions with an antecedent whose head word comes "
    "earlier count, and heads, baselines and random candidates alike choose among earlier words; antecedent → mention "
    "is absent. The claim's details and the key numbers have the share of all mentions that have an antecedent."
)


def interval_by_document(correct: np.ndarray, n: np.ndarray, moments: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(low, high) of shares: Wilson's interval of the effective counts, with the quantile of Student's t
    (docs/methods.md, Uncertainty, Shares)."""
    size, freedom = effective_n(correct, n, moments)
    return wilson(share(correct, n) * size, size, t_quantile(freedom))


class AntecedentAccuracy(NamedTuple):
    """Right guesses among items, and the 95% interval of their share over documents (docs/methods.md, section 7).

    Attributes:
        right: (..., column) right guesses; means where a system is exact.
        n: (..., column) items.
        low: (..., column) lower ends of the intervals of right / n; NaN where it is exact, or one document has items.
        high: (..., column) upper ends.
    """

    right: np.ndarray
    n: np.ndarray
    low: np.ndarray
    high: np.ndarray

    def of(self, breakdown: str, kind: str = "all") -> "AntecedentAccuracy":
        """Those of TYPE_ROWS ("type") or of one of BREAKDOWNS, see `columns_of`."""
        return AntecedentAccuracy(*(part[..., columns_of(breakdown, kind)] for part in self))


@dataclass(frozen=True)
class AntecedentCounts(Result):
    """What tables and figures show of the counts for one set of candidates: accuracies and best heads.

    Attributes:
        stored: The CoreferenceHeads with the counts.
        index: Which of CANDIDATES is counted.
        lists: The StoredParts with the guesses of all items; None for those of `stored` alone.
    """

    analysis: ClassVar[str] = "coreference_heads"
    stored: Any
    index: int
    lists: StoredParts | None = None

    def with_lists(self, lists: StoredParts | None) -> Self:
        return self if self.is_whole else replace(self, lists=lists)

    @property
    def is_whole(self) -> bool:
        """Whether `stored` has the guesses of all items."""
        return bool(len(self.stored.items) == self.n[0])

    @property
    def has_one_candidate_each(self) -> bool:
        """Whether most mentions have only one candidate among the preceding mentions."""
        return bool(self.candidates == CANDIDATES[0] and 2 * self.stored.single > self.n[0])

    @cached_property
    def counts_as_paper(self) -> bool:
        """Whether the paper's numbers are of the same language, and count the same mentions."""
        words = (word for document in self.stored.first_documents for word in document["words"])
        return not self.is_causal and is_english(words)

    @property
    def candidates(self) -> str:
        """The candidates, one of CANDIDATES."""
        return CANDIDATES[self.index]

    @property
    def restriction(self) -> str:
        return CAUSAL if self.is_causal else ""

    @property
    def units_text(self) -> str:
        return self.units_of("all")

    def units_of(self, kind: str) -> str:
        """The units of the intervals of one of TYPE_ROWS, as "38 documents"."""
        return units_text(int(self.documents[TYPE_ROWS.index(kind)]), "documents")

    @property
    def is_causal(self) -> bool:
        """Whether a token attends only to itself and to earlier ones."""
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
        """The names of what heads are compared with: the exact means, then the baselines."""
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

    def scores(self, at: DirectedHead | str | None = None) -> AntecedentAccuracy:
        """The accuracies, with intervals, of what `sums_of` adds up: a head, a system, or all heads."""
        correct, n, moments = self.sums_of(at)
        return AntecedentAccuracy(correct, n, *interval_by_document(correct, n, moments))

    def best_of_halves(self, picked_on: str, direction: int) -> list[Head]:
        """For each half of the documents the head that is best on the mentions `picked_on` of the other half."""
        picked = TYPE_ROWS.index(picked_on) * FOLDS
        return [highest(self.rows[direction][..., picked + 1 - fold]) for fold in range(FOLDS)]

    def sums_held_out(self, picked_on: str, direction: int) -> Sums:
        """The sums (type,) of the heads best in one half of the documents on `picked_on`, scored in the other half; no
        right guesses are known (NaN) where a half has no item of `picked_on`."""
        picked = TYPE_ROWS.index(picked_on) * FOLDS
        rows = self.rows[direction]
        heads = self.best_of_halves(picked_on, direction)

        def added(rows: np.ndarray) -> np.ndarray:
            return np.sum([rows[..., *head, fold:TYPE_ROW_COUNT:FOLDS] for fold, head in enumerate(heads)], 0)

        n = by_row(self.stored.group_n)[picked : picked + FOLDS]
        right = np.where(n.all(), added(rows), np.nan)
        moments = added(self.stored.moments[:, direction, self.index])
        shared = pooled(self.stored.item_moments)[:, COLUMNS["type"]]
        return right, self.n, np.stack(np.broadcast_arrays(*shared, *moments))

    def gain(self, system: str, direction: int = 0, kind: str = "all") -> Interval:
        """How far the best head's held-out accuracy on the mentions of one of TYPE_ROWS is above that of a system."""
        row = TYPE_ROWS.index(kind)
        enough = bool(self.n[row] >= MIN_SCORED and self.documents[row] >= MIN_UNITS)
        heldout = self.sums_held_out(kind, direction)
        accuracy = share(*heldout[:2])[row]
        other = self.of_system(system)[row]
        size, freedom = (each[row] for each in effective_n(*heldout))
        interval = share_interval(accuracy, size / FOLDS, freedom=freedom / FOLDS, enough=enough)
        if system in EXACT:  # An exact system has no interval.
            return interval.minus(Interval(other, other))
        size, freedom = (each[row] for each in effective_n(*self.sums_of(system)))
        return gain_interval(accuracy, interval, other, share_interval(other, size, freedom=freedom))

    def held_out(self, direction: int = 0, kind: str = "all") -> float:
        """The held-out accuracy of the best head on the mentions of one of TYPE_ROWS."""
        return float(share(*self.sums_held_out(kind, direction)[:2])[TYPE_ROWS.index(kind)])

    def simple_gain(self, direction: int = 0, kind: str = "all") -> Interval:
        """How far the best head's held-out accuracy is above each of SIMPLE: above the one to which it is closest."""
        gains = [self.gain(system, direction, kind) for system in SIMPLE]
        return Interval(min(gain.low for gain in gains), min(gain.high for gain in gains), gains[0].enough)

    def above(self, system: str, direction: int = 0, kind: str = "all") -> np.ndarray:
        """The state, a scalar, of "the best head is above a system, by GAIN or more".

        Args:
            system: The system, one of `systems`.
            direction: The direction in which heads are read, an index of DIRECTIONS.
            kind: The mentions that are scored, one of TYPE_ROWS.
        """
        difference = self.held_out(direction, kind) - self.of_system(system)[TYPE_ROWS.index(kind)]
        return decide_worth(self.gain(system, direction, kind), difference, GAIN)

    def simple_difference(self, direction: int = 0, kind: str = "all") -> float:
        """The best head's held-out accuracy minus that of the best of SIMPLE."""
        others = [self.of_system(system)[TYPE_ROWS.index(kind)] for system in SIMPLE]
        return float(self.held_out(direction, kind) - max(others))

    def above_simple(self, direction: int = 0, kind: str = "all") -> np.ndarray:
        """The state, a scalar, of "the best head is above each of SIMPLE, by GAIN or more"; arguments as of `above`."""
        return decide_worth(self.simple_gain(direction, kind), self.simple_difference(direction, kind), GAIN)

    def row(self, at: DirectedHead | str, kind: str = "all") -> dict[str, Any]:
        """A row of Table 2. The best head on the mentions that are scored has its held-out accuracy; any other head has
        none, and of a system nothing is chosen.

        Args:
            at: A system, or a head with its direction.
            kind: The mentions that are scored, one of TYPE_ROWS.
        """
        index = TYPE_ROWS.index(kind)
        right, n, low, high = (part[index].item() for part in self.scores(at).of("type"))
        accuracy = right / n if n else np.nan
        heldout = accuracy
        name = at
        direction = ""
        if isinstance(at, DirectedHead):
            heldout = self.held_out(at.direction, kind) if at == self.best(kind, at.direction) else np.nan
            direction = DIRECTIONS[at.direction]
            name = f"head {at.head.key()}" + (f", {direction}" if at.direction else "")
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

    def estimates(self) -> dict[str, Estimate]:
        """For each type of mention that there is: accuracy from a mention to its antecedent."""
        size, freedom = (each[0] for each in effective_n(*self.sums_of()))  # (layer, head, column)
        estimates = {}
        for row, kind in enumerate(TYPE_ROWS):
            if n := int(self.n[row]):
                sizes = (n, size[..., row], freedom[..., row], int(self.documents[row]))
                estimates[kind] = Estimate(self.accuracy[0, row], None, *sizes, "documents")
        return estimates

    def finds_antecedents(self) -> bool:
        """Whether the best head on all mentions is above every baseline of SIMPLE, by GAIN or more."""
        return bool(self.above_simple() == SHOWN)

    def to_frame(self) -> pd.DataFrame:
        """Table 2: the systems, the best heads of all types and of each type; last that of the other direction."""
        best, *others = (self.best(direction=direction) for direction in range(len(self.directions)))
        rows = [self.row(name, kind) for name in self.systems for kind in TYPE_ROWS]
        rows += [self.row(best, kind) for kind in TYPE_ROWS]
        for kind, n in zip(TYPE_ROWS[1:], self.n[1:], strict=True):
            if n and self.best(kind) != best:
                rows.append(self.row(self.best(kind), kind))
        rows += [self.row(other, kind) for other in others for kind in TYPE_ROWS]
        return pd.DataFrame(rows)

    def tables(self) -> dict[str, pd.DataFrame]:
        """Every head on every type of mention; every head and system by distance for every type, and by gender."""
        labels = all_keys(*self.accuracy.shape[2:])
        scores = self.scores()
        right, low, high = (np.moveaxis(part, -1, 1) for part in (scores.right, scores.low, scores.high))
        n = np.broadcast_to(scores.n[:, None, None], right.shape)
        of_heads = {"n": n, "right": right, "accuracy": share(right, n), "low": low, "high": high}
        of_heads = {name: part.reshape(*part.shape[:2], -1) for name, part in of_heads.items()}
        of_systems = np.stack([self.sums_of(system)[0] for system in self.systems])  # (system, column)
        groups = []
        for breakdown, kind in (*(("distance", kind) for kind in TYPE_ROWS), ("gender", "pronoun")):
            names = BREAKDOWNS[breakdown]
            own = columns_of(breakdown, kind)
            counts = {"n": np.tile(scores.n[own], (len(self.systems), 1)), "right": of_systems[:, own]}
            groups.append(tidy({"system": self.systems, "group": names}, counts).assign(type=kind))
            axes = {"direction": DIRECTIONS, "group": names, "system": [f"head {label}" for label in labels]}
            groups.append(tidy(axes, {name: of_heads[name][:, own] for name in counts}).assign(type=kind))
        by_group = pd.concat(groups, ignore_index=True)
        typed = {name: part[:, COLUMNS["type"]] for name, part in of_heads.items()}
        return {
            "heads": tidy({"direction": DIRECTIONS, "type": TYPE_ROWS, "head": labels}, typed),
            "groups": by_group.assign(accuracy=share(by_group["right"], by_group["n"].to_numpy())),
        }

    def arrays(self) -> dict[str, Any]:
        """Accuracies (direction, type, layer, head), items of each type, and the two exact systems by type."""
        chance, random = map(to_lists, self.systems_accuracy[: len(EXACT)])
        return {
            "accuracy": to_lists(self.accuracy),
            "directions": list(DIRECTIONS),
            "types": list(TYPE_ROWS),
            **({"n_of_all_mentions": self.of_all} if self.is_causal else {}),
            "n": to_lists(self.n),
            "single_candidate": self.stored.single,
            "chance": chance,
            "random_candidate": random,
        }
