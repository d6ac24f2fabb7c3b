"""Right guesses by relation under one view of the trees: the best heads, their intervals, and what they are above."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np
import pandas as pd

from bertviz_core.analyses.base.findings import GAIN, SHOWN, Interval, decide_worth, gain_interval, share_interval
from bertviz_core.analyses.base.result import Result, cached_on_result
from bertviz_core.analyses.base.statistics import (
    MIN_SCORED,
    MIN_UNITS,
    Estimate,
    Sums,
    best_heads,
    counts_of_best,
    share,
    units_text,
)
from bertviz_core.analyses.dependency_heads.guesses import DIRECTIONS, FOLDS
from bertviz_core.analyses.dependency_heads.word_intervals import effective_words, interval_of_words, joined_moments
from bertviz_core.corpora.treebank import ALL, PUNCTUATION, UAS
from bertviz_core.heads import DirectedHead, Head

ROOT_RELATION = "root"  # in upper or lower case. No head can find the governor of a root, so it has no row.
NO_RELATION = (ALL, UAS, ROOT_RELATION, *PUNCTUATION)  # rows that say nothing of a relation


def by_size(names: Sequence[str], n: np.ndarray) -> list[str]:
    """The distinct names by falling total of their numbers (name,), then by name."""
    totals = pd.Series(n, names).groupby(level=0).sum()
    return list(totals.sort_values(ascending=False, kind="stable").index)


@dataclass(frozen=True)
class GuessCounts(Result):
    """Right guesses for every relation and head; of a causal model among the words that a direction counts.

    Moments are sums over units (documents or sentences), for c right guesses among n words; of a causal model they are
    by direction, before the relation or offset. Where those of heads and offsets are not known, all words of a unit
    count as one; without any moments nothing has an interval.

    Attributes:
        relations: "all" and "UAS" first, then relations by falling number of words.
        n: (fold, relation) words.
        correct: (fold, direction, relation, layer, head) guesses that are right.
        offsets: (offset,) the fixed offsets that compete as baselines, in words to the right.
        offset_correct: (offset, relation) right guesses; of a causal model (direction, offset, relation).
        visible: (fold, direction, relation) words that count, of a causal model; None of others.
        random_correct: (direction, relation) mean right guesses of a random word, of a causal model; None of others.
        unit_moments: (2, fold, relation) sums of 1 and n^2; of a causal model (2, fold, direction, relation).
        head_moments: (2, fold, direction, relation, layer, head) sums of n c and c^2.
        offset_moments: (2, offset, relation) sums of n c and c^2; of a causal model (2, direction, offset, relation).
        direction: The index in DIRECTIONS of the one direction whose heads compete; None where the best of both wins.
    """

    analysis: ClassVar[str] = "dependency_heads"
    relations: list[str]
    n: np.ndarray
    correct: np.ndarray
    offsets: np.ndarray
    offset_correct: np.ndarray
    visible: np.ndarray | None = None
    random_correct: np.ndarray | None = None
    unit_moments: np.ndarray | None = None
    head_moments: np.ndarray | None = None
    offset_moments: np.ndarray | None = None
    direction: int | None = None

    def _competing(self, right: np.ndarray) -> np.ndarray:
        """(direction, relation, layer, head) right guesses, of which those of the other direction never win."""
        if self.direction is None:
            return right
        competes = np.arange(len(DIRECTIONS)) == self.direction
        return np.where(competes[:, None, None, None], right.astype(np.int64), -1)

    @property
    def unit(self) -> str:
        """What varies independently, in the plural."""
        return str(self.provenance.get("unit", "sentences"))

    @property
    def _units(self) -> np.ndarray:
        """(2, fold, direction, relation) how many units have words that count, and sums of their squared numbers."""
        if self.unit_moments is None:
            return np.full((2, *self.counted.shape), np.nan)
        moments = self.unit_moments.astype(float)
        return moments if self.is_causal else np.stack([moments] * len(DIRECTIONS), 2)

    @property
    def units(self) -> np.ndarray:
        """(relation,) units that have words which the direction of the best head counts; NaN where it is not known."""
        return self._of_best(self._units[0].sum(0))

    def units_of(self, relation: str) -> str:
        """The units of a relation's intervals, as "38 documents"."""
        return units_text(int(np.nan_to_num(self.units[self.relations.index(relation)])), self.unit)

    @property
    def is_causal(self) -> bool:
        """Whether a token attends only to itself and to earlier ones."""
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

    @cached_property
    def better(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """(relation, layer, head) accuracy in each head's better direction, the words counted there, the direction."""
        direction = self.right.argmax(0)
        accuracy = np.take_along_axis(self.accuracy, direction[None], 0)
        rows = np.arange(len(self.relations))[:, None, None]
        return accuracy[0], self.counted.sum(0)[direction, rows], direction

    @cached_property
    def above_offset(self) -> np.ndarray:
        """(relation, layer, head) accuracy in each head's better direction, above the best fixed offset's."""
        accuracy, _, direction = self.better
        offsets = np.stack([self.offset_accuracy(index).max(0) for index in range(len(DIRECTIONS))])
        return np.asarray(accuracy - offsets[direction, np.arange(len(accuracy))[:, None, None]])

    def best(self) -> np.ndarray:
        """(relation, 3): direction, layer and head of the most right guesses, the first of equals."""
        return best_heads(self._competing(self.right))

    def best_choice(self, relation: str) -> DirectedHead:
        """The best head of a relation, with its direction."""
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
        """(relation,) the offset, in words, with the most right guesses."""
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

    def sums(self) -> Sums:
        """The sums (direction, relation, layer, head) of all heads."""
        n = self.counted.sum(0)[:, :, None, None]
        units = self._units.sum(1)[..., None, None]
        return self.right, n, joined_moments(units, None if self.head_moments is None else self.head_moments.sum(1))

    def best_of_halves(self) -> list[np.ndarray]:
        """For each half (relation, 3): direction, layer and head that are best on the other half."""
        return [best_heads(self._competing(self.correct[1 - fold])) for fold in range(FOLDS)]

    def sums_held_out(self) -> Sums:
        """The sums (relation,) of each half's best head on the other half; none right is known (NaN) where a half has
        no words."""
        folds = range(FOLDS)
        best = self.best_of_halves()
        right = sum(counts_of_best(self.correct[fold], best[fold]) for fold in folds)
        rows = np.arange(len(self.relations))
        words = np.stack([self.counted[fold, best[fold][:, 0], rows] for fold in folds])
        units = sum(self._units[:, fold, best[fold][:, 0], rows] for fold in folds)
        squares = None
        if (moments := self.head_moments) is not None:
            chosen = [np.stack([counts_of_best(each, best[fold]) for each in moments[:, fold]]) for fold in folds]
            squares = np.sum(chosen, 0, dtype=float)
        return np.where(words.all(0), right, np.nan), words.sum(0), joined_moments(np.asarray(units), squares)

    def held_out(self) -> tuple[np.ndarray, np.ndarray]:
        """(relation,) accuracy of each half's best head on the other half, NaN where one has no words; and words."""
        right, n, _ = self.sums_held_out()
        return share(right, n), n

    def _sums_of_baseline(self) -> Sums:
        """The sums (relation,) of the best fixed offset."""
        rows = np.arange(len(self.relations))
        units = self._of_best(np.moveaxis(self._units.sum(1), 0, 1))
        squares = None
        if self.offset_moments is not None:
            moments = self.offset_moments if self.is_causal else np.stack([self.offset_moments] * len(DIRECTIONS), 1)
            best_offset = self._of_best(self._by_offset).argmax(0)
            squares = moments[:, self.best()[:, 0], best_offset, rows].astype(float)
        return self._of_best(self._by_offset).max(0), self.best_n, joined_moments(units, squares)

    def gain(self, comparisons: int | None = None) -> Interval:
        """(relation,) how far held-out accuracies are above the best fixed offset and, of a causal model, above a
        random word, whichever is closer; by default corrected for all relations."""
        count = comparisons or len(self.relations)
        right, n, moments = self.sums_held_out()
        heldout = share(right, n)
        enough = (n >= MIN_SCORED) & (moments[0] >= MIN_UNITS)
        size, freedom = effective_words(right, n, moments)
        interval = share_interval(heldout, size / FOLDS, count, freedom / FOLDS, enough)
        size, freedom = effective_words(*self._sums_of_baseline())
        baseline = self.baseline
        gain = gain_interval(heldout, interval, baseline, share_interval(baseline, size, count, freedom))
        if not self.is_causal:
            return gain
        # The accuracy of a random word is exact, so its interval is a point.
        random = interval.minus(Interval(self.random, self.random))
        return Interval(np.fmin(gain.low, random.low), np.fmin(gain.high, random.high), enough)

    def above(self) -> np.ndarray:
        """(relation,) whether the best head is above every baseline, see `states`."""
        return self.states() == SHOWN

    def states(self) -> np.ndarray:
        """(relation,) the states of "the best head is above every baseline, by GAIN or more", see `gain`."""
        return decide_worth(self.gain(), self.held_out()[0] - self.control, GAIN)

    def by_gain(self) -> list[int]:
        """Rows of the relations: those above `control` first, then by held-out gain, by gain on the whole treebank."""
        gain = self.best_accuracy - self.control
        heldout_gain = np.nan_to_num(self.held_out()[0] - self.control, nan=-np.inf)
        keys = list(zip(self.above(), heldout_gain, gain, strict=True))
        rows = [row for row, name in enumerate(self.relations) if name not in NO_RELATION]
        return sorted(rows, key=keys.__getitem__, reverse=True)

    def estimates(self) -> dict[str, Estimate]:
        """Accuracy of each head on each relation, in the head's better direction."""
        accuracy, _, direction = self.better
        size, freedom = (np.take_along_axis(each, direction[None], 0)[0] for each in effective_words(*self.sums()))
        units = self.units
        estimates = {}
        for row, (name, n) in enumerate(zip(self.relations, self.best_n.tolist(), strict=True)):
            if n:
                unit_count = None if np.isnan(units[row]) else int(units[row])
                independent = (n, size[row], freedom[row], unit_count, self.unit)
                estimates[name] = Estimate(accuracy[row], None, *independent, choices=len(DIRECTIONS))
        return estimates

    @cached_on_result
    def intervals(self) -> tuple[np.ndarray, np.ndarray]:
        """(low, high) of `accuracy`, 95% over units."""
        return interval_of_words(*self.sums())
