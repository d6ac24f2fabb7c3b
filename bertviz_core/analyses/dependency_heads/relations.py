"""Right guesses by relation under one view of the trees, as tables, figures and pages show them."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import pandas as pd

from bertviz_core.analyses.dependency_heads.guesses import CAUSAL, COUNTED, DIRECTIONS, SIDES, VIEW_NAMES
from bertviz_core.analyses.dependency_heads.word_classes import WordClasses
from bertviz_core.analyses.findings import SHOWN, Interval, decide, gain_interval, share_interval
from bertviz_core.analyses.proportions import MIN_SCORED, Estimate, best_heads, counts_of_best, scored, share, wilson
from bertviz_core.analyses.results import Result, tidy, to_lists
from bertviz_core.corpora.treebank import ALL, UAS
from bertviz_core.heads import DirectedHead, Head, all_labels

ROOT = "root"  # in any case; no head can find the governor of a root, so it has no row
NO_RELATION = (ALL, UAS, ROOT, "punct")  # rows that say nothing of a relation


def by_size(names: Sequence[str], n: np.ndarray) -> list[str]:
    """The distinct names by falling total of their numbers, then by name."""
    totals = pd.Series(n, names).groupby(level=0).sum()
    return list(totals.sort_values(ascending=False, kind="stable").index)


@dataclass(frozen=True)
class RelationCounts(Result):
    """Right guesses for every relation and head; of a causal model among the words that a direction counts."""

    analysis: ClassVar[str] = "dependency_heads"
    relations: list[str]  # "all" and "UAS" first, then by falling number of words
    n: np.ndarray  # (fold, relation) words
    correct: np.ndarray  # (fold, direction, relation, layer, head) guesses that are right
    offsets: np.ndarray  # (offset,) the fixed offsets that compete as baselines
    offset_correct: np.ndarray  # (offset, relation) right guesses; of a causal model (direction, ...)
    visible: np.ndarray | None = None  # of a causal model (fold, direction, relation) words that count
    random_correct: np.ndarray | None = None  # (direction, relation) mean right guesses of a random word
    stored: Any = None  # the DependencyHeads that they are a view of

    @property
    def trees(self) -> str:
        """How the trees are read, in words."""
        return VIEW_NAMES[self.provenance["options"]["view"]]

    @property
    def notes(self) -> list[str]:
        return [f"Trees: {self.trees}.", *super().notes]

    @property
    def restriction(self) -> str:
        return CAUSAL if self.is_causal else ""

    @property
    def is_causal(self) -> bool:
        return self.visible is not None

    @property
    def counted(self) -> np.ndarray:
        """(fold, direction, relation) words of which right guesses are a share."""
        return np.stack([self.n] * len(DIRECTIONS), 1) if self.visible is None else self.visible

    @property
    def right(self) -> np.ndarray:
        """(direction, relation, layer, head) right guesses in both folds."""
        return np.asarray(self.correct.sum(0))

    @property
    def accuracy(self) -> np.ndarray:
        """(direction, relation, layer, head)"""
        return share(self.right, self.counted.sum(0)[:, :, None, None])

    @property
    def better(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """(relation, layer, head) accuracy in each head's better direction, the words counted there, the direction."""
        direction = self.right.argmax(0)
        accuracy = np.take_along_axis(self.accuracy, direction[None], 0)
        rows = np.arange(len(self.relations))[:, None, None]
        return accuracy[0], self.counted.sum(0)[direction, rows], direction

    def best(self) -> np.ndarray:
        """(relation, 3): direction, layer and head of the most right guesses, the first of equals."""
        return best_heads(self.right)

    def best_choice(self, relation: str) -> DirectedHead:
        direction, layer, head = self.best()[self.relations.index(relation)].tolist()
        return DirectedHead(direction, Head(layer, head))

    @property
    def best_n(self) -> np.ndarray:
        """(relation,) words counted in the direction of the best head."""
        return self._of_best(self.counted.sum(0))

    @property
    def best_accuracy(self) -> np.ndarray:
        """(relation,) accuracy of the best head."""
        return share(counts_of_best(self.right, self.best()), self.best_n)

    @property
    def baseline(self) -> np.ndarray:
        """(relation,) accuracy of the best fixed offset, on the words of `best_n`."""
        return share(self._of_best(self._by_offset).max(0), self.best_n)

    @property
    def best_offset(self) -> np.ndarray:
        return self.offsets[self._of_best(self._by_offset).argmax(0)]

    @property
    def random(self) -> np.ndarray:
        """(relation,) accuracy of a random word, on the words of `best_n`; NaN where all words count."""
        right = np.nan if self.random_correct is None else self._of_best(self.random_correct)
        return share(right, self.best_n)

    @property
    def control(self) -> np.ndarray:
        """(relation,) the higher of `baseline` and `random`, which a best head has to be above."""
        return np.fmax(self.baseline, self.random)

    def offset_accuracy(self, direction: int = 0) -> np.ndarray:
        """(offset, relation) among the words that a direction counts."""
        return share(self._by_offset[direction], self.counted[:, direction].sum(0))

    @property
    def _by_offset(self) -> np.ndarray:
        """(direction, offset, relation) right guesses of the fixed offsets."""
        return self.offset_correct if self.is_causal else np.stack([self.offset_correct] * len(DIRECTIONS))

    def _of_best(self, counts: np.ndarray) -> np.ndarray:
        """(..., relation) of (direction, ..., relation) counts, in the direction of the best head."""
        rows = np.arange(len(self.relations))
        return np.asarray(counts[self.best()[:, 0], ..., rows].T)

    def held_out(self) -> tuple[np.ndarray, np.ndarray]:
        """(relation,) accuracy of each half's best head on the other half, NaN where one has no words; and words."""
        folds = range(len(self.correct))
        best = [best_heads(self.correct[1 - fold]) for fold in folds]
        right = sum(counts_of_best(self.correct[fold], best[fold]) for fold in folds)
        rows = np.arange(len(self.relations))
        words = np.stack([self.counted[fold, best[fold][:, 0], rows] for fold in folds])
        n = words.sum(0)
        return np.where(words.all(0), share(right, n), np.nan), n

    def gain(self, comparisons: int | None = None) -> Interval:
        """(relation,) how far held-out accuracies are above `control`, by default corrected for all relations."""
        heldout, n = self.held_out()
        control = self.control
        count = comparisons or len(self.relations)
        interval = share_interval(heldout, n / len(self.n), count, enough=n >= MIN_SCORED)
        return gain_interval(heldout, interval, control, share_interval(control, self.best_n, count))

    def above(self) -> np.ndarray:
        """(relation,) whether the best head is above `control`."""
        return decide(self.gain()) == SHOWN

    def row(self, relation: str) -> pd.Series:
        return self.to_frame().iloc[self.relations.index(relation)]

    def by_gain(self) -> list[int]:
        """Rows of the relations: those above `control` first, then by held-out gain, by gain on the whole treebank."""
        gain = self.best_accuracy - self.control
        heldout_gain = np.nan_to_num(self.held_out()[0] - self.control, nan=-np.inf)
        keys = list(zip(self.above(), heldout_gain, gain, strict=True))
        rows = [row for row, name in enumerate(self.relations) if name not in NO_RELATION]
        return sorted(rows, key=keys.__getitem__, reverse=True)

    def clearest_relation(self) -> str:
        """The first relation by gain; "all" where there is none to choose."""
        return self.relations[next(iter(self.by_gain()), 0)]

    def estimates(self) -> dict[str, Estimate]:
        """Accuracy of each head on each relation, in the head's better direction."""
        accuracy, counted, _ = self.better
        each = zip(self.relations, accuracy, self.best_n.tolist(), counted.astype(float), strict=True)
        return {name: Estimate(values, n=n, effective_n=size) for name, values, n, size in each if n}

    def arrays(self) -> dict[str, Any]:
        n = self.n.sum(0)
        arrays = {
            "accuracy": to_lists(self.accuracy),
            "directions": list(DIRECTIONS),
            "relations": self.relations,
            "n": n.tolist(),
            "offset_accuracy": to_lists(self.offset_accuracy()),
        }
        if self.is_causal:  # by direction
            counted = self.counted.sum(0)
            arrays |= {"counted": [COUNTED.format(side) for side in SIDES], "n": counted.tolist()}
            arrays |= {"n_of_all_words": n.tolist(), "random_accuracy": to_lists(self.random)}
            arrays["accuracy_of_all_words"] = to_lists(share(self.right, n[:, None, None]))
            arrays["offset_accuracy"] = to_lists(share(self.offset_correct, counted[:, None]))
        return arrays | {"offsets": self.offsets.tolist()}

    def to_frame(self) -> pd.DataFrame:
        """A row for each relation: its best head, the interval and held-out check of that, and the best offset."""
        n = self.best_n
        best = self.best()
        heldout, heldout_n = self.held_out()
        right = counts_of_best(self.right, best)
        low, high = wilson(right, n)
        heldout_low, heldout_high = wilson(heldout * heldout_n, heldout_n)
        columns = {
            "relation": self.relations,
            "n": n,
            "head": [Head(*each).label() for each in best[:, 1:].tolist()],
            "direction": [DIRECTIONS[direction] for direction in best[:, 0]],
            "accuracy": share(right, n),
            "low": low,
            "high": high,
            "heldout_accuracy": heldout,
            "heldout_low": heldout_low,
            "heldout_high": heldout_high,
            "baseline_offset": self.best_offset,
            "baseline_accuracy": self.baseline,
            "above_baseline": self.above(),
        }
        if self.is_causal:
            columns |= {
                "counted": [COUNTED.format(SIDES[direction]) for direction in best[:, 0]],
                "random_accuracy": self.random,
                "n_of_all_words": self.n.sum(0),
                "accuracy_of_all_words": share(right, self.n.sum(0)),
            }
        return pd.DataFrame(columns)

    def tables(self) -> dict[str, pd.DataFrame]:
        """Every head and every fixed offset on every relation, and how every head's attention to words divides."""
        n = self.counted.sum(0)
        right = self.right.reshape(*n.shape, -1)
        heads = scored(right, n[:, :, None])
        axes = {"offset": self.offsets.tolist(), "relation": self.relations}
        if self.is_causal:
            heads["accuracy_of_all_words"] = share(right, self.n.sum(0)[:, None])
            axes = {"direction": list(DIRECTIONS)} | axes
        by_offset = self.offset_correct
        n = np.broadcast_to(n[:, None] if self.is_causal else n[0], by_offset.shape)
        offsets = {"n": n, "right": by_offset, "accuracy": share(by_offset, n)}
        names = all_labels(*self.correct.shape[3:])
        tables = {
            "heads": tidy({"direction": DIRECTIONS, "relation": self.relations, "head": names}, heads),
            "offsets": tidy(axes, offsets),
        }
        if self.stored is not None:
            tables["attended"] = WordClasses(self.stored).frame(self.provenance["options"]["view"])
        return tables
