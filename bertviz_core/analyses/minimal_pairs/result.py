"""The result of minimal pairs: how often the model prefers the grammatical sentence, with and without each head."""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, ClassVar, NamedTuple, Self, TypedDict

import numpy as np
import pandas as pd

from bertviz_core.analyses.base.averages import HeadAverages, averaged_column
from bertviz_core.analyses.base.result import tidy, to_lists
from bertviz_core.analyses.base.statistics import MIN_UNITS, t_quantile, wilson
from bertviz_core.heads import Head, all_keys
from bertviz_core.numbers import measured

ALL = "all phenomena"  # the choice of all pairs together
QUANTITIES = ("accuracy_change", "margin_change")
KEPT = 5  # pairs that are kept of each phenomenon and head
_change = partial(averaged_column, signed=True)
COLUMNS = (
    _change("accuracy_change", "change of accuracy, head removed", name="accuracy change", percent=True),
    _change("margin_change", "change of the margin, head removed, nats", name="margin change, nats"),
)


class PairText(TypedDict):
    """A pair as it is shown.

    Attributes:
        where: Where it is in the corpus.
        good: The grammatical sentence.
        bad: The other one.
        margin: How much likelier the whole model finds the first, nats.
    """

    where: str
    good: str
    bad: str
    margin: float


class FlippedPair(NamedTuple):
    """A pair in which the model prefers the grammatical sentence, and without a head does not.

    Attributes:
        number: Its number, from 0.
        text: The sentences, and the margin with all heads.
        without: The margin without the head, nats.
    """

    number: int
    text: PairText
    without: float


class SetRecord(TypedDict):
    """Heads that are removed together.

    Attributes:
        name: The relation for which they are chosen, each on one half of a corpus; empty where they are named one by
            one.
        heads: Their keys.
        is_found: Whether heads are shown to find the relation; True of heads that are named one by one.
    """

    name: str
    heads: list[str]
    is_found: bool


@dataclass(frozen=True)
class MinimalPairs(HeadAverages):
    """Changes when a head is removed: without it minus with it, so that where a head is needed they are negative.

    Quantities, each (layer, head) (docs/methods.md, section 19), of all pairs, or of one phenomenon where one is shown:
        accuracy_change: The change of the share of pairs in which the grammatical sentence is preferred, -1 to 1.
        margin_change: The change of its log-probability minus that of the other sentence, nats.

    Attributes:
        phenomenon: The phenomenon that is shown; empty for all pairs.
        phenomena: Their names, in the order of the file.
        pairs: (phenomenon,) how many pairs each has.
        accuracy: (phenomenon,) the share in which the whole model prefers the grammatical sentence.
        independent_pairs: (phenomenon,) how many independent pairs say as much; NaN for a single unit.
        margin: (phenomenon,) the whole model's mean margin, nats.
        margin_error: (phenomenon,) its standard error over units, nats.
        changes: (phenomenon, quantity, layer, head) the means of the two quantities by phenomenon.
        errors: (phenomenon, quantity, layer, head) their standard errors over units.
        units_of: (phenomenon,) how many units it has.
        effective_units_of: (phenomenon,) how many units of equal size carry the same information.
        flipped: (phenomenon, layer, head, rank) numbers of the pairs that flip and whose margin falls most; -1 for
            none.
        flipped_margins: (phenomenon, layer, head, rank) their margins without the head, nats.
        flips: (phenomenon, layer, head) how many pairs flip from right to wrong.
        pair_texts: The texts of these pairs by their numbers, as text.
        sets: The sets of heads that are removed, each together; results of earlier versions have none.
        controls: Of a single set, random sets of the same layers: the keys of their heads.
        set_changes: (row, quantity, set) the means of the two quantities without each set; a row is a phenomenon, the
            last one all pairs. So are those that follow.
        set_errors: (row, quantity, set) their standard errors over units.
        set_effective_units: (row,) how many units of equal size carry the same information.
        control_changes: (row, quantity, control) the means without each of the `controls`.
        set_flipped: (phenomenon, set, rank) as `flipped`, without each set.
        set_flipped_margins: (phenomenon, set, rank) likewise, nats.
        set_flips: (phenomenon, set) likewise.
    """

    analysis: ClassVar[str] = "minimal_pairs"
    phenomenon: str
    phenomena: list[str]
    pairs: np.ndarray
    accuracy: np.ndarray
    independent_pairs: np.ndarray
    margin: np.ndarray
    margin_error: np.ndarray
    changes: np.ndarray
    errors: np.ndarray
    units_of: np.ndarray
    effective_units_of: np.ndarray
    flipped: np.ndarray
    flipped_margins: np.ndarray
    flips: np.ndarray
    pair_texts: dict[str, PairText]
    sets: list[SetRecord] = field(default_factory=list)
    controls: list[list[str]] = field(default_factory=list)
    set_changes: np.ndarray = field(default_factory=partial(np.zeros, (1, 2, 0)))
    set_errors: np.ndarray = field(default_factory=partial(np.zeros, (1, 2, 0)))
    set_effective_units: np.ndarray = field(default_factory=partial(np.zeros, (1,)))
    control_changes: np.ndarray = field(default_factory=partial(np.zeros, (1, 2, 0)))
    set_flipped: np.ndarray = field(default_factory=partial(np.zeros, (1, 0, KEPT)))
    set_flipped_margins: np.ndarray = field(default_factory=partial(np.zeros, (1, 0, KEPT)))
    set_flips: np.ndarray = field(default_factory=partial(np.zeros, (1, 0)))

    def of(self, phenomenon: str) -> Self:
        """The same with the quantities of one phenomenon; of all pairs where it is empty."""
        if not phenomenon:
            return self
        at = self.phenomena.index(phenomenon)
        both = np.ones(2)
        return replace(
            self,
            phenomenon=phenomenon,
            mean=self.changes[at],
            error=self.errors[at],
            segments=(self.pairs[at] * both).astype(np.int64),
            units=(self.units_of[at] * both).astype(np.int64),
            effective_units=self.effective_units_of[at] * both,
        )

    @property
    def chance(self) -> float:
        """The accuracy of a guess."""
        return 0.5

    @property
    def shown_name(self) -> str:
        """The phenomenon that is shown, in words."""
        return self.phenomenon or (self.phenomena[0] if len(self.phenomena) == 1 else ALL)

    @property
    def places(self) -> list[int]:
        """The places of the phenomena that are shown."""
        return [self.phenomena.index(self.phenomenon)] if self.phenomenon else list(range(len(self.phenomena)))

    @property
    def row(self) -> int:
        """The row of what is shown among those of sets: a phenomenon's, or the last one."""
        return self.phenomena.index(self.phenomenon) if self.phenomenon else -1

    @property
    def head_set(self) -> SetRecord | None:
        """The set that is removed; None where there is none, or each of several."""
        return self.sets[0] if len(self.sets) == 1 else None

    @property
    def shown_accuracy(self) -> float:
        """The whole model's accuracy on the pairs that are shown."""
        return float(np.average(self.accuracy[self.places], weights=self.pairs[self.places]))

    @property
    def shown_pairs(self) -> int:
        """How many pairs are shown."""
        return int(self.pairs[self.places].sum())

    def needed(self, quantity: str = "accuracy_change") -> Head:
        """The head without which a quantity falls most; of several alike the one whose margin falls most."""
        margin = self["margin_change"]
        spread = np.abs(margin).max() or 1.0
        return Head(*map(int, np.unravel_index((self[quantity] + 1e-9 * margin / spread).argmin(), margin.shape)))

    def clearest(self) -> str:
        """The phenomenon in which the accuracy falls most without the set that is removed, else without some head; of
        several alike the first, and one with enough units to decide anything where there is one."""
        falls = self.set_changes[:-1, 0, 0] if self.head_set else self.changes[:, 0].min((1, 2))
        is_too_small = self.units_of < MIN_UNITS
        return self.phenomena[int((falls + 2 * is_too_small).argmin())]  # changes are between -1 and 1

    def most_needed_for(self, head: Head) -> tuple[str, float]:
        """The phenomenon whose accuracy falls most without a head, and by how many points it changes."""
        change = 100 * self.changes[:, 0, head.layer, head.head]
        place = int(change.argmin())
        return self.phenomena[place], float(change[place])

    def accuracy_limits(self, comparisons: int = 1) -> tuple[np.ndarray, np.ndarray]:
        """(low, high), each (phenomenon,): Wilson's 95% intervals of the accuracy over units; NaN for a single unit.

        Args:
            comparisons: How many intervals are to hold together, see `t_quantile`.
        """
        t = t_quantile(self.effective_units_of - 1, comparisons)
        return wilson(self.accuracy * self.independent_pairs, self.independent_pairs, t)

    def change_intervals(self, quantity: str, comparisons: int = 1) -> np.ndarray:
        """(phenomenon, layer, head) half-widths of 95% intervals over units; NaN for a single unit.

        Args:
            quantity: One of QUANTITIES.
            comparisons: How many intervals are to hold together, see `t_quantile`.
        """
        t = t_quantile(self.effective_units_of - 1, comparisons)
        return np.asarray(t[:, None, None] * self.errors[:, QUANTITIES.index(quantity)])

    def specificity(self, head: Head) -> np.ndarray:
        """(phenomenon,) the change of the accuracy without a head, see `against_others`."""
        return against_others(self.changes[:, 0, head.layer, head.head])

    def set_intervals(self, quantity: str, comparisons: int = 1) -> np.ndarray:
        """(row, set) half-widths of 95% intervals over units; NaN for a single unit.

        Args:
            quantity: One of QUANTITIES.
            comparisons: How many intervals are to hold together, see `t_quantile`.
        """
        t = t_quantile(self.set_effective_units - 1, comparisons)
        return np.asarray(t[:, None] * self.set_errors[:, QUANTITIES.index(quantity)])

    def flipped_pairs(self, head: Head | None) -> list[FlippedPair]:
        """The pairs that flip without a head, or without the set that is removed, of those that are shown, the largest
        fall of the margin first."""
        places_and_margins = (
            (self.set_flipped, self.set_flipped_margins) if head is None else (self.flipped, self.flipped_margins)
        )
        pairs = []
        for place in self.places:
            numbers, margins = (each[(place, *(head or (0,)))].tolist() for each in places_and_margins)
            for number, without in zip(numbers, margins, strict=True):
                if number >= 0:
                    pairs.append(FlippedPair(number, self.pair_texts[str(number)], without))
        return sorted(pairs, key=lambda pair: pair.without - pair.text["margin"])[:KEPT]

    def flip_count(self, head: Head | None) -> int:
        """How many of the pairs that are shown flip from right to wrong without a head, or without the set that is
        removed."""
        return int((self.set_flips[self.places, 0] if head is None else self.flips[(self.places, *head)]).sum())

    def arrays(self) -> dict[str, Any]:
        """By phenomenon: the accuracy and the margin of the whole model, and their changes without each head."""
        low, high = self.accuracy_limits()
        named = {"accuracy": self.accuracy, "accuracy_low": low, "accuracy_high": high, "margin": self.margin}
        for index, quantity in enumerate(QUANTITIES):
            named |= {quantity: self.changes[:, index], f"{quantity}_interval": self.change_intervals(quantity)}
        named["pairs"] = self.pairs
        if self.sets:
            named |= self._set_arrays()
        return {name: to_lists(values) for name, values in named.items()}

    def _set_arrays(self) -> dict[str, np.ndarray]:
        """By phenomenon: the changes without each set, their intervals, the specificity, and without each control."""
        named = {}
        for index, quantity in enumerate(QUANTITIES):
            named[f"set_{quantity}"] = self.set_changes[:-1, index]
            named[f"set_{quantity}_interval"] = self.set_intervals(quantity)[:-1]
            if self.controls:
                named[f"control_{quantity}"] = self.control_changes[:-1, index]
        return named | {"set_specificity": against_others(self.set_changes[:-1, 0])}

    def summary(self) -> dict[str, Any]:
        sets = {"sets": self.sets, "controls": self.controls} if self.sets else {}
        return {"phenomena": self.phenomena, "chance": self.chance, **sets}

    def tables(self) -> dict[str, pd.DataFrame]:
        heads = all_keys(*self.changes.shape[2:])
        columns = {}
        for index, quantity in enumerate(QUANTITIES):
            columns[quantity] = self.changes[:, index].reshape(len(self.phenomena), -1)
            columns[f"{quantity}_interval"] = self.change_intervals(quantity).reshape(len(self.phenomena), -1)
        return {
            "phenomena": self.phenomena_table(),
            "changes": tidy({"phenomenon": self.phenomena, "head": heads}, columns),
            "flipped": pd.DataFrame(self._flipped_rows(), columns=["phenomenon", "head", "number", "where", *PAIR]),
            **(self._set_tables() if self.sets else {}),
        }

    def _set_tables(self) -> dict[str, pd.DataFrame]:
        """The changes without each set, and without each of the random sets."""
        arrays = self._set_arrays()
        sets = [each["name"] or " ".join(each["heads"]) for each in self.sets]
        tables = {}
        for name, labels in (("set", sets), ("control", [" ".join(heads) for heads in self.controls])):
            columns = {each.removeprefix(f"{name}_"): array for each, array in arrays.items() if each.startswith(name)}
            if labels:
                tables[f"{name}s"] = tidy({"phenomenon": self.phenomena, name: labels}, columns)
        tables["sets"].insert(2, "heads", [" ".join(each["heads"]) for each in self.sets] * len(self.phenomena))
        return tables

    def phenomena_table(self) -> pd.DataFrame:
        """A row for each phenomenon: the whole model's accuracy and margin."""
        t = t_quantile(self.effective_units_of - 1)
        low, high = self.accuracy_limits()
        return pd.DataFrame(
            {
                "phenomenon": self.phenomena,
                "pairs": self.pairs,
                "accuracy": self.accuracy,
                "accuracy_low": low,
                "accuracy_high": high,
                "margin": self.margin,
                "margin_interval": t * self.margin_error,
            }
        )

    def _flipped_rows(self) -> Iterator[tuple[Any, ...]]:
        heads = all_keys(*self.changes.shape[2:])
        for place, phenomenon in enumerate(self.phenomena):
            rows = zip(
                heads, self.flipped[place].reshape(-1, KEPT), self.flipped_margins[place].reshape(-1, KEPT), strict=True
            )
            for head, numbers, margins in rows:
                for number, without in zip(numbers.tolist(), margins.tolist(), strict=True):
                    if number >= 0:
                        text = self.pair_texts[str(number)]
                        yield phenomenon, head, number + 1, *text.values(), without


def points_text(change: float, half: float, units: str, unit: str = " points") -> str:
    """A change of accuracy (-1 to 1) in points, with half its 95% interval."""
    return measured(100 * change, 100 * half, "+", unit=unit, scale=200, units=units)


def against_others(change: np.ndarray) -> np.ndarray:
    """(phenomenon, ...) changes minus their means in the other phenomena; NaN where there are none."""
    count = len(change)
    if count == 1:
        return np.full(change.shape, np.nan)
    return np.asarray(change - (change.sum(0) - change) / (count - 1))


PAIR = ("good", "bad", "margin", "margin_without")
