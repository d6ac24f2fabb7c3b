"""What a reader can choose in the header, and on the pages of no single analysis: a frozen value for each. Nothing here
knows Streamlit.

A field is None where its default follows results, and the reader has not chosen; `resolve` then says what is shown.
Every other field begins at its default. What the types of fields say is in `bertviz_core/choices.py`.
"""

from dataclasses import dataclass
from typing import Annotated, ClassVar, Literal, Self

from bertviz_core.choices import Between, Choices, Count, Longest, Positive
from bertviz_core.comparison.view import ComparisonView
from bertviz_core.emergence.view import EmergenceView
from bertviz_core.heads import Head
from bertviz_core.models.checkpoint import DEMO, DEMO_DECODER
from bertviz_core.overview.finder import HeadSearch
from bertviz_core.settings import Dtype, Length, Mode, Weights
from bertviz_core.tour import OWN
from bertviz_core.viewer.preview import SENTENCE
from pages.shared.state.runs import RELATIVE, Run, Runs, same_run

MAX_CHARACTERS = 1000  # of each of the viewer's texts in an address
MAX_SENTENCE = 300  # characters of a sentence on which heads are drawn
Text = Annotated[str, Longest(MAX_CHARACTERS)]
Side = Literal["one head", "two heads", "two models", "weights and norms"]


@dataclass(frozen=True)
class HeaderChoices(Choices):
    """What all pages share; those of Settings have the values that are allowed there.

    Attributes:
        model: The name or the folder of the model.
        corpus: The text: the name of a sample, or the address of an upload.
        treebank: The treebank, likewise.
        coreference: The corpus with coreference, likewise.
        pairs: The file of minimal pairs, likewise.
        mode: Whether results follow the release, the authors' code.
        weights: Whether norms stand in for attention weights.
        max_length: The most tokens of an input; None for what the model takes.
        limit: The most inputs that are read; None for all.
        seed: The random seed.
        dtype: The precision of the model's weights.
        zero: Whether labels count layers and heads from 0.
        head: The head; None for the one that is best at what the page shows.
    """

    model: str = DEMO
    corpus: str = "encyclopedia"
    treebank: str = "treebank"
    coreference: str = "coreference"
    pairs: str = "pairs"
    mode: Mode = "corrected"
    weights: Weights = "attention"
    max_length: Length | None = None
    limit: Positive | None = None
    seed: Count = 0
    dtype: Dtype = "float32"
    zero: bool = False
    head: Head | None = None


@dataclass(frozen=True)
class PageChoices(Choices):
    """What a page's own address holds.

    Attributes:
        tour: The slide of the tour that led here, from 1, to which a link leads back; None without.
    """

    page_name: ClassVar[str]
    tour: Positive | None = None

    @property
    def reads_header(self) -> bool:
        """Whether the page depends on the corpora of the header."""
        return True

    @classmethod
    def on(cls, target: str) -> Self:
        """The page on one of the things that it shows, where it shows several."""
        return cls()


@dataclass(frozen=True)
class OverviewChoices(HeadSearch, PageChoices):
    """Of the overview, beside the expression that finds heads.

    Attributes:
        sentence: The sentence on which the map previews every head.
        word: The position, from 1, of the token that the model is to guess; None for the last word of a sentence of the
            reader's own, and for none of the example.
        across: The number of every head that is across in the scatter; None for one that the expression names.
        up: The number that is up, likewise.
        color: The number that colors the dots; None for the layer.
    """

    page_name: ClassVar[str] = "overview"
    sentence: Annotated[str, Longest(MAX_SENTENCE)] = SENTENCE
    word: Positive | None = None
    across: Text | None = None
    up: Text | None = None
    color: Text | None = None


@dataclass(frozen=True)
class HeadChoices(PageChoices):
    """Of the page of one head.

    Attributes:
        sentence: The reader's sentence, on which the head is drawn beside what is stored; empty for none.
    """

    page_name: ClassVar[str] = "head"
    sentence: Annotated[str, Longest(MAX_SENTENCE)] = ""


@dataclass(frozen=True)
class AttentionViewerChoices(PageChoices):
    """Of the attention viewer. Positions of tokens count from 1.

    Attributes:
        segment: The number of the corpus's input, from 1; None for the first.
        text: The reader's own text.
        second: Its second segment.
        origin: What the text is called where it is from, as "treebank, sentence 3, line 31".
        given: Whether words are split at spaces only.
        sides: The segments between which attention is shown.
        least: The lowest weight of a line.
        hide: Whether special tokens are hidden.
        skip: Whether the first token of a decoder is hidden.
        first: The first token of the window of a long input.
        last: The last token of the window; None for one that follows the first.
        seek: Words that are searched in the input.
        shape: How attention is drawn; "as" in an address.
        units: Between what attention is drawn.
        beside: What stands beside the head.
        model2: The second model; None for the first that is known.
        head2: The second head; None for the next one.
        off: Names of heads, layers and behaviors that are ablated.
        overlay: Names of heads, layers and behaviors whose lines are drawn together.
        before: Whether the input is shown before its words are masked.
        from_token: The token whose attention to `to_token` is compared between heads; None for that of the largest
            weight.
        to_token: The token that is attended to, likewise.
        expected: Which of the tokens that a decoder expects next is chosen, from 1.
        query: The query whose product with every key is drawn; None for the pinned one, else for that of the
            head's largest weight.
        mask: Positions of the masked words, as "3,7".
        pin: Sides and positions of the pinned words, as "from3,to7".
        dependents: Words that are pinned until the reader pins others, written like `pin`.
        back: The page, and its own address, that the input came from.
        find: Words that are searched in the corpus.
        find_page: The page of what is found, from 1.
    """

    page_name: ClassVar[str] = "attention_viewer"
    input: Literal["example", "own text", "corpus"] = "example"
    example: str = "Coreference"
    segment: Positive | None = None
    text: Text = "The cat sat on the mat because it was warm."
    second: Text = ""
    origin: Text = ""
    given: bool = False
    sides: str = "all"
    least: Annotated[float, Between(0.0, 0.5)] = 0.02
    hide: bool = False
    skip: bool = False
    first: Positive = 1
    last: Positive | None = None
    seek: str = ""
    shape: Literal["lines", "heatmap", "table", "query × key"] = "lines"
    units: Literal["tokens", "words"] = "tokens"
    beside: Side = "one head"
    model2: str | None = None
    head2: Head | None = None
    off: tuple[str, ...] = ()
    overlay: tuple[str, ...] = ()
    before: bool = False
    from_token: Positive | None = None
    to_token: Positive | None = None
    expected: Positive = 1
    query: Positive | None = None
    mask: str = ""
    pin: str = ""
    dependents: str = ""
    back: str = ""
    find: str = ""
    find_page: Positive = 1

    @property
    def reads_header(self) -> bool:
        """An input of its own comes from no corpus."""
        return self.input == "corpus"

    @classmethod
    def parameter(cls, field: str) -> str:
        """The shape is called "as" in an address."""
        return "as" if field == "shape" else field


@dataclass(frozen=True)
class CompareChoices(ComparisonView, PageChoices):
    """Of the comparison of two runs, beside its quantity.

    Attributes:
        analysis: The analysis; None for the first with two runs.
        a: The address of run A; None for the first one.
        b: The address of run B; None for the first one that is like it.
    """

    page_name: ClassVar[str] = "compare"
    analysis: str | None = None
    a: str | None = None
    b: str | None = None

    def chosen_runs(self, runs: Runs) -> tuple[str, str, str]:
        """The analysis and the addresses of two of its runs, of `runs` of each analysis, two at least.

        A run of another analysis stands for the one that is most like it, of the same model; where that has none, the
        run is not in `runs` yet, as those that are relative to run A. By default A is the first one, and B the
        first other one of the same corpus, else of a sample: what others have uploaded is not compared unasked.
        """
        analysis = self.analysis if self.analysis in runs else next(iter(runs))
        offered = runs[analysis]
        first = same_run(self.a, runs, offered)
        if first is None or first.startswith(RELATIVE):
            first = next(iter(offered))
        second = same_run(self.b, runs, offered)
        if second is None or (second == first and self.b not in offered):
            others = [address for address in offered if address != first]
            near = offered.get(first, Run(first))
            second = min(others, key=lambda address: offered[address].distance_from(near))
        return analysis, first, second


@dataclass(frozen=True)
class EmergenceChoices(EmergenceView, PageChoices):
    """Of emergence, beside the step and the relations.

    Attributes:
        training: The name or the folder of the training.
    """

    page_name: ClassVar[str] = "emergence"
    training: str = DEMO_DECODER

    @property
    def reads_header(self) -> bool:
        """The training that ships has its own corpora and settings."""
        return self.training != EmergenceChoices.training


@dataclass(frozen=True)
class TourChoices(PageChoices):
    """Of the guided tour.

    Attributes:
        step: The slide, from 0.
        answer: Whether the answer of the slide is shown.
        present: Whether the slide stands alone.
        notes: Whether the lecturer's notes are shown.
        sentence: The sentence of the last slide.
    """

    page_name: ClassVar[str] = "tour"
    step: Annotated[int, Between(0, OWN)] = 0
    answer: Literal["", "shown"] = ""
    present: bool = False
    notes: bool = False
    sentence: Annotated[str, Longest(MAX_SENTENCE)] = "The dog that chased the cats barked at its owner."
