"""The result of the dependency analysis: right guesses by relation, head, direction and half of the treebank."""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, ClassVar, NamedTuple

import numpy as np
import pandas as pd

from bertviz_core.analyses.dependency_heads.gold_trees import SIDES, view_of_side
from bertviz_core.analyses.dependency_heads.guesses import OFFSETS
from bertviz_core.analyses.dependency_heads.relations import DEFAULT_VIEW, ROOT, RelationCounts
from bertviz_core.analyses.dependency_heads.word_classes import WordClasses
from bertviz_core.analyses.results import Result, ViewedResult
from bertviz_core.corpora.files import SAMPLES
from bertviz_core.corpora.treebank import Sentence, function_heads, sentence_of
from bertviz_core.errors import SettingsError

VIEWS: dict[str, Callable[[Sentence], Sentence]] = {
    "as-is": lambda sentence: sentence,
    "function-heads": function_heads,
}
RELEASE_OFFSETS = tuple(range(-3, 3))
MIN_COUNT, MIN_COUNT_IN_SAMPLE = 100, 20


class RelationFilter(NamedTuple):
    """Which counts are shown: the view, the relations of `min_count` words or more, baselines up to a distance of
    `offsets` (mode "paper" has the release's own), and whether `nmod:poss` counts as `nmod`."""

    view: str = DEFAULT_VIEW
    min_count: int = 1
    offsets: int = 5
    merge_subtypes: bool = False


@dataclass(frozen=True)
class FirstSentences(Result):
    """The first sentences of a treebank, every head's guesses in them, and what words are attended to.

    Attributes:
        sentences: {"number", "line", "words", "governors", "relations"} of each.
        guesses: (direction, layer, head, word) for their words one after the other: the word guessed, counted from 0
            within its sentence.
        weights: (direction, layer, head, word) the attention to that word, in steps of 1/255.
        classes, class_counts, class_sums: What words are attended to, see WordClasses.
    """

    sentences: list[dict[str, Any]]
    guesses: np.ndarray
    weights: np.ndarray
    classes: list[list[str]]
    class_counts: np.ndarray
    class_sums: np.ndarray


@dataclass(frozen=True)
class ShownRelations(RelationCounts, FirstSentences):
    """Right guesses, with the first sentences of the treebank under the same view."""

    def tables(self) -> dict[str, pd.DataFrame]:
        """Those of the counts, and how every head's attention to words divides."""
        return super().tables() | {"attended": WordClasses.of(self).frame(self.provenance["options"]["view"])}


@dataclass(frozen=True)
class DependencyHeads(ViewedResult, FirstSentences):
    """Right guesses for every view of the trees, relation and head, counted in words.

    Attributes:
        views: (relation,) the view that each row belongs to; a causal model has further views of the words whose
            governor comes earlier, and of those whose governor comes later (`gold_trees.view_of_side`).
        relations: (relation,) names: for each view "all" and "UAS" first, then by falling number of words.
        random_correct: (relation,) of a causal model, right guesses of a word drawn at random, see RelationCounts.

    `sentences` are as the treebank has them; all others are as in RelationCounts.
    """

    analysis: ClassVar[str] = "dependency_heads"
    views: list[str]
    relations: list[str]
    n: np.ndarray
    correct: np.ndarray
    offsets: np.ndarray
    offset_correct: np.ndarray
    random_correct: np.ndarray | None = None

    def counts(self, chosen: RelationFilter) -> RelationCounts:
        """The counts of one view; raises SettingsError where there is no such view, or the offsets were not counted."""
        view, min_count, offsets, merge_subtypes = chosen
        check_choice(view, offsets)
        paper = self.provenance["settings"]["mode"] == "paper"
        shown = RELEASE_OFFSETS if paper else [o for o in self.offsets if 0 < abs(o) <= offsets]
        rows = self._rows(view)
        names, n = [self.relations[row] for row in rows], self.n[:, rows]
        member = np.eye(len(names), dtype=np.int32)
        if merge_subtypes:
            names, member = _merged(names, n.sum(0))
        n, correct, offset_correct = n @ member.T, self.correct[:, :, rows], self._offsets(rows, shown)
        visible = random = None
        if sides := [self._rows(view_of_side(view, side)) for side in SIDES if view_of_side(view, side) in self.views]:
            correct = np.stack([self.correct[:, d, rows] for d, rows in enumerate(sides)], 1)
            offset_correct = np.stack([self._offsets(rows, shown) for rows in sides])
            visible = np.stack([self.n[:, rows] for rows in sides], 1) @ member.T
            if self.random_correct is not None:
                random = np.stack([self.random_correct[rows] for rows in sides]) @ member.T
        offset_correct = offset_correct @ member.T
        correct = np.einsum("mr,fdrlh->fdmlh", member, correct) if merge_subtypes else correct
        totals = zip(names, n.sum(0), strict=True)
        keep = [
            row
            for row, (name, count) in enumerate(totals)
            if row < 2 or (count >= min_count and name.split(":")[0].lower() != ROOT)
        ]
        return RelationCounts(
            self.provenance | {"options": self.provenance["options"] | chosen._asdict()},
            relations=[names[row] for row in keep],
            n=n[:, keep],
            correct=correct[:, :, keep],
            offsets=np.array(shown),
            offset_correct=offset_correct[..., keep],
            visible=None if visible is None else visible[..., keep],
            random_correct=None if random is None else random[:, keep],
        )

    def _rows(self, view: str) -> list[int]:
        return [row for row, its_view in enumerate(self.views) if its_view == view]

    def _offsets(self, rows: Sequence[int], shown: Sequence[int]) -> np.ndarray:
        """(offset, row) right guesses of the offsets shown."""
        return self.offset_correct[:, rows][np.isin(self.offsets, shown)]

    def show(self, chosen: RelationFilter) -> ShownRelations:
        """The counts of one view together with its sentences, which take most of the time."""
        counts, view = self.counts(chosen), VIEWS[chosen.view]
        values = {field.name: getattr(self, field.name) for field in fields(FirstSentences)}
        values |= {field.name: getattr(counts, field.name) for field in fields(counts)}
        values["sentences"] = [viewed(view(sentence_of(each)), chosen.merge_subtypes) for each in self.sentences]
        return ShownRelations(**values)

    def default_filter(self) -> RelationFilter:
        """The default filter: function words as governors, and relations that are not too rare."""
        return RelationFilter(min_count=default_min_count(self.provenance["corpus"]["name"]))

    def default_view(self) -> RelationCounts:
        return self.counts(self.default_filter())

    def show_default(self) -> ShownRelations:
        """The default view together with its sentences."""
        return self.show(self.default_filter())


def default_min_count(treebank: str) -> int:
    """The fewest words that a relation of a treebank, by its name, must have to be shown unless the reader says
    otherwise."""
    return MIN_COUNT_IN_SAMPLE if treebank in SAMPLES["treebank"] else MIN_COUNT


def _merged(relations: Sequence[str], n: np.ndarray) -> tuple[list[str], np.ndarray]:
    """The names without subtypes, and (name, relation) int32: 1 where a relation counts under a name."""
    bases = [relation.split(":")[0] for relation in relations]
    names = [*relations[:2], *by_size(bases[2:], n[2:])]
    return names, np.array([[name == base for base in bases] for name in names], dtype=np.int32)


def check_choice(view: str, offsets: int) -> None:
    """Raises SettingsError for an unknown view, and for offsets that are not counted."""
    if view not in VIEWS:
        raise SettingsError(f"There is no view {view!r}.", hint=f"Choose one of {', '.join(VIEWS)}.")
    if not 1 <= offsets <= max(OFFSETS):
        raise SettingsError(f"Offsets up to {offsets} are not available.", hint=f"Choose 1 to {max(OFFSETS)}.")


def sentence_record(sentence: Sentence) -> dict[str, Any]:
    """A sentence as a dict, as results store it."""
    values = {field.name: getattr(sentence, field.name) for field in fields(sentence)}
    return {name: list(v) if isinstance(v, tuple) else v for name, v in values.items()}


def viewed(sentence: Sentence, merge_subtypes: bool) -> dict[str, Any]:
    """A sentence of one view as a result keeps it."""
    names = tuple(name.split(":")[0] if merge_subtypes else name for name in sentence.relations)
    return sentence_record(replace(sentence, relations=names))


def by_size(names: Sequence[str], n: np.ndarray) -> list[str]:
    """Different names by falling total, then by name."""
    totals = Counter[str]()
    for name, count in zip(names, n.tolist(), strict=True):
        totals[name] += count
    return sorted(totals, key=lambda name: (-totals[name], name))
