"""What a reader can choose: one frozen value for the header, and one for each page. Nothing here knows Streamlit.

A field is None where its default follows results, and the reader has not chosen; `resolve` then says what is shown.
Every other field begins at its default. A field's type says which texts of an address it takes: a `Literal` its
options, `Annotated` a range, or the number of characters that an address holds.
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, fields
from functools import cache
from typing import Annotated, Any, ClassVar, Literal, NamedTuple, Self

from bertviz_core.analyses.base.analysis import Analysis
from bertviz_core.analyses.base.averages import HeadColumn
from bertviz_core.analyses.base.registry import ANALYSES
from bertviz_core.analyses.base.result import Result
from bertviz_core.analyses.behaviors import Thresholds
from bertviz_core.analyses.coreference_heads.antecedents import AntecedentCounts
from bertviz_core.analyses.coreference_heads.result import CoreferenceHeads as CoreferenceResult
from bertviz_core.analyses.coreference_heads.result import CoreferenceView
from bertviz_core.analyses.dependency_heads import guesses
from bertviz_core.analyses.dependency_heads.relations import RelationCounts
from bertviz_core.analyses.dependency_heads.result import DependencyHeads as DependencyResult
from bertviz_core.analyses.dependency_heads.result import RelationFilter, RelationView
from bertviz_core.analyses.probes.options import PROBES, ProbeOptions
from bertviz_core.analyses.reach.result import INACTIVE
from bertviz_core.heads import Head, highest
from bertviz_core.models.checkpoint import DEMO
from bertviz_core.settings import Mode, Weights
from bertviz_core.tour import OWN
from bertviz_core.viewer.preview import SENTENCE
from pages.shared.costly import show_mentions, show_relations
from pages.shared.state.runs import Runs, same_run


class Between(NamedTuple):
    """The range of a number."""

    low: float
    high: float


class Longest(NamedTuple):
    """The number of characters of a text that an address holds; a longer one is cut there."""

    characters: int


MAX_CHARACTERS = 1000  # of each of the viewer's texts in an address
MAX_SENTENCE = 300  # characters of the overview's sentence
MOST = 10**9 - 1  # the largest whole number of an address
Positive = Annotated[int, Between(1, MOST)]
Count = Annotated[int, Between(0, MOST)]
Text = Annotated[str, Longest(MAX_CHARACTERS)]
Right = Literal["all", "right", "wrong"]
Order = Literal["most confident first", "least confident first", "file order"]
Direction = Literal["dependent->governor", "governor->dependent"]
MentionDirection = Literal["mention->antecedent", "antecedent->mention"]
Side = Literal["one head", "two heads", "two models", "weights and norms"]


@dataclass(frozen=True)
class Choices:
    """What an address holds of one part of the app."""

    @classmethod
    def parameter(cls, field: str) -> str:
        """The name of a field in the address, which is also the key of its widget."""
        return field


@dataclass(frozen=True)
class Header(Choices):
    """What all pages share."""

    model: str = DEMO
    corpus: str = "encyclopedia"  # the name of a sample, or the address of an upload, as those of the next two kinds
    treebank: str = "treebank"
    coreference: str = "coreference"
    mode: Mode = "corrected"
    weights: Weights = "attention"
    max_length: Annotated[int, Between(8, MOST)] | None = None  # follows the model
    limit: Count = 0  # inputs, 0 for all
    seed: Count = 0
    dtype: Literal["float32", "bfloat16"] = "float32"
    zero: bool = False  # whether labels count layers and heads from 0
    head: Head | None = None  # follows the page


@dataclass(frozen=True)
class Page(Choices):
    """What a page's own address holds."""

    page: ClassVar[str]  # its name
    tour: Positive | None = None  # the slide of the tour that led here, to which a link leads back

    @property
    def reads_header(self) -> bool:
        """Whether the page depends on the corpora of the header."""
        return True

    @classmethod
    def on(cls, target: str) -> Self:
        """The page on one of the things that it shows, where it shows several."""
        return cls()


@dataclass(frozen=True)
class Overview(Page):
    page: ClassVar[str] = "overview"
    sentence: Annotated[str, Longest(MAX_SENTENCE)] = SENTENCE
    heads: Text = ""  # an expression that finds heads


@dataclass(frozen=True)
class HeadPage(Page):
    page: ClassVar[str] = "head"


@dataclass(frozen=True)
class ResultPage(Page, ABC):
    """Of the page of an analysis that opens on a head of its own result."""

    def options(self, paper: bool) -> dict[str, Any]:
        """The options of the request for the analysis; `paper` says whether the mode is "paper"."""
        return {}

    @abstractmethod
    def opening_head(self, analysis: Analysis, result: Result, paper: bool) -> Head | None:
        """The head that is best at what the page shows of a result; None where the result does not say."""


@dataclass(frozen=True)
class AnalysisChoices(ResultPage):
    """Of the page of any analysis: the quantity on its map."""

    quantity: str | None = None

    @classmethod
    def parameter(cls, field: str) -> str:
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
class Entropy(AnalysisChoices):
    page: ClassVar[str] = "entropy"
    share: Annotated[float, Between(0.1, 1.0)] = 0.5  # of the entropy of uniform attention


@dataclass(frozen=True)
class SurfacePatterns(AnalysisChoices):
    page: ClassVar[str] = "surface_patterns"
    over: Annotated[float, Between(0.1, 0.95)] = 0.5
    both: bool = False  # weights and norms in one figure


@dataclass(frozen=True)
class Reach(AnalysisChoices):
    page: ClassVar[str] = "reach"
    below: Annotated[float, Between(0.1, 1.0)] = INACTIVE  # of the mean length of the outputs of a layer's heads


@dataclass(frozen=True)
class SepGradients(AnalysisChoices):
    page: ClassVar[str] = "sep_gradients"


@dataclass(frozen=True)
class Ablation(AnalysisChoices):
    page: ClassVar[str] = "ablation"
    mean: bool = False  # in place of zeros

    def options(self, paper: bool) -> dict[str, Any]:
        return {"mean": True} if self.mean else {}


Share = Annotated[float, Between(0.0, 1.0)]


@dataclass(frozen=True)
class Clustering(Page):
    page: ClassVar[str] = "clustering"
    root: bool = False
    over_next: Share = Thresholds.next
    over_previous: Share = Thresholds.previous
    over_entropy: Annotated[float, Between(0.0, 7.0)] = Thresholds.entropy  # nats
    over_to_cls: Share = Thresholds.to_cls
    over_to_sep: Share = Thresholds.to_sep
    over_to_punct: Share = Thresholds.to_punct
    over_to_first: Share = Thresholds.to_first

    @classmethod
    def parameter(cls, field: str) -> str:
        return field.replace("over_", "over-")

    def thresholds(self, present: Sequence[str]) -> Thresholds:
        """Those of the quantities that a result has; others keep their defaults."""
        return Thresholds(**{name: getattr(self, f"over_{name}") for name in present if hasattr(Thresholds, name)})


@dataclass(frozen=True)
class DependencyHeads(ResultPage):
    page: ClassVar[str] = "dependency_heads"
    possessives: bool = False
    view: Literal["function-heads", "as-is"] = "function-heads"
    least: Positive | None = None  # words of a relation; follows the size of the treebank
    offsets: Annotated[int, Between(1, 20)] = RelationFilter.offsets
    merge: bool = False
    relation: str | None = None
    direction: Direction | None = None
    which: Right = "all"
    order: Order = "most confident first"
    weight: Share = 0.0
    search: str = ""
    sentence_page: Positive = 1
    arcs: bool = False  # whether the arcs of other relations are drawn too

    @classmethod
    def on(cls, target: str) -> Self:
        """The page on a relation."""
        return cls(relation=target)

    def options(self, paper: bool) -> dict[str, Any]:
        """The options of the request; mode "paper" always applies its rule for possessives."""
        return {"possessives": True} if self.possessives and not paper else {}

    def filter(self, result: DependencyResult, paper: bool) -> RelationFilter:
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
        assert isinstance(result, DependencyResult)
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
class CoreferenceHeads(ResultPage):
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
        assert isinstance(result, CoreferenceResult)
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
class Probes(Page):
    page: ClassVar[str] = "probes"
    epochs: Annotated[int, Between(1, 50)] | None = None
    rank: Annotated[int, Between(1, 1024)] = ProbeOptions.rank
    probes: tuple[str, ...] = PROBES
    dev: str = ""  # the address of an upload, as the next
    vectors: str = ""
    probe: str | None = None
    probe_search: str = ""
    probe_page: Positive = 1


@dataclass(frozen=True)
class AttentionViewer(Page):
    page: ClassVar[str] = "attention_viewer"
    input: Literal["example", "own text", "corpus"] = "example"
    example: str = "Coreference"
    segment: Positive | None = None  # of the corpus; the first
    text: Text = "The cat sat on the mat because it was warm."
    second: Text = ""
    origin: Text = ""  # what the text is called where it is from, as "treebank, sentence 3, line 31"
    given: bool = False  # whether words are split at spaces only
    sides: str = "all"
    least: Annotated[float, Between(0.0, 0.5)] = 0.02
    hide: bool = False
    skip: bool = False  # the first token of a decoder
    first: Positive = 1  # token of the window of a long input
    last: Positive | None = None  # follows the first
    seek: str = ""  # words that are searched in the input
    shape: Literal["lines", "heatmap", "table", "query × key"] = "lines"
    units: Literal["tokens", "words"] = "tokens"
    beside: Side = "one head"
    model2: str | None = None
    head2: Head | None = None
    off: tuple[str, ...] = ()  # heads, layers and behaviors
    overlay: tuple[str, ...] = ()
    before: bool = False
    from_token: Positive | None = None
    to_token: Positive | None = None
    query: Positive | None = None
    mask: str = ""  # positions from 1, as "3,7"
    pin: str = ""  # sides and positions from 1, as "from3,to7"
    dependents: str = ""  # words that are pinned until the reader pins others, like `pin`
    back: str = ""  # the page, and its own address, that the input came from
    find: str = ""  # words that are searched in the corpus
    find_page: Positive = 1

    @property
    def reads_header(self) -> bool:
        """An input of its own comes from no corpus."""
        return self.input == "corpus"

    @classmethod
    def parameter(cls, field: str) -> str:
        return "as" if field == "shape" else field


@dataclass(frozen=True)
class Compare(Page):
    page: ClassVar[str] = "compare"
    analysis: str | None = None
    a: str | None = None  # the address of a run
    b: str | None = None
    compared: str | None = None  # quantity

    def resolve(self, runs: Runs) -> tuple[str, str, str]:
        """The analysis and the addresses of two of its runs, of `runs` of each analysis, two at least.

        A run of another analysis stands for the one that is most like it. By default A is the first one, and B the
        first other one of the same corpus, else of a sample: what others have uploaded is not compared unasked.
        """
        analysis = self.analysis if self.analysis in runs else next(iter(runs))
        offered = runs[analysis]
        first = same_run(self.a, runs, offered) or next(iter(offered))
        second = same_run(self.b, runs, offered)
        if second is None or (second == first and self.b not in offered):
            others = [address for address in offered if address != first]
            second = min(others, key=lambda address: offered[address].distance_from(offered[first]))
        return analysis, first, second


@dataclass(frozen=True)
class Emergence(Page):
    page: ClassVar[str] = "emergence"
    training: str = "small-bert"
    at_step: Count | None = None
    relations_of: tuple[str, ...] | None = None

    @property
    def reads_header(self) -> bool:
        """The training that ships has its own corpora and settings."""
        return self.training != Emergence.training


@dataclass(frozen=True)
class Tour(Page):
    page: ClassVar[str] = "tour"
    step: Annotated[int, Between(0, OWN)] = 0
    answer: Literal["", "shown"] = ""
    present: bool = False  # the slide alone
    notes: bool = False  # for the lecturer
    sentence: str = "The dog that chased the cats barked at its owner."


PAGES: tuple[type[Page], ...] = (
    *(Overview, HeadPage, AttentionViewer, Compare, Emergence, Tour),
    *(SurfacePatterns, Entropy, Reach, SepGradients, DependencyHeads, CoreferenceHeads, Probes, Clustering, Ablation),
)


@cache
def kind_of(page: str) -> type[Page]:
    """The choices of a page; those of every analysis where its page adds none, as that of an installed analysis."""
    for kind in PAGES:
        if kind.page == page:
            return kind
    return type(page, (AnalysisChoices,), {"page": page})


@cache
def field_names(kind: type[Choices]) -> frozenset[str]:
    return frozenset(field.name for field in fields(kind))
