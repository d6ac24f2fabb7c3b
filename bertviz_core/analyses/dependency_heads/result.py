"""The result of the dependency analysis, and which view of it is shown."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, fields, replace
from functools import cached_property
from itertools import compress
from typing import Annotated, Any, ClassVar, Self

import numpy as np
from typing_extensions import Doc

from bertviz_core.analyses.base.list_view import ListView
from bertviz_core.analyses.base.result import Provenance, Result
from bertviz_core.analyses.base.view import View
from bertviz_core.analyses.dependency_heads.guess_counts import ROOT_RELATION
from bertviz_core.analyses.dependency_heads.guesses import (
    DEFAULT_VIEW,
    DIRECTIONS,
    OFFSETS,
    SIDES,
    VIEWS,
    Direction,
    Trees,
    base_of,
    merged,
    trees_of,
    view_of_side,
)
from bertviz_core.analyses.dependency_heads.relations import RelationCounts
from bertviz_core.analyses.dependency_heads.word_classes import WordClasses
from bertviz_core.choices import Between, Formerly, Label, Positive
from bertviz_core.corpora.files import SAMPLES
from bertviz_core.corpora.language import is_english
from bertviz_core.corpora.treebank import Sentence, SentenceRecord, sentence_of
from bertviz_core.heads import DirectedHead, Head

RELEASE_OFFSETS = tuple(range(-3, 3))
MIN_COUNT, MIN_COUNT_IN_SAMPLE = 100, 20


@dataclass(frozen=True)
class RelationFilter(View[RelationCounts]):
    """Which counts are shown; mode "paper" has the release's own offsets."""

    view: Annotated[
        Trees, Label("Trees"), Doc("Trees: function-heads (function words govern) or as-is (as annotated).")
    ] = DEFAULT_VIEW
    min_count: Annotated[
        Positive | None,
        Label("Minimum words"),
        Formerly("least"),
        Doc(f"Minimum words per relation ({MIN_COUNT}; sample: {MIN_COUNT_IN_SAMPLE})."),
    ] = None
    offsets: Annotated[
        int,
        Between(1, max(OFFSETS)),
        Label("Maximum offset"),
        Doc("Largest distance of the fixed-offset baselines."),
    ] = 5
    merge_subtypes: Annotated[bool, Label("Merge subtypes"), Formerly("merge"), Doc("Count nmod:poss as nmod.")] = False

    def show(self, result: "DependencyHeads", beside: Any = None) -> RelationCounts:
        return result.show(self.filter())

    def showing(self) -> Self:
        return replace(type(self)(), **vars(self.filter()))

    def filter(self) -> "RelationFilter":
        """These fields alone."""
        return RelationFilter(self.view, self.min_count, self.offsets, self.merge_subtypes)


@dataclass(frozen=True)
class RelationView(ListView[RelationCounts], RelationFilter):
    """Which counts are shown, the relation, the direction and the head that are reported, and the list of the head's
    sentences."""

    target: ClassVar[str] = "relation"
    relation: Annotated[str | None, Doc("The relation to report; default: the clearest.")] = None
    direction: Annotated[Direction | None, Doc(f"{' or '.join(DIRECTIONS)}; default: that of the best head.")] = None
    head: Annotated[str | None, Doc("The head to report, as 3-1; default: the best one.")] = None
    arcs: Annotated[bool, Label("Arcs of other relations"), Doc("Draw the gold arcs of other relations too.")] = False

    def offered(self, shown: RelationCounts) -> dict[str, Sequence[str]]:
        """The relations with enough words."""
        return {"relation": shown.relations}

    def shape(self, shown: RelationCounts) -> tuple[int, int]:
        layers, heads = shown.correct.shape[3:]
        return layers, heads

    def resolve(self, shown: RelationCounts) -> Self:
        """By default the clearest relation, the direction of its best head, and the best head in the direction."""
        relation = self.relation if self.relation in shown.relations else shown.clearest_relation()
        direction = self.direction or DIRECTIONS[shown.best_choice(relation).direction]
        head = self.head_of()
        if head is None:
            head = shown.in_direction(DIRECTIONS.index(direction)).best_choice(relation).head
        return replace(self, relation=relation, direction=direction, head=head.key())

    def choice(self) -> tuple[str, DirectedHead]:
        """The relation and the directed head, of a view that is resolved."""
        assert self.relation and self.direction, "a resolved view"
        return self.relation, DirectedHead(DIRECTIONS.index(self.direction), self.chosen_head())

    def opening_head(self, result: "DependencyHeads") -> Head | None:
        """The best head on the relation in the direction."""
        return replace(self, head=None).resolve(result.show(self.filter())).head_of()

    def reported(self, shown: RelationCounts) -> dict[str, Any]:
        """The relation, the direction and the head, and switches that are on; what is counted is among the options of
        the counts."""
        others = {each.name for each in fields(RelationFilter)}
        chosen = super().reported(shown).items()
        return {name: value for name, value in chosen if name not in others and value is not False}


@dataclass(frozen=True)
class DependencyHeads(Result):
    """Right guesses for every view of the trees, every head's guesses in the first sentences, and the sums of
    WordClasses.

    A row stands for a view and a relation; of a causal model there are also rows for the words whose governor is on one
    of SIDES. Moments are sums over units (documents or sentences), for c right guesses among n words.

    Attributes:
        sentences: The first sentences, see `sentence_record`.
        guesses: (direction, layer, head, word) the word guessed, from 0 in its sentence, for all words of `sentences`
            one after the other.
        weights: (direction, layer, head, word) its attention, in steps of 1/255.
        classes: Scheme and label of each class of words, see WordClasses.
        class_counts: (class, 3) words, words weighted by uniform attention, and units that have one.
        class_sums: (class, 3, layer, head) sums of x, m x and x squared, with x the attention from words to the words
            of the class and m that to all words.
        views: (row,) names of views, also those of `merged`; of a causal model those of `view_of_side` too.
        relations: (row,) for each view "all" and "UAS" first, then relations by falling number of words.
        n: (fold, row) words.
        correct: (fold, direction, row, layer, head) guesses that are right.
        offsets: (offset,) all fixed offsets that were counted, in words to the right.
        offset_correct: (offset, row) right guesses of fixed offsets.
        unit_moments: (2, fold, row) how many units have words, and sums of n^2.
        head_moments: (2, fold, direction, row, layer, head) sums of n c and of c^2.
        offset_moments: (2, offset, row) the same for fixed offsets.
        random_correct: (row,) mean right guesses of a random word on the governor's side; None unless the model is
            causal.
    """

    analysis: ClassVar[str] = "dependency_heads"
    sentences: list[SentenceRecord]
    guesses: np.ndarray
    weights: np.ndarray
    classes: list[list[str]]
    class_counts: np.ndarray
    class_sums: np.ndarray
    views: list[str]
    relations: list[str]
    n: np.ndarray
    correct: np.ndarray
    offsets: np.ndarray
    offset_correct: np.ndarray
    unit_moments: np.ndarray
    head_moments: np.ndarray
    offset_moments: np.ndarray
    random_correct: np.ndarray | None = None

    def show(self, chosen: RelationFilter) -> RelationCounts:
        """The counts of one view.

        Raises:
            SettingsError: There is no such view, or the offsets were not counted.
        """
        is_paper = self.provenance["settings"]["mode"] == "paper"
        if is_paper:
            chosen = replace(chosen, offsets=RelationFilter.offsets)
        chosen.check()
        min_count = self.min_count if chosen.min_count is None else chosen.min_count
        rows = self._rows(chosen.view, chosen.merge_subtypes)
        counts = self.n[:, rows].sum(0).tolist()
        is_shown = [
            n >= min_count and base_of(self.relations[row]).lower() != ROOT_RELATION
            for row, n in zip(rows, counts, strict=True)
        ]
        is_shown[:2] = True, True  # The totals are always shown.
        sides = [self._rows(view_of_side(chosen.view, side), chosen.merge_subtypes) for side in SIDES]
        is_causal = all(sides)
        rows, *sides = (list(compress(each, is_shown)) for each in (rows, *sides))
        distances = np.abs(self.offsets)
        is_offset = (distances > 0) & (distances <= chosen.offsets)
        if is_paper:
            is_offset = np.isin(self.offsets, RELEASE_OFFSETS)
        options = self.provenance["options"] | asdict(chosen) | {"min_count": min_count}
        provenance = self.provenance | {"options": options}
        if is_causal:
            return self._show_sides(provenance, rows, sides, is_offset)
        return RelationCounts(
            provenance=provenance,
            stored=self,
            relations=[self.relations[row] for row in rows],
            n=self.n[:, rows],
            offsets=self.offsets[is_offset],
            correct=self.correct[:, :, rows],
            offset_correct=self.offset_correct[is_offset][:, rows],
            unit_moments=self.unit_moments[:, :, rows],
            head_moments=self.head_moments[:, :, :, rows],
            offset_moments=self.offset_moments[:, is_offset][:, :, rows],
        )

    def _show_sides(
        self, provenance: Provenance, rows: list[int], sides: list[list[int]], is_offset: np.ndarray
    ) -> RelationCounts:
        """The counts of one view of a causal model, where each direction counts the words that it can see.

        Args:
            rows: The rows of all words, one for each relation.
            sides: For each direction the rows of the words whose governor is on its side, in the same order.
            is_offset: (offset,) which fixed offsets are compared.
        """
        fixed = self.offset_correct[is_offset]
        squared = self.offset_moments[:, is_offset]
        by_direction = list(enumerate(sides))
        return RelationCounts(
            provenance=provenance,
            stored=self,
            relations=[self.relations[row] for row in rows],
            n=self.n[:, rows],
            offsets=self.offsets[is_offset],
            correct=np.stack([self.correct[:, direction, own] for direction, own in by_direction], 1),
            offset_correct=np.stack([fixed[:, own] for own in sides]),
            visible=np.stack([self.n[:, own] for own in sides], 1),
            random_correct=None if self.random_correct is None else self.random_correct[sides],
            unit_moments=np.stack([self.unit_moments[:, :, own] for own in sides], 2),
            head_moments=np.stack([self.head_moments[:, :, direction, own] for direction, own in by_direction], 2),
            offset_moments=np.stack([squared[:, :, own] for own in sides], 1),
        )

    @cached_property
    def recorded(self) -> list[Sentence]:
        """The sentences of `sentences`."""
        return list(map(sentence_of, self.sentences))

    @cached_property
    def is_english(self) -> bool:
        """Whether the words of `sentences` are English."""
        return is_english(word for sentence in self.sentences for word in sentence["words"])

    @cached_property
    def trees(self) -> dict[str, Any]:
        """Their trees in every view, see `trees_of`; kept, because every head's guesses are listed with them."""
        return trees_of(self.recorded, VIEWS)

    def _rows(self, view: str, merge_subtypes: bool) -> list[int]:
        view = merged(view) if merge_subtypes else view
        return [row for row, name in enumerate(self.views) if name == view]

    @property
    def min_count(self) -> int:
        """How many words a relation needs to be shown by default."""
        return MIN_COUNT_IN_SAMPLE if self.provenance["corpus"]["name"] in SAMPLES["treebank"] else MIN_COUNT

    @cached_property
    def word_classes(self) -> WordClasses:
        """The attention to classes of words."""
        return WordClasses(self)

    @cached_property
    def _default_view(self) -> RelationCounts:
        return self.show(RelationFilter())

    def default_view(self) -> RelationCounts:
        """The counts of trees with function words as governors; kept, because every head is described by them."""
        return self._default_view
