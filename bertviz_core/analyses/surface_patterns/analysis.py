"""Surface patterns: which heads attend to neighbors, special tokens and punctuation (sections 3.1, 3.2; Figure 2)."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated, Self

from typing_extensions import Doc

from bertviz_core import paper
from bertviz_core.analyses.base.analysis import Analysis
from bertviz_core.analyses.base.averages import HeadAverages
from bertviz_core.analyses.base.blocks import Block, Card, Chart, Control, Numbers, Say
from bertviz_core.analyses.base.column_view import ColumnView
from bertviz_core.analyses.base.findings import Finding
from bertviz_core.analyses.base.request import Request
from bertviz_core.analyses.base.table_blocks import Heads
from bertviz_core.analyses.base.view import Find
from bertviz_core.analyses.surface_patterns.figure import paper_figure
from bertviz_core.analyses.surface_patterns.result import (
    BY_QUANTITY,
    COLUMNS,
    NORM_LABELS,
    BothWeights,
    SurfacePatterns,
    sinks,
)
from bertviz_core.analyses.surface_patterns.statements import (
    HALF,
    STATEMENTS,
    heads_over,
    lengths_sentence,
    over_finding,
)
from bertviz_core.choices import Between, Label
from bertviz_core.errors import SettingsError
from bertviz_core.heads import Head, first_number, highest
from bertviz_core.models.model import AttentionModel

if TYPE_CHECKING:
    from bertviz_core.analyses.base.accumulators import SegmentSums
    from bertviz_core.models.attention import LayerAttention


LENGTHS = "Lengths of the vectors"


@dataclass(frozen=True)
class SurfaceView(ColumnView[HeadAverages]):
    """The quantity, the head, and the threshold of the heads that are counted and named."""

    over: Annotated[
        float,
        Between(0.0, 0.95),
        Label("Count heads above"),
        Doc("Count and name the heads with more than this share."),
    ] = HALF
    both: Annotated[
        bool,
        Label("Add the other measure"),
        Doc("Add norms to attention weights, or these to norms, where they are stored."),
    ] = False

    def beside(self, request: Request, find: Find) -> HeadAverages | None:
        """The result of the other weights where both are chosen."""
        if not self.both:
            return None
        other = request.of_weights("attention" if request.settings.weights == "norms" else "norms")
        beside = find(other)
        if not isinstance(beside, HeadAverages):
            weights = other.settings.weights
            hint = f"Run the analysis with --weights {weights} first."
            raise SettingsError(f"No result of {weights} is stored for this model and this text.", hint=hint)
        return beside

    def alone(self) -> Self:
        return replace(self, both=False)

    def show(self, result: HeadAverages, beside: HeadAverages | None = None) -> HeadAverages:
        return result if beside is None else BothWeights.of(result, beside)

    def showing(self) -> Self:
        return replace(type(self)(), both=self.both)


def lengths_blocks(result: SurfacePatterns) -> Iterator[Block]:
    """What norms add: the lengths of the vectors, and how they go with the attention that a token receives."""
    yield Say(f"{lengths_sentence(result)}.")
    yield Say(
        "Length: the mean over what the tokens of a class pass on through a head. Correlation: Spearman's, over the "
        "tokens of a passage, of that length with the mean attention weight that a token receives."
    )
    titles = {name: label for name, label in NORM_LABELS.items() if name in result.present}
    yield Heads(columns=tuple(titles), titles=titles, build=HeadAverages.to_frame, arguments=(result,), title=LENGTHS)


class SurfacePatternsAnalysis(Analysis[SurfacePatterns, SurfaceView]):
    """Attention to neighbors, special tokens and punctuation."""

    name = "surface_patterns"
    key_version = 2
    title = "Surface patterns"
    summary = "Attention to offsets, special tokens and punctuation, for every head (section 3.1, 3.2; Figure 2)."
    section = "Section 3.1–3.2, Figure 2"
    icon = ":material/grid_on:"
    result_class = SurfacePatterns
    columns = COLUMNS
    view = SurfaceView
    labels = NORM_LABELS
    statements = STATEMENTS
    main_figure = staticmethod(paper_figure)
    control = "quantity"
    shared = True
    prefix = ""

    def accumulator(self, model: AttentionModel, request: Request) -> "SegmentSums[LayerAttention]":
        from bertviz_core.analyses.surface_patterns import measure

        return measure.accumulator(model, request)

    def claim(self, result: SurfacePatterns, view: SurfaceView) -> Finding:
        """The paper's statement about the quantity; at another threshold than the paper's, the heads over that."""
        if view.over == HALF or view.quantity is None:
            return super().claim(result, view)
        return over_finding(result, view.quantity, view.over)

    def blocks(self, result: SurfacePatterns, view: SurfaceView) -> Iterator[Block]:
        yield from self.opening(result, view)
        if self.is_empty(result) or view.quantity is None:
            return
        yield Control(("over",), on_line=True)
        yield Numbers(tuple(cards(result, view.over)))
        yield Say(heads_over(result, view.quantity, view.over), chosen=True)
        yield Control(("both",))
        yield from self.ending(result, view)
        if "norm_correlation" in result.present:  # Norms alone have it.
            yield from lengths_blocks(result)

    def tour_chart(self, result: SurfacePatterns, head: Head, named: Mapping[str, str], is_answered: bool) -> Chart:
        """The first panel of Figure 2, which fits a slide."""
        return self.main_chart(paper_figure, result, 1)

    def key_numbers(self, result: SurfacePatterns) -> list[tuple[str, str, str]]:
        """The clearest head of the previous token, and how much of a layer's attention goes to the sink."""
        values = result["previous"]
        head = highest(values)
        over = f"paper: {paper.HEADS_OVER_HALF['previous']} heads over 0.5" if result.counts_as_paper else ""
        entries = [("Previous token, clearest", f"{head.label()}: {values[head]:.2f}", over)]
        for quantity in sinks(result)[:1]:
            value = f"{result[quantity].mean(1).max():.2f}"
            printed = f"paper: [SEP], {max(paper.LAYER_MEANS['to_sep']):.2f}" if result.counts_as_paper else ""
            entries.append((f"To {BY_QUANTITY[quantity].short}, highest layer", value, of_masks(result, printed)))
        return entries


def cards(result: SurfacePatterns, over: float) -> list[Card]:
    """How many heads are over a threshold on each neighbor, and the layer that attends most to the sink."""
    entries = [
        (
            f"{name.capitalize()} token: heads > {over:g}",
            f"{(result[name] > over).sum()}",
            f"paper: {count} over {HALF}" if result.counts_as_paper else "",
        )
        for name, count in paper.HEADS_OVER_HALF.items()
        if name in result.present
    ]
    for name in sinks(result)[:1]:
        means = result[name].mean(1)
        layer = int(means.argmax()) + first_number()
        printed = max(paper.LAYER_MEANS["to_sep"])
        token = "" if name == "to_sep" else "[SEP], "
        note = of_masks(result, f"paper: {token}{printed:.2f}" if result.counts_as_paper else "")
        entries.append((f"To {BY_QUANTITY[name].short}, max: layer {layer}", f"{means.max():.2f}", note))
    return entries


def of_masks(result: SurfacePatterns, note: str) -> str:
    """A note on a card, after what tells its number from that of sink gradients: a decoder reads no masks."""
    return "; ".join(filter(None, ("" if result.provenance["model"]["causal"] else "unmasked text", note)))
