"""The result of the coreference analysis, and what its tables and figures show of it."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar

import numpy as np
import pandas as pd
from typing_extensions import Doc

from bertviz_core.analyses.base.findings import SHOWN, decide
from bertviz_core.analyses.base.request import Request, View
from bertviz_core.analyses.base.result import Result, tidy, to_lists
from bertviz_core.analyses.base.statistics import Estimate, effective_n, share, units_text
from bertviz_core.analyses.coreference_heads.counts import COLUMNS, ItemCounts
from bertviz_core.analyses.coreference_heads.guesses import (
    BREAKDOWNS,
    CANDIDATES,
    DIRECTIONS,
    EXACT,
    TYPE_ROWS,
    index_of,
)
from bertviz_core.heads import all_labels

CAUSAL = (
    "A token of this model sees only what comes earlier: only mentions with an antecedent whose head word comes "
    "earlier count, and heads, baselines and random candidates alike choose among earlier words; antecedent → mention "
    "is absent. Beside it stands the share of all mentions that have an antecedent."
)


@dataclass(frozen=True)
class CoreferenceView(View):
    """Which of the counts are shown."""

    candidates: Annotated[str, Doc("mentions (the preceding ones), or words: any other.")] = "mentions"

    def check(self) -> None:
        index_of(self.candidates)

    def show(self, result: Result, request: Request, find: Callable[[Request], Result | None]) -> Result:
        assert isinstance(result, CoreferenceHeads)
        return result.show(self.candidates)


@dataclass(frozen=True)
class CoreferenceHeads(Result):
    """Right guesses for every set of candidates, and the first documents with every head's guesses. Moments are sums
    over documents, for c right guesses among n items; their rows are those of `counts.by_row`."""

    analysis: ClassVar[str] = "coreference_heads"
    correct: np.ndarray  # (direction, candidates, group, layer, head) right guesses
    group_n: np.ndarray  # (group,) items
    systems: list[str]  # BASELINES
    system_correct: np.ndarray  # (system, group) right guesses
    moments: np.ndarray  # (2, direction, candidates, layer, head, row) of n c and c^2
    system_moments: np.ndarray  # (2, system, row) of n c and c^2
    item_moments: np.ndarray  # (2, row) how many documents have items, and of n^2
    single: int  # items with a single candidate
    first_documents: list[dict[str, Any]]  # see `passages.document_record`
    items: np.ndarray  # (item, 5) their items, see `passages.ItemGuesses`, the document by its index in that list
    guess: np.ndarray  # (direction, layer, head, item) the mention guessed
    weight: np.ndarray  # (direction, layer, head, item) the attention that it has
    chance: np.ndarray  # (2, candidates, group) sums over items of 1 / candidates, and of antecedents / candidates

    def show(self, candidates: str | None = None) -> "AntecedentCounts":
        """The counts for one of CANDIDATES, by default the first; raises SettingsError for another."""
        index = index_of(candidates or CANDIDATES[0])
        options = self.provenance["options"] | ({"candidates": candidates} if candidates else {})
        return AntecedentCounts(self.provenance | {"options": options}, self, index)

    def default_view(self) -> "AntecedentCounts":
        return self.show()


class AntecedentCounts(ItemCounts):
    """What tables and figures show of the counts for one set of candidates."""

    @property
    def candidates(self) -> str:
        return CANDIDATES[self.index]

    @property
    def restriction(self) -> str:
        return CAUSAL if self.is_causal else ""

    @property
    def units_text(self) -> str:
        return units_text(int(self.documents[0]), "documents")

    def estimates(self) -> dict[str, Estimate]:
        """For each type of mention that there is: accuracy from a mention to its antecedent."""
        size, freedom = (each[0] for each in effective_n(*self.sums_of()))  # (layer, head, column)
        estimates = {}
        for row, kind in enumerate(TYPE_ROWS):
            if n := int(self.n[row]):
                sizes = (n, size[..., row], freedom[..., row], int(self.documents[row]))
                estimates[kind] = Estimate(self.accuracy[0, row], None, *sizes, "documents")
        return estimates

    def is_above(self, system: str) -> bool:
        """Whether the best head on all mentions is above a system."""
        return bool(decide(self.gain(system)) == SHOWN)

    def finds_antecedents(self) -> bool:
        """Whether the best head on all mentions is above every baseline of SIMPLE."""
        return bool(decide(self.simple_gain()) == SHOWN)

    def to_frame(self) -> pd.DataFrame:
        """Table 2: the systems, the best heads of all types and of each type; last that of the other direction."""
        best, *others = (self.best(direction=direction) for direction in range(len(self.directions)))
        rows = [self.row(name, kind) for name in self.systems for kind in TYPE_ROWS]
        rows += [self.row(best, kind) for kind in TYPE_ROWS]
        for kind, n in zip(TYPE_ROWS[1:], self.n[1:], strict=True):
            if n and self.best(kind) != best:
                rows.append(self.row(self.best(kind), kind, picked_on=kind))
        rows += [self.row(other, kind) for other in others for kind in TYPE_ROWS]
        return pd.DataFrame(rows)

    def tables(self) -> dict[str, pd.DataFrame]:
        """Every head on every type of mention; every head and every system by distance and by gender."""
        labels = all_labels(*self.accuracy.shape[2:])
        scores = self.scores()
        right, low, high = (np.moveaxis(part, -1, 1) for part in (scores.right, scores.low, scores.high))
        n = np.broadcast_to(scores.n[:, None, None], right.shape)
        of_heads = {"n": n, "right": right, "accuracy": share(right, n), "low": low, "high": high}
        of_heads = {name: part.reshape(*part.shape[:2], -1) for name, part in of_heads.items()}
        of_systems = np.stack([self.sums_of(system)[0] for system in self.systems])  # (system, column)
        groups = []
        for breakdown, names in BREAKDOWNS.items():
            own = COLUMNS[breakdown]
            counts = {"n": np.tile(scores.n[own], (len(self.systems), 1)), "right": of_systems[:, own]}
            groups.append(tidy({"system": self.systems, "group": names}, counts))
            axes = {"direction": DIRECTIONS, "group": names, "system": [f"head {label}" for label in labels]}
            groups.append(tidy(axes, {name: of_heads[name][:, own] for name in counts}))
        by_group = pd.concat(groups, ignore_index=True)
        typed = {name: part[:, COLUMNS["type"]] for name, part in of_heads.items()}
        return {
            "heads": tidy({"direction": DIRECTIONS, "type": TYPE_ROWS, "head": labels}, typed),
            "groups": by_group.assign(accuracy=share(by_group["right"], by_group["n"].to_numpy())),
        }

    def arrays(self) -> dict[str, Any]:
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
