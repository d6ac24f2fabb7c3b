"""Sink gradients: does attention to the sink ([SEP] in BERT) matter to the loss? (section 3.2; Figure 3)."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from bertviz_core import paper
from bertviz_core.analyses.base.analysis import Analysis
from bertviz_core.analyses.base.averages import HeadColumn
from bertviz_core.analyses.base.blocks import Block, Card, Chart, Numbers
from bertviz_core.analyses.base.column_view import ColumnView
from bertviz_core.analyses.base.request import Request
from bertviz_core.analyses.sep_gradients.figure import no_op_chart, no_op_figure, paper_figure
from bertviz_core.analyses.sep_gradients.result import COLUMNS, GRADIENT, SepGradients, sink
from bertviz_core.analyses.sep_gradients.statements import STATEMENTS
from bertviz_core.engine.progress import Progress
from bertviz_core.heads import Head, first_number
from bertviz_core.inputs.encoding import Encoded
from bertviz_core.models.model import AttentionModel
from bertviz_core.plotting import TOKENS
from bertviz_core.settings import Settings

if TYPE_CHECKING:
    from bertviz_core.analyses.base.prediction_sums import PredictionSums
    from bertviz_core.models.loss import LayerGradient


class SepGradientsAnalysis(Analysis[SepGradients, ColumnView[SepGradients]]):
    """Gradients of the loss in attention, by class of target token."""

    name = "sep_gradients"
    key_version = 2
    title = "Sink gradients"
    summary = "Gradients of the loss in attention to [SEP], other special tokens, and words (section 3.2; Figure 3)."
    section = "Section 3.2, Figure 3"
    icon = ":material/trending_down:"
    result_class = SepGradients
    columns = COLUMNS
    statements = STATEMENTS
    one_causal = "its loss is of next words, the other's of masked words"
    main_figure = staticmethod(paper_figure)
    control = "gradient"
    prefix = "gradient_"
    forward_passes = 2.2
    language_model = True
    has_own_pass = True
    reads_maps = False

    def default_column(self, result: SepGradients) -> HeadColumn | None:
        peak = sink(result)
        return self.column(GRADIENT.format(peak.token)) if peak else super().default_column(result)

    def page_title(self, result: SepGradients) -> str:
        """The paper's title where the sink is [SEP]."""
        peak = sink(result)
        return "[SEP] gradients" if peak and peak.token == "sep" else self.title

    def blocks(self, result: SepGradients, view: ColumnView[SepGradients]) -> Iterator[Block]:
        yield from self.opening(result, view)
        if self.is_empty(result):
            return
        yield Numbers(tuple(cards(result)))
        if sink(result):
            yield no_op_chart(result)
        yield from self.ending(result, view)

    def tour_chart(self, result: SepGradients, head: Head, named: Mapping[str, str], is_answered: bool) -> Chart:
        """Attention to the sink above its gradient, with their ratio in the answer."""
        return self.main_chart(no_op_figure, result, is_answered)

    def accumulator(self, model: AttentionModel, request: Request) -> "PredictionSums[LayerGradient]":
        from bertviz_core.analyses.sep_gradients import measure

        return measure.accumulator(model, request)

    def run(
        self,
        model: AttentionModel,
        settings: Settings,
        examples: Iterable[Encoded],
        accumulators: Sequence["PredictionSums[LayerGradient]"],
        progress: Progress,
        batch_tokens: int | None,
    ) -> None:
        """One forward and one backward pass of every segment of the chunk."""
        from bertviz_core.analyses.sep_gradients import measure

        measure.run(model, settings, examples, accumulators, progress, batch_tokens)


def cards(result: SepGradients) -> list[Card]:
    """The loss, the words that are right, and the sink's attention beside its gradient."""
    entries = [
        (result.loss_name.capitalize(), f"{result.loss:.2f} nats", f"{int(result.segments.max()):,} passages"),
        ("Words right", f"{result.accuracy:.1%}", f"of {result.predicted:,}"),
    ]
    if peak := sink(result):
        name = TOKENS[peak.token][0]
        title = ", ".join(
            filter(None, (f"Attention to {name}", f"layer {peak.layer + first_number()}", result.input_note))
        )
        printed = (f"paper: [SEP], {max(paper.LAYER_MEANS['to_sep']):.2f}", "paper: near 0")
        notes = printed if result.counts_as_paper else ("", "")
        entries.append((title, f"{peak.attention:.2f}", notes[0]))
        entries.append((f"Gradient, {name} / other", f"{peak.ratio:.2f}", notes[1]))
    return entries
