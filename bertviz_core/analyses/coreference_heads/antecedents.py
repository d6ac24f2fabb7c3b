"""Right guesses by head, direction and group of items, for one set of candidates: what tables and figures show."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from bertviz_core.analyses.coreference_heads.baselines import CHANCE, RANDOM
from bertviz_core.analyses.coreference_heads.documents import Guess
from bertviz_core.analyses.coreference_heads.guesses import (
    BREAKDOWNS,
    CANDIDATES,
    DIRECTIONS,
    FOLDS,
    TYPE_ROWS,
    by_type,
)
from bertviz_core.analyses.findings import SHOWN, Interval, decide, of_gain, of_share
from bertviz_core.analyses.proportions import Estimate, scored, share, wilson
from bertviz_core.analyses.results import Result, tidy, to_lists
from bertviz_core.heads import Choice, all_heads, highest

if TYPE_CHECKING:
    import pandas as pd

    from bertviz_core.corpora.source import Source


@dataclass(frozen=True, slots=True)
class AntecedentCounts(Result):
    """Counts of right guesses, and the first documents with every head's guesses.

    Attributes:
        correct: (direction, group, layer, head) right guesses.
        group_n: (group,) items.
        systems: Names of chance levels, baselines and uploaded predictions.
        system_correct: (system, group) right guesses, those of CHANCE and RANDOM as means of random draws.
        single: Items with exactly one word to choose from.
        documents: The first ones, see `documents`.
        items: (item, 5) their items, see `documents.Items`, the document by its place in that list.
        guess: (direction, layer, head, item) the mention guessed.
        weight: (direction, layer, head, item) the attention that it has.
    """

    analysis: ClassVar[str] = "coreference_heads"

    correct: np.ndarray
    group_n: np.ndarray
    systems: list[str]
    system_correct: np.ndarray
    single: int
    documents: list[dict[str, Any]]
    items: np.ndarray
    guess: np.ndarray
    weight: np.ndarray

    @property
    def candidates(self) -> str:
        """What the head may choose from: the head words of preceding mentions, or all other words."""
        return str(self.provenance["options"].get("candidates", CANDIDATES[0]))

    def with_predictions(self, predictions: Source, correct: np.ndarray) -> AntecedentCounts:
        """One more system: another's chains, of which `correct` (group,) items are right, see `baselines.score`."""
        named = {"name": predictions.name, "digest": predictions.digest}
        return replace(
            self,
            provenance=self.provenance | {"options": self.provenance["options"] | {"predictions": named}},
            systems=[*self.systems, f"predictions: {predictions.name}"],
            system_correct=np.concatenate([self.system_correct, correct[None]]),
        )

    def estimates(self) -> dict[str, Estimate]:
        """For each type of mention that there is: accuracy from a mention to its antecedent."""
        counts = zip(TYPE_ROWS, self.accuracy[0], self.n.tolist(), strict=True)
        return {kind: Estimate(values, n=int(n)) for kind, values, n in counts if n}

    @property
    def n(self) -> np.ndarray:
        """(type,) items of each of TYPE_ROWS."""
        return by_type(self.group_n).sum(-1)

    @property
    def accuracy(self) -> np.ndarray:
        """(direction, type, layer, head), fractions of the items of each of TYPE_ROWS; NaN where there are none, and
        for the attention of earlier words to later ones in a causal model."""
        return share(self._typed().sum(-1), self.n[:, None, None])

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
        return Choice(direction, highest(self._typed()[direction, TYPE_ROWS.index(kind)].sum(-1)))

    def heldout(self, picked_on: str = "all", direction: int = 0) -> np.ndarray:
        """(type,) accuracy of the head that is best on `picked_on`, read in one direction, in the other half of the
        documents, both halves pooled; NaN where a half has no item of that type."""
        typed = self._typed()[direction]  # (type, layer, head, fold)
        if not by_type(self.group_n)[TYPE_ROWS.index(picked_on)].all():
            return np.full(len(TYPE_ROWS), np.nan)
        right = np.zeros(len(TYPE_ROWS))
        for fold in range(FOLDS):
            head = highest(typed[TYPE_ROWS.index(picked_on), :, :, 1 - fold])
            right += typed[:, *head, fold]
        return share(right, self.n)

    def gain(self, system: str, direction: int = 0) -> Interval:
        """How far the best head's held-out accuracy on all mentions is above that of a system; CHANCE and RANDOM are
        exact, without an interval."""
        n, share, other = self.n[0], self.heldout(direction=direction)[0], self.of_system(system)[0]
        if system not in (CHANCE, RANDOM):
            return of_gain(share, other, n)
        low, high, enough = of_share(share, n)
        return Interval(low - other, high - other, enough)

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

    def _rows(self) -> Iterator[dict[str, Any]]:
        """Table 2: the systems, the head that is best on all types, and the head that is best on each type, all by the
        paper's measure; last the head that is best in the other direction, where there is one."""
        best = self.best()
        for name, counts in zip(self.systems, by_type(self.system_correct).sum(-1), strict=True):
            for kind, right, accuracy in zip(TYPE_ROWS, counts, self.of_system(name), strict=True):
                row = self._row(name, kind, right, accuracy)
                yield row | {"low": np.nan, "high": np.nan} if name in (CHANCE, RANDOM) else row
        yield from (self.head_row(best, kind) for kind in TYPE_ROWS)
        for kind, n in zip(TYPE_ROWS[1:], self.n[1:], strict=True):
            if n and self.best(kind) != best:
                yield self.head_row(self.best(kind), kind, picked_on=kind)
        for other in [self.best(direction=direction) for direction in range(1, len(self.directions))]:
            yield from (self.head_row(other, kind) for kind in TYPE_ROWS)

    def head_row(self, choice: Choice, kind: str = "all", picked_on: str = "all") -> dict[str, Any]:
        """A row of Table 2: a head that is best on `picked_on` in its direction, scored on mentions of one kind."""
        row, direction = TYPE_ROWS.index(kind), DIRECTIONS[choice.direction]
        right = self._typed().sum(-1)[:, row][choice.at]
        name = f"head {choice.head.label()}" + (f", {direction}" if choice.direction else "")
        return self._row(name, kind, right, self.heldout(picked_on, choice.direction)[row], direction)

    def _row(self, system: str, kind: str, right: float, heldout: float, direction: str = "") -> dict[str, Any]:
        n = int(self.n[TYPE_ROWS.index(kind)])
        low, high = map(float, wilson(right, n))
        values = {"accuracy": right / n if n else np.nan, "low": low, "high": high, "heldout_accuracy": float(heldout)}
        return {"system": system, "type": kind, "n": n, **values, "direction": direction}

    def to_frame(self) -> pd.DataFrame:
        import pandas as pd

        return pd.DataFrame(list(self._rows()))

    def tables(self) -> dict[str, pd.DataFrame]:
        """Every head on every type of mention; and every head and every system by distance and by gender."""
        import pandas as pd

        names = [head.label() for head in all_heads(*self.correct.shape[2:])]
        right = self._typed().sum(-1).reshape(len(DIRECTIONS), len(TYPE_ROWS), -1)
        known = self._known().reshape(*self.correct.shape[:2], -1)
        heads = [f"head {name}" for name in names]
        tables = []
        for part, groups in BREAKDOWNS.values():
            n = self.group_n[part]
            of_systems, of_heads = self.system_correct[:, part], known[:, part]
            counts = {"n": np.broadcast_to(n, of_systems.shape), "right": of_systems}
            tables.append(tidy({"system": self.systems, "group": groups}, counts))
            counts = {"n": np.broadcast_to(n[:, None], of_heads.shape), "right": of_heads}
            tables.append(tidy({"direction": DIRECTIONS, "group": groups, "system": heads}, counts))
        by_group = pd.concat(tables, ignore_index=True)
        return {
            "heads": tidy({"direction": DIRECTIONS, "type": TYPE_ROWS, "head": names}, scored(right, self.n[:, None])),
            "groups": by_group.assign(accuracy=share(by_group["right"], by_group["n"].to_numpy())),
        }

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

    def guesses(self, document: int, choice: Choice) -> list[Guess]:
        """A head's guesses among preceding mentions, for the items of `documents[document]`."""
        mentions = self.documents[document]["mentions"]
        guesses = []
        for item in np.flatnonzero(self.items[:, 0] == document):
            mention = int(self.items[item, 1])
            guess, weight = int(self.guess[choice.at][item]), float(self.weight[choice.at][item])
            guesses.append(Guess(mention, guess, weight, mentions[guess][2] == mentions[mention][2]))
        return guesses

    def _known(self) -> np.ndarray:
        """`correct`; NaN where a causal model cannot look ahead."""
        known = self.correct.astype(float)
        if self.provenance["model"]["causal"]:
            known[1] = np.nan
        return known

    def _typed(self) -> np.ndarray:
        """(direction, type, layer, head, fold) right guesses; NaN where a causal model cannot look ahead."""
        return np.moveaxis(by_type(np.moveaxis(self._known(), 1, -1)), 3, 1)
