"""Right guesses by head, direction and group of items, for one set of candidates: what tables and figures show."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from bertviz_core.analyses.coreference_heads.antecedent_tables import claim_of, groups_table, heads_table, table_row
from bertviz_core.analyses.coreference_heads.baselines import CHANCE, RANDOM
from bertviz_core.analyses.coreference_heads.documents import Guess
from bertviz_core.analyses.coreference_heads.groups import FOLDS, TYPE_ROWS, by_distance, by_gender, by_type
from bertviz_core.analyses.coreference_heads.guesses import CANDIDATES, DIRECTIONS
from bertviz_core.analyses.proportions import Estimate, is_above, share
from bertviz_core.analyses.results import Result, head_frame, to_lists
from bertviz_core.heads import Head, all_heads

if TYPE_CHECKING:
    import pandas as pd

    from bertviz_core.corpora.source import Source


@dataclass(frozen=True, slots=True, order=True)
class Choice:
    """A head read in one direction (the index in DIRECTIONS)."""

    direction: int
    head: Head


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
    more_tables: ClassVar[tuple[str, ...]] = ("heads", "groups")

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
        """One more system: another's chains, of which `correct` (group,) items are right, see `predictions`."""
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
        return Choice(direction, _most(self._typed()[direction, TYPE_ROWS.index(kind)].sum(-1)))

    def heldout(self, picked_on: str = "all", direction: int = 0) -> np.ndarray:
        """(type,) accuracy of the head that is best on `picked_on`, read in one direction, in the other half of the
        documents, both halves pooled; NaN where a half has no item of that type."""
        typed = self._typed()[direction]  # (type, layer, head, fold)
        if not by_type(self.group_n)[TYPE_ROWS.index(picked_on)].all():
            return np.full(len(TYPE_ROWS), np.nan)
        right = np.zeros(len(TYPE_ROWS))
        for fold in range(FOLDS):
            head = _most(typed[TYPE_ROWS.index(picked_on), :, :, 1 - fold])
            right += typed[:, head.layer, head.head, fold]
        return share(right, self.n)

    def is_above(self, system: str, direction: int = 0) -> bool:
        """Whether the best head on all mentions is above a system (docs/methods.md, section 6)."""
        baseline = self.systems_accuracy[self.systems.index(system), 0]
        return bool(is_above(self.heldout(direction=direction)[0], self.n[0], baseline))

    def chance(self, system: str = CHANCE) -> np.ndarray:
        """(type,) the mean of 1 / candidates; for RANDOM of antecedents / candidates (docs/methods.md, section 7)."""
        return np.asarray(self.systems_accuracy[self.systems.index(system)])

    def better_direction(self) -> Choice | None:
        """The best head of the direction that the paper does not measure, where it finds more; else None."""
        candidates = [self.best(direction=direction) for direction in range(len(self.directions))]
        best = max(candidates, key=lambda choice: self.head_row(choice)["accuracy"])
        return best if best.direction else None

    @property
    def systems_accuracy(self) -> np.ndarray:
        """(system, type) accuracy of the systems that heads are compared with."""
        return share(by_type(self.system_correct).sum(-1), self.n)

    def rows(self) -> Iterator[dict[str, Any]]:
        """Table 2: the systems, the head that is best on all types, and the head that is best on each type, all by the
        paper's measure; last the head that is best in the other direction, where there is one."""
        n, best = self.n, self.best()
        for name, counts in zip(self.systems, by_type(self.system_correct).sum(-1), strict=True):
            for kind, right, total in zip(TYPE_ROWS, counts, n, strict=True):
                row = table_row(name, kind, right, total, right / total if total else np.nan)
                yield row | {"low": np.nan, "high": np.nan} if name in (CHANCE, RANDOM) else row
        yield from (self.head_row(best, kind) for kind in TYPE_ROWS)
        for kind in TYPE_ROWS[1:]:
            if n[TYPE_ROWS.index(kind)] and self.best(kind) != best:
                yield self.head_row(self.best(kind), kind, picked_on=kind)
        for other in [self.best(direction=direction) for direction in range(1, len(self.directions))]:
            yield from (self.head_row(other, kind) for kind in TYPE_ROWS)

    def head_row(self, choice: Choice, kind: str = "all", picked_on: str = "all") -> dict[str, Any]:
        """A row of Table 2: a head that is best on `picked_on` in its direction, scored on mentions of one kind."""
        row, name = TYPE_ROWS.index(kind), f"head {choice.head.label()}"
        right = self._typed()[choice.direction, row, choice.head.layer, choice.head.head].sum()
        heldout = self.heldout(picked_on, choice.direction)[row]
        direction = DIRECTIONS[choice.direction]
        name += f", {direction}" if choice.direction else ""
        return table_row(name, kind, right, self.n[row], heldout, direction)

    def to_frame(self) -> pd.DataFrame:
        import pandas as pd

        return pd.DataFrame(list(self.rows()))

    def heads_frame(self, direction: int) -> pd.DataFrame:
        """A row for each head read in one direction, a column for each of TYPE_ROWS."""
        return head_frame(dict(zip(TYPE_ROWS, self.accuracy[direction], strict=True)))

    def tables(self) -> dict[str, pd.DataFrame]:
        """Every head on every type of mention; and every head and every system by distance and by gender."""
        names = [head.label() for head in all_heads(*self.correct.shape[2:])]
        right = self._typed().sum(-1).reshape(len(DIRECTIONS), len(TYPE_ROWS), -1)
        counts = self._known().reshape(*self.correct.shape[:2], -1)
        return {
            "heads": heads_table(names, right, self.n),
            "groups": groups_table(names, counts, self.systems, self.system_correct, self.group_n),
        }

    def claim(self) -> str:
        other = self.better_direction()
        systems = dict(zip(self.systems, self.systems_accuracy[:, 0].tolist(), strict=True))
        return claim_of(self.head_row(self.best()), systems, self.head_row(other) if other else None)

    def arrays(self) -> dict[str, Any]:
        return {
            "accuracy": to_lists(self.accuracy),
            "directions": list(DIRECTIONS),
            "types": list(TYPE_ROWS),
            "n": to_lists(self.n),
            "single_candidate": self.single,
            "chance": to_lists(self.chance(CHANCE)),
            "random_candidate": to_lists(self.chance(RANDOM)),
        }

    def summary(self) -> dict[str, Any]:
        """The head that is best on all mentions by the paper's measure; what is absent is None."""
        row = self.head_row(self.best())
        numbers = {name: row[name] for name in ("accuracy", "low", "high", "heldout_accuracy")}
        absent = {name: None for name, number in numbers.items() if np.isnan(number)}
        chance = {"chance": float(self.chance()[0]), "random_candidate": float(self.chance(RANDOM)[0])}
        return {"best": {"head": self.best().head.label(), "direction": row["direction"]} | numbers | absent} | chance

    def by_distance(self, choice: Choice | str) -> tuple[np.ndarray, np.ndarray]:
        """(bin,) right guesses and items of a head, or of a system by name."""
        return by_distance(self._counts(choice)), by_distance(self.group_n)

    def by_gender(self, choice: Choice | str) -> tuple[np.ndarray, np.ndarray]:
        """(gender,) right guesses and items: pronouns that tell a gender."""
        return by_gender(self._counts(choice)), by_gender(self.group_n)

    def guesses(self, document: int, choice: Choice) -> list[Guess]:
        """A head's guesses among preceding mentions, for the items of `documents[document]`."""
        mentions = self.documents[document]["mentions"]
        guesses = []
        for item in np.flatnonzero(self.items[:, 0] == document):
            mention = int(self.items[item, 1])
            at = (choice.direction, choice.head.layer, choice.head.head, item)
            guess, chain = int(self.guess[at]), mentions[mention][2]
            guesses.append(Guess(mention, guess, float(self.weight[at]), mentions[guess][2] == chain))
        return guesses

    def _counts(self, choice: Choice | str) -> np.ndarray:
        if isinstance(choice, str):
            return self.system_correct[self.systems.index(choice)]
        return self.correct[choice.direction, :, choice.head.layer, choice.head.head]

    def _known(self) -> np.ndarray:
        """`correct`; NaN where a causal model cannot look ahead."""
        known = self.correct.astype(float)
        if self.provenance["model"]["causal"]:
            known[1] = np.nan
        return known

    def _typed(self) -> np.ndarray:
        """(direction, type, layer, head, fold) right guesses; NaN where a causal model cannot look ahead."""
        return np.moveaxis(by_type(np.moveaxis(self._known(), 1, -1)), 3, 1)


def _most(right: np.ndarray) -> Head:
    """The head with the largest value of (layer, head), the first of equals."""
    layer, head = np.unravel_index(int(right.argmax()), right.shape)
    return Head(int(layer), int(head))
