"""What a reader can choose on the pages of analyses: a frozen value for each. Nothing here knows Streamlit.

A field is None where its default follows results, as in `choices.py`.
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Annotated, Any, ClassVar, Literal, Self

from bertviz_core.analyses.base.analysis import Analysis
from bertviz_core.analyses.base.averages import HeadColumn
from bertviz_core.analyses.base.registry import ANALYSES
from bertviz_core.analyses.base.result import Result
from bertviz_core.analyses.behaviors import Thresholds
from bertviz_core.analyses.coreference_heads.antecedents import AntecedentCounts
from bertviz_core.analyses.coreference_heads.result import CoreferenceHeads, CoreferenceView
from bertviz_core.analyses.dependency_heads import guesses
from bertviz_core.analyses.dependency_heads.relations import RelationCounts
from bertviz_core.analyses.dependency_heads.result import DependencyHeads, RelationFilter, RelationView
from bertviz_core.analyses.probes.options import PROBES, ProbeOptions
from bertviz_core.analyses.reach.result import INACTIVE
from bertviz_core.heads import Head, highest
from pages.shared.costly import show_mentions, show_relations
from pages.shared.state.address_types import (
    Between,
    Direction,
    MentionDirection,
    Order,
    Positive,
    Right,
    Share,
)
from pages.shared.state.choices import PageChoices


@dataclass(frozen=True)
class ResultChoices(PageChoices, ABC):
    """Of the page of an analysis that opens on a head of its own result."""

    def options(self, paper: bool) -> dict[str, Any]:
        """The options of the request for the analysis; `paper` says whether the mode is "paper"."""
        return {}

    @abstractmethod
    def opening_head(self, analysis: Analysis, result: Result, paper: bool) -> Head | None:
        """The head that is best at what the page shows of a result; None where the result does not say."""


@dataclass(frozen=True)
class AnalysisChoices(ResultChoices):
    """Of the page of any analysis.

    Attributes:
        quantity: The quantity on its map; None for the first that a result has.
    """

    quantity: str | None = None

    @classmethod
    def parameter(cls, field: str) -> str:
        """The quantity has a name of its own in the address of each analysis."""
        return ANALYSES[cls.page].control_key if field == "quantity" else field

    @classmethod
    def on(cls, target: str) -> Self:
        """The page on a quantity."""
        return cls(quantity=target)

    def opening_head(self, analysis: Analysis, result: Result, paper: bool) -> Head | None:
        """The highest head of the column on the map."""
        column = self.resolve(analysis, result)
        return None if column is None else analysis.best_head(result, [column.quantity])

    def resolve(self, analysis: Analysis, result: Result) -> HeadColumn | None:
        """The column on the map: the chosen one, or the first that the result has; None without any."""
        for column in analysis.columns:
            if column.quantity == self.quantity and column.read(result) is not None:
                return column
        return analysis.default_column(result)


@dataclass(frozen=True)
class EntropyChoices(AnalysisChoices):
    """Of entropy.

    Attributes:
        share: The share of the entropy of uniform attention up to which heads are named.
    """

    page: ClassVar[str] = "entropy"
    share: Annotated[float, Between(0.1, 1.0)] = 0.5


@dataclass(frozen=True)
class SurfacePatternsChoices(AnalysisChoices):
    """Of surface patterns.

    Attributes:
        over: The share of attention over which heads are named.
        both: Whether weights and norms are in one figure.
    """

    page: ClassVar[str] = "surface_patterns"
    over: Annotated[float, Between(0.1, 0.95)] = 0.5
    both: bool = False


@dataclass(frozen=True)
class ReachChoices(AnalysisChoices):
    """Of reach.

    Attributes:
        below: A head is inactive where its output is shorter than this share of the mean of its layer's heads.
    """

    page: ClassVar[str] = "reach"
    below: Annotated[float, Between(0.1, 1.0)] = INACTIVE


@dataclass(frozen=True)
class SepGradientsChoices(AnalysisChoices):
    """Of the gradients of attention to [SEP]: only the quantity."""

    page: ClassVar[str] = "sep_gradients"


@dataclass(frozen=True)
class AblationChoices(AnalysisChoices):
    """Of ablation.

    Attributes:
        mean: Whether a head's mean output takes its place, instead of zeros.
    """

    page: ClassVar[str] = "ablation"
    mean: bool = False

    def options(self, paper: bool) -> dict[str, Any]:
        """The options of the request; without any its defaults."""
        return {"mean": True} if self.mean else {}


@dataclass(frozen=True)
class ClusteringChoices(PageChoices):
    """Of clustering.

    Attributes:
        root: Whether square roots of divergences are embedded.
        over_next: The threshold of the behavior "next", a share of attention.
        over_previous: That of "previous".
        over_entropy: That of "broad", in nats.
        over_to_cls: That of "to_cls".
        over_to_sep: That of "to_sep".
        over_to_punct: That of "to_punct".
        over_to_first: That of "to_first".
    """

    page: ClassVar[str] = "clustering"
    root: bool = False
    over_next: Share = Thresholds.next
    over_previous: Share = Thresholds.previous
    over_entropy: Annotated[float, Between(0.0, 7.0)] = Thresholds.entropy
    over_to_cls: Share = Thresholds.to_cls
    over_to_sep: Share = Thresholds.to_sep
    over_to_punct: Share = Thresholds.to_punct
    over_to_first: Share = Thresholds.to_first

    @classmethod
    def parameter(cls, field: str) -> str:
        """Thresholds are written "over-next" in an address."""
        return field.replace("over_", "over-")

    def thresholds(self, present: Sequence[str]) -> Thresholds:
        """Those of the quantities that a result has; others keep their defaults."""
        return Thresholds(**{name: getattr(self, f"over_{name}") for name in present if hasattr(Thresholds, name)})


@dataclass(frozen=True)
class DependencyHeadsChoices(ResultChoices):
    """Of dependency heads.

    Attributes:
        possessives: Whether the paper's rule for *poss* before 's applies, as it always does in mode "paper".
        view: How the trees are read.
        least: The fewest words of a relation that is shown; None for a number that follows the size of the treebank.
        offsets: The longest distance of a fixed-offset baseline, in words.
        merge: Whether subtypes of relations are counted with their relation.
        relation: The relation; None for the clearest one.
        direction: The direction in which a head is read; None for that of the best head.
        which: Which guesses are listed.
        order: The order of the listed sentences.
        weight: The lowest weight of a listed guess.
        search: Words that a listed sentence contains.
        sentence_page: The page of the list, from 1.
        arcs: Whether the arcs of other relations are drawn too.
    """

    page: ClassVar[str] = "dependency_heads"
    possessives: bool = False
    view: Literal["function-heads", "as-is"] = "function-heads"
    least: Positive | None = None
    offsets: Annotated[int, Between(1, 20)] = RelationFilter.offsets
    merge: bool = False
    relation: str | None = None
    direction: Direction | None = None
    which: Right = "all"
    order: Order = "most confident first"
    weight: Share = 0.0
    search: str = ""
    sentence_page: Positive = 1
    arcs: bool = False

    @classmethod
    def on(cls, target: str) -> Self:
        """The page on a relation."""
        return cls(relation=target)

    def options(self, paper: bool) -> dict[str, Any]:
        """The options of the request; mode "paper" always applies its rule for possessives."""
        return {"possessives": True} if self.possessives and not paper else {}

    def filter(self, result: DependencyHeads, paper: bool) -> RelationFilter:
        """Which relations are counted, and how."""
        offsets = RelationFilter.offsets if paper else self.offsets
        return RelationFilter(self.view, self.least or result.min_count, offsets, self.merge)

    def resolve(self, counts: RelationCounts) -> tuple[str, int]:
        """The relation, and the direction, an index of DIRECTIONS: by default the clearest one, and that of its best
        head."""
        relation = self.relation if self.relation in counts.relations else counts.clearest_relation()
        if self.direction is None:
            return relation, counts.best_choice(relation).direction
        return relation, guesses.DIRECTIONS.index(self.direction)

    def opening_head(self, analysis: Analysis, result: Result, paper: bool) -> Head | None:
        """The best head on the chosen relation."""
        assert isinstance(result, DependencyHeads)
        return self.best_head(show_relations(result, self.filter(result, paper)))

    def reported(self, counts: RelationCounts, head: Head) -> RelationView:
        """What the page shows of the counts, as the options of the command say it."""
        relation, direction = self.resolve(counts)
        options = counts.provenance["options"]
        return RelationView(
            **{each.name: options[each.name] for each in fields(RelationFilter)},
            relation=relation,
            direction=guesses.DIRECTIONS[direction],
            head=head.key(),
            arcs=self.arcs,
            guesses=self.which,
            order=self.order,
            least_weight=self.weight,
            search=self.search,
            page=self.sentence_page,
        )

    def best_head(self, counts: RelationCounts) -> Head:
        """The head that is best at what the page shows."""
        relation, direction = self.resolve(counts)
        return highest(counts.right[direction, counts.relations.index(relation)])


@dataclass(frozen=True)
class CoreferenceHeadsChoices(ResultChoices):
    """Of coreference heads.

    Attributes:
        kind: The type of mentions.
        candidates: Among what a head's guess is the most attended one.
        direction: The direction in which a head is read.
        guesses: Which guesses are listed.
        order: The order of the listed passages.
        over: The lowest weight of a listed guess.
        document_search: Words that a listed passage contains.
        passage_page: The page of the list, from 1.
    """

    page: ClassVar[str] = "coreference_heads"
    kind: Literal["all", "pronoun", "proper", "nominal"] = "all"
    candidates: Literal["mentions", "words"] = "mentions"
    direction: MentionDirection = "mention->antecedent"
    guesses: Right = "all"
    order: Order = "file order"
    over: Share = 0.0
    document_search: str = ""
    passage_page: Positive = 1

    def resolve(self, counts: AntecedentCounts) -> int:
        """The direction, an index of `counts.directions`: the first where the model does not have the chosen one."""
        return counts.directions.index(self.direction) if self.direction in counts.directions else 0

    def opening_head(self, analysis: Analysis, result: Result, paper: bool) -> Head | None:
        """The best head on the chosen mentions."""
        assert isinstance(result, CoreferenceHeads)
        return self.best_head(show_mentions(result, self.candidates))

    def reported(self, counts: AntecedentCounts, head: Head) -> CoreferenceView:
        """What the page shows of the counts, as the options of the command say it."""
        return CoreferenceView(
            candidates=self.candidates,
            kind=self.kind,
            direction=counts.directions[self.resolve(counts)],
            head=head.key(),
            guesses=self.guesses,
            order=self.order,
            least_weight=self.over,
            search=self.document_search,
            page=self.passage_page,
        )

    def best_head(self, counts: AntecedentCounts) -> Head:
        """The head that is best at what the page shows."""
        return counts.best(self.kind, self.resolve(counts)).head


@dataclass(frozen=True)
class ProbesChoices(PageChoices):
    """Of probes.

    Attributes:
        epochs: The most epochs of training; None for those of the mode.
        rank: The rank of the structural probe.
        probes: The probes that are trained.
        dev: The address of an uploaded treebank on which they are scored; empty for a part of the corpus.
        vectors: The address of uploaded word vectors; empty for those of the model.
        probe: The probe whose guesses are listed; None for attention-only, else the first.
        probe_search: Words that a listed sentence contains.
        probe_page: The page of the list, from 1.
    """

    page: ClassVar[str] = "probes"
    epochs: Annotated[int, Between(1, 50)] | None = None
    rank: Annotated[int, Between(1, 1024)] = ProbeOptions.rank
    probes: tuple[str, ...] = PROBES
    dev: str = ""
    vectors: str = ""
    probe: str | None = None
    probe_search: str = ""
    probe_page: Positive = 1
