"""Right guesses by relation under one view of the trees, as tables, figures and pages show them."""

from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
import pandas as pd

from bertviz_core import paper
from bertviz_core.analyses.base.guess_lists import StoredParts
from bertviz_core.analyses.base.result import cached_on_result, tidy, to_lists
from bertviz_core.analyses.base.statistics import counts_of_best, share
from bertviz_core.analyses.dependency_heads.guess_counts import GuessCounts
from bertviz_core.analyses.dependency_heads.guesses import CAUSAL, COUNTED, DIRECTIONS, SIDES, VIEW_NAMES
from bertviz_core.analyses.dependency_heads.word_classes import WordClasses
from bertviz_core.analyses.dependency_heads.word_intervals import interval_of_words
from bertviz_core.corpora.treebank import ALL
from bertviz_core.heads import Head, all_keys


@dataclass(frozen=True)
class RelationCounts(GuessCounts):
    """Right guesses for every relation and head, with what is said of them and what files have of them.

    Attributes:
        stored: The DependencyHeads that the counts are a view of.
        lists: The StoredParts with the guesses of all sentences; None for those of `stored` alone.
    """

    stored: Any = None
    lists: StoredParts | None = None

    @cached_on_result
    def in_direction(self, direction: int | None) -> Self:
        """The same counts, where the best heads, and what is said of them, are of one direction; None for both."""
        return replace(self, direction=direction)

    def with_lists(self, lists: StoredParts | None) -> Self:
        return self if self.is_whole else replace(self, lists=lists)

    @property
    def is_whole(self) -> bool:
        """Whether `stored` has the guesses of all sentences."""
        return self.stored is not None and len(self.stored.sentences) == self.provenance["sentences"]

    @property
    def in_paper(self) -> dict[str, tuple[str, float, float, int]]:
        """The rows of the paper's Table 1 beside numbers of the same language that count the same words; none beside
        others (docs/methods.md, section 6)."""
        is_comparable = not self.is_causal and self.stored is not None and self.stored.is_english
        return paper.TABLE_1 if is_comparable else {}

    @property
    def trees(self) -> str:
        """How the trees are read, in words."""
        return VIEW_NAMES[self.provenance["options"]["view"]]

    @property
    def notes(self) -> list[str]:
        return [f"Trees: {self.trees}.", *super().notes]

    @property
    def method(self) -> str:
        """How the treebank was read, and whether the paper's Table 1 is of the same, as sentences."""
        origin = self.provenance
        of_paper = (
            "is on Stanford Dependencies, with function words as governors; its numbers are shown for labels of the "
            "same name."
            if self.in_paper
            else "is on English and counts every word; its numbers are not shown beside these."
        )
        split = f"{origin['split_words'] / origin['words']:.1%} of the words are split into pieces (paper: about 8%)"
        return f"Trees: {self.trees}; read as {origin['format']}; {split}. The paper's Table 1 {of_paper}"

    @property
    def units_text(self) -> str:
        return self.units_of(ALL) if self.unit_moments is not None else ""

    @property
    def restriction(self) -> str:
        return CAUSAL if self.is_causal else ""

    @cached_on_result
    def row(self, relation: str) -> pd.Series:
        """The row of a relation in `to_frame`."""
        return self.to_frame().iloc[self.relations.index(relation)]

    @cached_on_result
    def clearest_relation(self) -> str:
        """The first relation by gain; "all" where there is none to choose."""
        return self.relations[next(iter(self.by_gain()), 0)]

    def arrays(self) -> dict[str, Any]:
        """Accuracies (direction, relation, layer, head), words of each relation, and accuracies of fixed offsets.

        Of a causal model accuracies are of the words that count in each direction, and there are those of all words.
        """
        n = self.n.sum(0)
        arrays = {
            "accuracy": to_lists(self.accuracy),
            "directions": list(DIRECTIONS),
            "relations": self.relations,
            "n": n.tolist(),
            "offset_accuracy": to_lists(self.offset_accuracy()),
        }
        if self.is_causal:  # Counts differ by direction.
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
        heldout, _ = self.held_out()
        right = counts_of_best(self.right, best)
        low, high = (counts_of_best(end, best) for end in self.intervals())
        heldout_low, heldout_high = interval_of_words(*self.sums_held_out())
        columns = {
            "relation": self.relations,
            "n": n,
            "head": [Head(*each).key() for each in best[:, 1:].tolist()],
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
            "units": self.units,
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
        low, high = (end.reshape(right.shape) for end in self.intervals())
        of = np.broadcast_to(n[:, :, None], right.shape)
        heads = {"n": of, "right": right, "accuracy": share(right, of), "low": low, "high": high}
        axes = {"offset": self.offsets.tolist(), "relation": self.relations}
        if self.is_causal:
            heads["accuracy_of_all_words"] = share(right, self.n.sum(0)[:, None])
            axes = {"direction": list(DIRECTIONS)} | axes
        by_offset = self.offset_correct
        n = np.broadcast_to(n[:, None] if self.is_causal else n[0], by_offset.shape)
        offsets = {"n": n, "right": by_offset, "accuracy": share(by_offset, n)}
        names = all_keys(*self.correct.shape[3:])
        tables = {
            "heads": tidy({"direction": DIRECTIONS, "relation": self.relations, "head": names}, heads),
            "offsets": tidy(axes, offsets),
        }
        if self.stored is not None:
            tables["attended"] = WordClasses(self.stored).frame(self.provenance["options"]["view"])
        return tables
