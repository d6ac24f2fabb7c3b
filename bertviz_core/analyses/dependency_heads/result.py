"""What the dependency analysis finds: right guesses by relation, head, direction and half of the treebank."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from bertviz_core.analyses.dependency_heads.guesses import DIRECTIONS, OFFSETS
from bertviz_core.analyses.proportions import best_heads, is_above, of_heads, share, wilson
from bertviz_core.analyses.results import Result, tidy, to_lists
from bertviz_core.corpora.formats import CONLLU
from bertviz_core.corpora.samples import SAMPLES
from bertviz_core.corpora.source import Source
from bertviz_core.corpora.treebank.function_heads import function_heads
from bertviz_core.corpora.treebank.trees import Sentence
from bertviz_core.errors import SettingsError
from bertviz_core.heads import Head, all_heads

if TYPE_CHECKING:
    import pandas as pd

ALL, UAS = "all", "UAS"  # every word, as in the release; every word whose relation is not `punct`
ROOT = "root"  # no head can find the governor of a root: it is no row of its own
VIEWS: dict[str, Callable[[Sentence], Sentence]] = {
    "as-is": lambda sentence: sentence,
    "function-heads": function_heads,
}
RELEASE_OFFSETS = tuple(range(-3, 3))


@dataclass(frozen=True, slots=True)
class DependencyHeads(Result):
    """Correct guesses for every relation and head. Axes: (fold, direction, relation, layer, head), counted in words.

    views, relations: name the relation axis: for each view "all" and "UAS" first, then by falling number of words.
    n: (fold, relation) words.
    correct: guesses that are right.   offsets: (offset,) the fixed offsets that compete as baselines.
    offset_correct: (offset, relation) right guesses of each.
    sentences: the first ones of the treebank, as {"number", "line", "words", "governors", "relations"}.
    guesses, weights: (direction, layer, head, word) for their words one after the other: the word guessed, counted
    from 0 within its sentence, and the attention it has, in steps of 1/255.
    """

    analysis: ClassVar[str] = "dependency_heads"
    more_tables: ClassVar[tuple[str, ...]] = ("heads", "offsets")
    views: list[str]
    relations: list[str]
    n: np.ndarray
    correct: np.ndarray
    offsets: np.ndarray
    offset_correct: np.ndarray
    sentences: list[dict[str, Any]]
    guesses: np.ndarray
    weights: np.ndarray

    @property
    def paper(self) -> bool:
        return bool(self.provenance["settings"]["mode"] == "paper")

    @property
    def accuracy(self) -> np.ndarray:
        """(direction, relation, layer, head), fractions."""
        return share(self.correct.sum(0), self.n.sum(0)[:, None, None])

    @property
    def best(self) -> np.ndarray:
        """(relation, 3): direction, layer and head of the highest accuracy, the first of equals."""
        return best_heads(self.correct.sum(0))

    @property
    def heldout(self) -> np.ndarray:
        """(relation,) accuracy where each half's best head, picked on it, is scored on the other half; both pooled.
        NaN where a half has no such word."""
        right = sum(of_heads(self.correct[fold], best_heads(self.correct[other])) for fold, other in ((0, 1), (1, 0)))
        return np.where((self.n > 0).all(0), share(right, self.n.sum(0)), np.nan)

    @property
    def above(self) -> np.ndarray:
        """(relation,) whether the best head is above the best fixed offset (docs/methods.md, section 6)."""
        return is_above(self.heldout, self.n.sum(0), self.offset_accuracy.max(0), len(self.relations))

    def best_in(self, relation: str, direction: int) -> Head:
        """The head with the highest accuracy on a relation in one direction, the first of equals."""
        right = self.correct.sum(0)[direction, self.relations.index(relation)]
        return Head(*(int(place) for place in np.unravel_index(int(right.argmax()), right.shape)))

    @property
    def offset_accuracy(self) -> np.ndarray:
        """(offset, relation), fractions."""
        return share(self.offset_correct, self.n.sum(0))

    def chosen(
        self, view: str = "as-is", min_count: int = 1, offsets: int = 5, merge_subtypes: bool = False
    ) -> DependencyHeads:
        """The counts of one view, for people: relations of fewer than `min_count` words left away, `nmod:poss` counted
        as `nmod` where subtypes are merged, baselines at most `offsets` words away (mode "paper": the release's own).

        Raises SettingsError for a view that there is not and offsets that were not counted.
        """
        check_choice(view, offsets)
        wanted = RELEASE_OFFSETS if self.paper else [o for o in self.offsets if 0 < abs(o) <= offsets]
        shown = {"view": view, "min_count": min_count, "offsets": offsets, "merge_subtypes": merge_subtypes}
        viewed = self._rows([row for row, its_view in enumerate(self.views) if its_view == view])
        merged = viewed._merged() if merge_subtypes else viewed
        totals = zip(merged.relations, merged.n.sum(0), strict=True)
        selected = merged._rows([r for r, (name, n) in enumerate(totals) if r < 2 or (n >= min_count and name != ROOT)])
        return replace(
            selected,
            provenance=self.provenance | {"options": self.provenance["options"] | shown},
            offsets=np.array(wanted),
            offset_correct=selected.offset_correct[np.isin(self.offsets, wanted)],
            sentences=[_seen(VIEWS[view](sentence_of(s)), merge_subtypes) for s in self.sentences],
        )

    def _rows(self, keep: Sequence[int]) -> DependencyHeads:
        return replace(
            self,
            views=[self.views[row] for row in keep],
            relations=[self.relations[row] for row in keep],
            n=self.n[:, keep],
            correct=self.correct[:, :, keep],
            offset_correct=self.offset_correct[:, keep],
        )

    def most_telling(self) -> str:
        """The relation whose best head is the furthest beyond its best offset, one with a verdict first; "all" where
        there is none to choose."""
        gain = self.accuracy.max((0, 2, 3)) - self.offset_accuracy.max(0)
        above = self.above
        rows = [row for row, name in enumerate(self.relations) if name not in (ALL, UAS, ROOT, "punct")]
        return self.relations[max(rows, key=lambda row: (above[row], gain[row]), default=0)]

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
        import pandas as pd

        n, best = self.n.sum(0), self.best
        right = of_heads(self.correct.sum(0), best)
        low, high = wilson(right, n)
        heldout_low, heldout_high = wilson(self.heldout * n, n)
        offset = self.offset_correct.argmax(0)
        columns = {
            "relation": self.relations,
            "n": n,
            "head": [Head(int(layer), int(head)).label() for _, layer, head in best],
            "direction": [DIRECTIONS[direction] for direction in best[:, 0]],
            "accuracy": share(right, n),
            "low": low,
            "high": high,
            "heldout_accuracy": self.heldout,
            "heldout_low": heldout_low,
            "heldout_high": heldout_high,
            "baseline_offset": self.offsets[offset],
            "baseline_accuracy": self.offset_accuracy.max(0),
            "above_baseline": self.above,
        }
        return pd.DataFrame(columns)

    def tables(self) -> dict[str, pd.DataFrame]:
        """Every head on every relation in both directions, and every fixed offset on every relation."""
        n, right = self.n.sum(0), self.correct.sum(0)
        names = [head.label() for head in all_heads(*right.shape[2:])]
        right = right.reshape(*right.shape[:2], -1)
        total = np.broadcast_to(n[:, None], right.shape)
        low, high = wilson(right, total)
        counts = {"n": total, "right": right, "accuracy": share(right, total), "low": low, "high": high}
        offsets = {"n": np.broadcast_to(n, self.offset_correct.shape), "right": self.offset_correct}
        return {
            "heads": tidy({"direction": DIRECTIONS, "relation": self.relations, "head": names}, counts),
            "offsets": tidy(
                {"offset": self.offsets.tolist(), "relation": self.relations},
                offsets | {"accuracy": self.offset_accuracy},
            ),
        }

    def claim(self) -> str:
        row = self.to_frame().iloc[self.relations.index(self.most_telling())]
        heldout = f"; {row['heldout_accuracy']:.1%} held out" if "heldout_accuracy" in row else ""
        return (
            f"Head {row['head']}, {row['direction'].replace('->', ' → ')}, finds {row['accuracy']:.1%} of {row['n']:,} "
            f"{row['relation']} (95% interval {row['low']:.1%} to {row['high']:.1%}{heldout}); the best fixed offset, "
            f"{row['baseline_offset']:+d}, finds {row['baseline_accuracy']:.1%}."
        )

    def _merged(self) -> DependencyHeads:
        """Subtypes added up under what stands before the colon; of one view."""
        bases = [relation.split(":")[0] for relation in self.relations]
        names = [*self.relations[:2], *by_size(bases[2:], self.n.sum(0)[2:])]
        member = np.array([[name == base for base in bases] for name in names], dtype=np.int32)
        return replace(
            self,
            views=self.views[:1] * len(names),
            relations=names,
            n=self.n @ member.T,
            correct=np.einsum("mr,fdrlh->fdmlh", member, self.correct),
            offset_correct=self.offset_correct @ member.T,
        )


def check_choice(view: str, offsets: int) -> None:
    """Raises SettingsError for a view that there is not, and for offsets that are not counted."""
    if view not in VIEWS:
        raise SettingsError(f"There is no view {view!r}.", hint=f"Choose one of {', '.join(VIEWS)}.")
    if not 1 <= offsets <= max(OFFSETS):
        raise SettingsError(f"Offsets up to {offsets} are not available.", hint=f"Choose 1 to {max(OFFSETS)}.")


def described(sentence: Sentence) -> dict[str, Any]:
    """A sentence as a result keeps it."""
    values = {field.name: getattr(sentence, field.name) for field in fields(sentence)}
    return {name: list(v) if isinstance(v, tuple) else v for name, v in values.items()}


def _seen(sentence: Sentence, merge_subtypes: bool) -> dict[str, Any]:
    names = tuple(name.split(":")[0] if merge_subtypes else name for name in sentence.relations)
    return described(replace(sentence, relations=names))


def sentence_of(described: dict[str, Any]) -> Sentence:
    """The inverse, of what has been to bytes and back too."""
    values: dict[str, Any] = {name: tuple(v) if isinstance(v, list) else v for name, v in described.items()}
    return Sentence(**values)


def by_size(names: Sequence[str], n: np.ndarray) -> list[str]:
    """Different names by falling total, then by name."""
    totals: dict[str, int] = {}
    for name, count in zip(names, n.tolist(), strict=True):
        totals[name] = totals.get(name, 0) + count
    return sorted(totals, key=lambda name: (-totals[name], name))


MIN_COUNT, MIN_COUNT_IN_SAMPLE = 100, 20


def default_min_count(source: Source) -> int:
    """The fewest words that a relation of this treebank must have to be shown, unless the reader says otherwise."""
    return MIN_COUNT_IN_SAMPLE if source.name in SAMPLES["treebank"] else MIN_COUNT


def shown_relations(result: DependencyHeads) -> DependencyHeads:
    """The counts as the page of dependency heads shows them at first: function heads for Universal Dependencies, and
    no relation of too few words."""
    origin = result.provenance
    view = "function-heads" if origin["format"] == CONLLU else "as-is"
    min_count = MIN_COUNT_IN_SAMPLE if origin["corpus"]["name"] in SAMPLES["treebank"] else MIN_COUNT
    return result.chosen(view, min_count)
