"""The result of the dependency analysis: right guesses by relation, head, direction and half of the treebank."""

from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Annotated, Any, ClassVar

import numpy as np
from typing_extensions import Doc

from bertviz_core.analyses.dependency_heads.guesses import DEFAULT_VIEW, OFFSETS, SIDES, VIEWS, base_of, view_of_side
from bertviz_core.analyses.dependency_heads.relations import ROOT, RelationCounts, by_size
from bertviz_core.analyses.request import Request, View
from bertviz_core.analyses.results import Result
from bertviz_core.corpora.files import SAMPLES
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
    """Right guesses for every view of the trees, relation and head, counted in words, with every head's guesses in the
    first sentences, and what words are attended to, see WordClasses. What has no note is as in RelationCounts."""

    analysis: ClassVar[str] = "dependency_heads"
    sentences: list[dict[str, Any]]  # see `guesses.sentence_record`, as the treebank has them
    guesses: np.ndarray  # (direction, layer, head, word) for all their words: the word guessed, from 0 in its sentence
    weights: np.ndarray  # (direction, layer, head, word) the attention to that word, in steps of 1/255
    classes: list[list[str]]
    class_counts: np.ndarray
    class_sums: np.ndarray
    views: list[str]  # (relation,) of each row; of a causal model also those of `view_of_side`
    relations: list[str]  # (relation,) for each view "all" and "UAS" first, then by falling number of words
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
        bases = [base_of(name) if chosen.merge_subtypes else name for name in (self.relations[row] for row in rows)]
        totals = self.n[:, rows].sum(0)
        names = [*bases[:2], *by_size(bases[2:], totals[2:])]
        member = np.array([[name == base for base in bases] for name in names], dtype=np.int32)  # (name, row)
        is_shown = (member @ totals >= min_count) & [base_of(name).lower() != ROOT for name in names]
        is_shown[:2] = True
        member = member[is_shown]
        paper = self.provenance["settings"]["mode"] == "paper"
        offsets = np.array(RELEASE_OFFSETS if paper else [o for o in self.offsets if 0 < abs(o) <= chosen.offsets])
        by_offset = self.offset_correct[np.isin(self.offsets, offsets)]
        correct = self.correct[:, :, rows]
        offset_correct = by_offset[:, rows]
        visible = random = None
        if all(sides := [self._rows(view_of_side(chosen.view, side)) for side in SIDES]):
            correct = np.stack([self.correct[:, direction, rows] for direction, rows in enumerate(sides)], 1)
            offset_correct = np.stack([by_offset[:, rows] for rows in sides])
            visible = np.stack([self.n[:, rows] for rows in sides], 1) @ member.T
            random = None if self.random_correct is None else self.random_correct[sides] @ member.T
        options = self.provenance["options"] | asdict(chosen) | {"min_count": min_count}
        relations = [name for name, shown in zip(names, is_shown, strict=True) if shown]
        counts: dict[str, Any] = {"n": self.n[:, rows] @ member.T, "visible": visible, "random_correct": random}
        counts |= {"correct": np.einsum("mr,fdrlh->fdmlh", member, correct)}
        counts |= {"offsets": offsets, "offset_correct": offset_correct @ member.T}
        return RelationCounts(self.provenance | {"options": options}, relations, **counts, stored=self)

    def _rows(self, view: str) -> list[int]:
        return [row for row, its_view in enumerate(self.views) if its_view == view]

    @property
    def min_count(self) -> int:
        """How many words a relation needs to be shown by default."""
        return MIN_COUNT_IN_SAMPLE if self.provenance["corpus"]["name"] in SAMPLES["treebank"] else MIN_COUNT

    def default_view(self) -> RelationCounts:
        return self.show(RelationFilter())
