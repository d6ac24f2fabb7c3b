"""Right guesses by relation, as tables, figures and pages show them: one view of what the analysis has counted."""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import pandas as pd

from bertviz_core.analyses.dependency_heads.guesses import DIRECTIONS
from bertviz_core.analyses.findings import SHOWN, Interval, decide, of_gain, of_share
from bertviz_core.analyses.proportions import MIN_SCORED, Estimate, best_heads, of_heads, scored, share, wilson
from bertviz_core.analyses.results import Result, tidy, to_lists
from bertviz_core.corpora.treebank.trees import TOTALS
from bertviz_core.heads import DirectedHead, Head, all_heads

ALL, UAS = TOTALS  # every word, as in the release; every word whose relation is not `punct`
ROOT = "root"  # in any case; no head can find the governor of a root, so it has no row
VIEW_NAMES = {"function-heads": "function words as governors", "as-is": "as annotated"}  # the default is the first
DEFAULT_VIEW = next(iter(VIEW_NAMES))
NO_RELATION = (ALL, UAS, ROOT, "punct")  # rows that say nothing of a relation


@dataclass(frozen=True)
class RelationCounts(Result):
    """Right guesses for every relation and head, counted in words.

    Attributes:
        relations: Name the relation axis: "all" and "UAS" first, then by falling number of words.
        n: (fold, relation) words.
        correct: (fold, direction, relation, layer, head) guesses that are right.
        offsets: (offset,) the fixed offsets that compete as baselines.
        offset_correct: (offset, relation) right guesses of each.
    """

    analysis: ClassVar[str] = "dependency_heads"
    relations: list[str]
    n: np.ndarray
    correct: np.ndarray
    offsets: np.ndarray
    offset_correct: np.ndarray

    @property
    def paper(self) -> bool:
        return bool(self.provenance["settings"]["mode"] == "paper")

    @property
    def trees(self) -> str:
        """How the trees are read, for people."""
        return VIEW_NAMES[self.provenance["options"]["view"]]

    @property
    def notes(self) -> list[str]:
        return [f"Trees: {self.trees}."]

    @property
    def accuracy(self) -> np.ndarray:
        """(direction, relation, layer, head), fractions."""
        return share(self.correct.sum(0), self.n.sum(0)[:, None, None])

    def best(self) -> np.ndarray:
        """(relation, 3): direction, layer and head of the highest accuracy, the first of equals."""
        return best_heads(self.correct.sum(0))

    def heldout(self) -> np.ndarray:
        """(relation,) accuracy where each half's best head, picked on it, is scored on the other half; both pooled.
        NaN where a half has no such word."""
        right = sum(of_heads(self.correct[fold], best_heads(self.correct[other])) for fold, other in ((0, 1), (1, 0)))
        return np.where((self.n > 0).all(0), share(right, self.n.sum(0)), np.nan)

    def gain(self, comparisons: int | None = None) -> Interval:
        """(relation,) how far the best heads' held-out accuracies are above the best fixed offsets, corrected for the
        number of relations unless `comparisons` says another."""
        n, heldout, offset = self.n.sum(0), self.heldout(), self.offset_accuracy.max(0)
        count = comparisons or len(self.relations)
        held_out = of_share(heldout, n / len(self.n), count, enough=n >= MIN_SCORED)
        return of_gain(heldout, held_out, offset, of_share(offset, n, count))

    def above(self) -> np.ndarray:
        """(relation,) whether the best head is above the best fixed offset."""
        return decide(self.gain()) == SHOWN

    def best_choice(self, relation: str) -> DirectedHead:
        """The head with the highest accuracy on a relation, in its better direction, the first of equals."""
        direction, layer, head = self.best()[self.relations.index(relation)].tolist()
        return DirectedHead(direction, Head(layer, head))

    def accuracy_of(self, choice: DirectedHead, relation: str) -> float:
        """Accuracy of one head on a relation, a fraction."""
        return float(self.accuracy[:, self.relations.index(relation)][choice.at])

    def row(self, relation: str) -> pd.Series:
        """The row of `to_frame` for a relation."""
        return self.to_frame().iloc[self.relations.index(relation)]

    @property
    def offset_accuracy(self) -> np.ndarray:
        """(offset, relation), fractions."""
        return share(self.offset_correct, self.n.sum(0))

    def by_gain(self) -> list[int]:
        """Rows of the relations, those first whose best head is the furthest beyond the best offset on held-out text,
        and of all those with a verdict; where no relation is in both halves, on the whole treebank."""
        offset = self.offset_accuracy.max(0)
        heldout_gain = np.nan_to_num(self.heldout() - offset, nan=-np.inf)
        keys = list(zip(self.above(), heldout_gain, self.accuracy.max((0, 2, 3)) - offset, strict=True))
        rows = [row for row, name in enumerate(self.relations) if name not in NO_RELATION]
        return sorted(rows, key=keys.__getitem__, reverse=True)

    def clearest_relation(self) -> str:
        """The first relation by gain; "all" where there is none to choose."""
        return self.relations[next(iter(self.by_gain()), 0)]

    def estimates(self) -> dict[str, Estimate]:
        """Accuracy of each head on each relation, in the head's better direction."""
        best, n = self.accuracy.max(0), self.n.sum(0)
        return {name: Estimate(best[row], n=int(n[row])) for row, name in enumerate(self.relations) if n[row]}

    def arrays(self) -> dict[str, Any]:
        return {
            "accuracy": to_lists(self.accuracy),
            "directions": list(DIRECTIONS),
            "relations": self.relations,
            "n": self.n.sum(0).tolist(),
            "offset_accuracy": to_lists(self.offset_accuracy),
            "offsets": self.offsets.tolist(),
        }

    def to_frame(self) -> pd.DataFrame:
        """A row for each relation: its best head, the interval and held-out check of that, and the best offset."""
        n, best, heldout = self.n.sum(0), self.best(), self.heldout()
        right = of_heads(self.correct.sum(0), best)
        low, high = wilson(right, n)
        heldout_low, heldout_high = wilson(heldout * n, n)
        offset = self.offset_correct.argmax(0)
        columns = {
            "relation": self.relations,
            "n": n,
            "head": [Head(int(layer), int(head)).label() for _, layer, head in best],
            "direction": [DIRECTIONS[direction] for direction in best[:, 0]],
            "accuracy": share(right, n),
            "low": low,
            "high": high,
            "heldout_accuracy": heldout,
            "heldout_low": heldout_low,
            "heldout_high": heldout_high,
            "baseline_offset": self.offsets[offset],
            "baseline_accuracy": self.offset_accuracy.max(0),
            "above_baseline": self.above(),
        }
        return pd.DataFrame(columns)

    def tables(self) -> dict[str, pd.DataFrame]:
        """Every head on every relation in both directions, and every fixed offset on every relation."""
        n, right = self.n.sum(0), self.correct.sum(0)
        names = [head.label() for head in all_heads(*right.shape[2:])]
        right = right.reshape(*right.shape[:2], -1)
        offsets = {"n": np.broadcast_to(n, self.offset_correct.shape), "right": self.offset_correct}
        return {
            "heads": tidy(
                {"direction": DIRECTIONS, "relation": self.relations, "head": names}, scored(right, n[:, None])
            ),
            "offsets": tidy(
                {"offset": self.offsets.tolist(), "relation": self.relations},
                offsets | {"accuracy": self.offset_accuracy},
            ),
        }


@dataclass(frozen=True)
class ShownRelations(RelationCounts):
    """The counts, and the first sentences of the treebank with every head's guesses.

    Attributes:
        sentences: {"number", "line", "words", "governors", "relations"} of each.
        guesses: (direction, layer, head, word) for their words one after the other: the word guessed, counted from 0
            within its sentence.
        weights: (direction, layer, head, word) the attention that it has, in steps of 1/255.
    """

    sentences: list[dict[str, Any]]
    guesses: np.ndarray
    weights: np.ndarray
