"""The result of the dependency analysis, and which view of it is shown."""

from collections.abc import Callable
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import Annotated, Any, ClassVar

import numpy as np
from typing_extensions import Doc

from bertviz_core.analyses.dependency_heads.guesses import (
    DEFAULT_VIEW,
    OFFSETS,
    SIDES,
    VIEWS,
    base_of,
    trees_of,
    view_of_side,
)
from bertviz_core.analyses.dependency_heads.relations import ROOT, RelationCounts, by_size
from bertviz_core.analyses.request import Request, View
from bertviz_core.analyses.results import Result
from bertviz_core.corpora.files import SAMPLES
from bertviz_core.corpora.treebank import Sentence, sentence_of
from bertviz_core.errors import SettingsError

RELEASE_OFFSETS = tuple(range(-3, 3))
MIN_COUNT, MIN_COUNT_IN_SAMPLE = 100, 20


@dataclass(frozen=True)
class RelationFilter(View):
    """Which counts are shown; mode "paper" has the release's own offsets."""

    view: Annotated[str, Doc("Trees: function-heads (function words govern) or as-is (as annotated).")] = DEFAULT_VIEW
    min_count: Annotated[int | None, Doc("Minimum words per relation (100; sample: 20).")] = None
    offsets: Annotated[int, Doc("Largest distance of the fixed-offset baselines.")] = 5
    merge_subtypes: Annotated[bool, Doc("Count nmod:poss as nmod.")] = False

    def check(self) -> None:
        if self.view not in VIEWS:
            raise SettingsError(f"There is no view {self.view!r}.", hint=f"Choose one of {', '.join(VIEWS)}.")
        if not 1 <= self.offsets <= max(OFFSETS):
            raise SettingsError(f"Offsets up to {self.offsets} are not available.", hint=f"Choose 1 to {max(OFFSETS)}.")

    def show(self, result: Result, request: Request, find: Callable[[Request], Result | None]) -> Result:
        assert isinstance(result, DependencyHeads)
        return result.show(self)


@dataclass(frozen=True)
class DependencyHeads(Result):
    """Right guesses for every view of the trees, every head's guesses in the first sentences, and the sums of
    WordClasses. Fields without a comment are as in RelationCounts."""

    analysis: ClassVar[str] = "dependency_heads"
    sentences: list[dict[str, Any]]  # the first, see `guesses.sentence_record`
    guesses: np.ndarray  # (direction, layer, head, word) the word guessed, from 0 in its sentence
    weights: np.ndarray  # (direction, layer, head, word) its attention, in steps of 1/255
    classes: list[list[str]]
    class_counts: np.ndarray
    class_sums: np.ndarray
    views: list[str]  # of each row; of a causal model also those of `view_of_side`
    relations: list[str]  # for each view "all" and "UAS" first, then by falling number of words
    n: np.ndarray
    correct: np.ndarray
    offsets: np.ndarray
    offset_correct: np.ndarray
    random_correct: np.ndarray | None = None  # (relation,)

    def show(self, chosen: RelationFilter) -> RelationCounts:
        """The counts of one view; raises SettingsError where there is no such view, or the offsets were not counted."""
        chosen.check()
        min_count = self.min_count if chosen.min_count is None else chosen.min_count
        rows = self._rows(chosen.view)
        names = [self.relations[row] for row in rows]
        if chosen.merge_subtypes:
            names = list(map(base_of, names))
        n = self.n[:, rows]
        totals = n.sum(0)
        relations = [*names[:2], *by_size(names[2:], totals[2:])]
        member = np.array([[name == relation for name in names] for relation in relations], dtype=np.int32)
        is_shown = (member @ totals >= min_count) & [base_of(name).lower() != ROOT for name in relations]
        is_shown[:2] = True
        member = member[is_shown]  # (relation, row)
        distances = np.abs(self.offsets)
        is_offset = (distances > 0) & (distances <= chosen.offsets)
        if self.provenance["settings"]["mode"] == "paper":
            is_offset = np.isin(self.offsets, RELEASE_OFFSETS)
        fixed = self.offset_correct[is_offset]
        correct = self.correct[:, :, rows]
        offset_correct = fixed[:, rows]
        visible = random = None
        sides = [self._rows(view_of_side(chosen.view, side)) for side in SIDES]
        if all(sides):  # of a causal model
            correct = np.stack([self.correct[:, direction, own] for direction, own in enumerate(sides)], 1)
            offset_correct = np.stack([fixed[:, own] for own in sides])
            visible = np.stack([self.n[:, own] for own in sides], 1) @ member.T
            random = None if self.random_correct is None else self.random_correct[sides] @ member.T
        options = self.provenance["options"] | asdict(chosen) | {"min_count": min_count}
        return RelationCounts(
            self.provenance | {"options": options},
            relations=[name for name, shown in zip(relations, is_shown, strict=True) if shown],
            n=n @ member.T,
            correct=np.einsum("mr,fdrlh->fdmlh", member, correct),
            offsets=self.offsets[is_offset],
            offset_correct=offset_correct @ member.T,
            visible=visible,
            random_correct=random,
            stored=self,
        )

    @cached_property
    def recorded(self) -> list[Sentence]:
        """The sentences of `sentences`."""
        return list(map(sentence_of, self.sentences))

    @cached_property
    def trees(self) -> dict[str, Any]:
        """Their trees in every view, see `trees_of`; kept, because every head's guesses are listed with them."""
        return trees_of(self.recorded, VIEWS)

    def _rows(self, view: str) -> list[int]:
        return [row for row, name in enumerate(self.views) if name == view]

    @property
    def min_count(self) -> int:
        """How many words a relation needs to be shown by default."""
        return MIN_COUNT_IN_SAMPLE if self.provenance["corpus"]["name"] in SAMPLES["treebank"] else MIN_COUNT

    def default_view(self) -> RelationCounts:
        return self.show(RelationFilter())
