"""What the coreference analysis stores, right guesses for every set of candidates; what its tables and figures show of
them; and the tables: Table 2, every head by type, and all by distance and gender.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

import numpy as np
import pandas as pd

from bertviz_core.analyses.coreference_heads.counts import COLUMNS, ItemCounts, StoredCounts, interval_by_document
from bertviz_core.analyses.coreference_heads.document_figure import Guess
from bertviz_core.analyses.coreference_heads.guesses import (
    BREAKDOWNS,
    CANDIDATES,
    CHANCE,
    DIRECTIONS,
    FOLDS,
    RANDOM,
    TYPE_ROWS,
    check_candidates,
)
from bertviz_core.analyses.findings import SHOWN, Interval, decide, gain_interval, share_interval
from bertviz_core.analyses.proportions import MIN_SCORED, MIN_UNITS, Estimate, effective_n, share, units_text
from bertviz_core.analyses.results import ViewedResult, tidy, to_lists
from bertviz_core.heads import DirectedHead, all_heads

CAUSAL = (
    "A token of this model sees only what comes earlier: only mentions with an antecedent whose head word comes "
    "earlier count, and heads, baselines and random candidates alike choose among earlier words; antecedent → mention "
    "is absent. Beside it stands the share of all mentions that have an antecedent."
)


@dataclass(frozen=True)
class CoreferenceHeads(ViewedResult, StoredCounts):
    """Counts of right guesses for every set of candidates: `correct` (direction, candidates, group, layer, head) and
    `moments` (2, direction, candidates, layer, head, row) have one more axis than StoredCounts says.

    Attributes:
        chance: (2, candidates, group) sums over items of 1 / candidates, and of antecedents / candidates.
    """

    chance: np.ndarray

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


class AntecedentCounts(ItemCounts):
    """What tables and figures show of the counts for one set of candidates."""

    @property
    def candidates(self) -> str:
        """The candidates of a guess: the head words of preceding mentions, or all other words."""
        return str(self.provenance["options"].get("candidates", CANDIDATES[0]))

    @property
    def restriction(self) -> str:
        return CAUSAL if self.is_causal else ""

    @property
    def units_text(self) -> str:
        return units_text(int(self.documents[0]), "documents")

    def estimates(self) -> dict[str, Estimate]:
        """For each type of mention that there is: accuracy from a mention to its antecedent."""
        size, freedom = effective_n(*(each[..., COLUMNS["type"]] for each in self.sums_of(0)))
        counts = zip(TYPE_ROWS, self.n.tolist(), self.documents.tolist(), strict=True)
        return {
            kind: Estimate(self.accuracy[0, row], None, n, size[..., row], freedom[..., row], units, "documents")
            for row, (kind, n, units) in enumerate(counts)
            if n
        }

    def gain(self, system: str, direction: int = 0) -> Interval:
        """How far the best head's held-out accuracy on all mentions is above that of a system, over documents; CHANCE
        and RANDOM are exact, without an interval."""
        enough = bool(self.n[0] >= MIN_SCORED and self.documents[0] >= MIN_UNITS)
        share, other = self.heldout(direction=direction)[0], self.of_system(system)[0]
        size, freedom = (each[0] for each in effective_n(*self.sums_held_out("all", direction)))
        interval = share_interval(share, size / FOLDS, freedom=freedom / FOLDS, enough=enough)
        if system in (CHANCE, RANDOM):
            return interval.minus(Interval(other, other))
        size, freedom = (each[0] for each in effective_n(*self.sums_of(system)))
        return gain_interval(share, interval, other, share_interval(other, size, freedom=freedom))

    def is_above(self, system: str) -> bool:
        """Whether the best head on all mentions is above a system."""
        return bool(decide(self.gain(system)) == SHOWN)

    def better_direction(self) -> DirectedHead | None:
        """The best head of the direction that the paper does not measure, if it finds more antecedents; else None."""
        each = [self.best(direction=direction) for direction in range(len(self.directions))]
        best = max(each, key=lambda choice: float(self.accuracy[:, 0][choice.at]))
        return best if best.direction else None

    def by(self, breakdown: str, at: DirectedHead | str) -> tuple[np.ndarray, np.ndarray]:
        """(group,) right guesses and items of a head, or of a system by name, in the groups of one of BREAKDOWNS."""
        right, n, _ = self.sums_of(at)
        return right[COLUMNS[breakdown]], n[COLUMNS[breakdown]]

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

    def to_frame(self) -> pd.DataFrame:
        """Table 2: the systems, the head that is best on all types, and the head that is best on each type, all by the
        paper's measure; last the head that is best in the other direction, where there is one."""
        best, *others = (self.best(direction=direction) for direction in range(len(self.directions)))
        of_all: list[DirectedHead | str] = [*self.systems, best]
        rows = [self.row(at, kind) for at in of_all for kind in TYPE_ROWS]
        for kind, n in zip(TYPE_ROWS[1:], self.n[1:], strict=True):
            if n and self.best(kind) != best:
                rows.append(self.row(self.best(kind), kind, picked_on=kind))
        return pd.DataFrame([*rows, *(self.row(other, kind) for other in others for kind in TYPE_ROWS)])

    def tables(self) -> dict[str, pd.DataFrame]:
        """Every head on every type of mention, with its interval over documents; every head and every system by
        distance and by gender."""
        labels = [head.label() for head in all_heads(*self.correct.shape[2:])]
        sums = [self.sums_of(direction) for direction in range(len(DIRECTIONS))]
        ends = np.stack([interval_by_document(*each) for each in sums], 1)  # (end, direction, layer, head, column)
        right = np.stack([each[0] for each in sums])
        low, high, right = (np.moveaxis(each, -1, 1).reshape(2, -1, len(labels)) for each in (*ends, right))
        typed, n = COLUMNS["type"], self.n[:, None]
        accuracy = share(right[:, typed], n)
        heads = {"n": np.broadcast_to(n, accuracy.shape), "right": right[:, typed], "accuracy": accuracy}
        heads |= {"low": low[:, typed], "high": high[:, typed]}
        groups = []
        for breakdown, names in BREAKDOWNS.items():
            of_systems = np.stack([self.by(breakdown, system)[0] for system in self.systems])
            of_heads, n = right[:, COLUMNS[breakdown]], sums[0][1][COLUMNS[breakdown]]
            columns = {"n": np.broadcast_to(n, of_systems.shape), "right": of_systems}
            groups.append(tidy({"system": self.systems, "group": names}, columns))
            columns = {"n": np.broadcast_to(n[:, None], of_heads.shape), "right": of_heads}
            axes = {"direction": DIRECTIONS, "group": names, "system": [f"head {label}" for label in labels]}
            groups.append(tidy(axes, columns))
        by_group = pd.concat(groups, ignore_index=True)
        return {
            "heads": tidy({"direction": DIRECTIONS, "type": TYPE_ROWS, "head": labels}, heads),
            "groups": by_group.assign(accuracy=share(by_group["right"], by_group["n"].to_numpy())),
        }

    def arrays(self) -> dict[str, Any]:
        return {
            "accuracy": to_lists(self.accuracy),
            "directions": list(DIRECTIONS),
            "types": list(TYPE_ROWS),
            "n": to_lists(self.n),
            **({"n_of_all_mentions": self.of_all} if self.is_causal else {}),
            "single_candidate": self.single,
            "chance": to_lists(self.of_system(CHANCE)),
            "random_candidate": to_lists(self.of_system(RANDOM)),
        }

    def summary(self) -> dict[str, Any]:
        """The head that is best on all mentions by the paper's measure; what is absent is None."""
        row = self.row(self.best())
        numbers = {name: row[name] for name in ("accuracy", "low", "high", "heldout_accuracy")}
        absent = {name: None for name, number in numbers.items() if np.isnan(number)}
        chance = {"chance": float(self.of_system(CHANCE)[0]), "random_candidate": float(self.of_system(RANDOM)[0])}
        if self.is_causal:
            numbers["accuracy_of_all_mentions"] = row["accuracy_of_all_mentions"]
        return {"best": {"head": self.best().head.label(), "direction": row["direction"]} | numbers | absent} | chance
