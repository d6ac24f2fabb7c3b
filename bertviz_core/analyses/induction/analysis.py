"""Induction: do heads continue a repeated sequence? (beyond the paper; docs/methods.md, section 15)."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from bertviz_core.analyses.base.analysis import Analysis
from bertviz_core.analyses.base.blocks import Block, Card, Chart, Numbers
from bertviz_core.analyses.base.column_view import ColumnView
from bertviz_core.analyses.base.request import Request
from bertviz_core.analyses.base.result import Provenance
from bertviz_core.analyses.induction.figure import EXPECTED, expected_table, losses_figure, paper_figure
from bertviz_core.analyses.induction.result import COLUMNS, Induction
from bertviz_core.analyses.induction.statements import STATEMENTS
from bertviz_core.inputs.encoding import Batch
from bertviz_core.inputs.segments import INPUTS, RandomSequences
from bertviz_core.inputs.tensors import Tensor
from bertviz_core.models.attention import LayerAttention
from bertviz_core.models.checkpoint import Checkpoint
from bertviz_core.models.model import AttentionModel, predicts_next_words
from bertviz_core.published import published_heads

if TYPE_CHECKING:
    from bertviz_core.analyses.induction.measure import InductionSums


class InductionAnalysis(Analysis[Induction, ColumnView[Induction]]):
    """Attention within repeated sequences of random tokens."""

    name = "induction"
    key_version = 3
    title = "Induction heads"
    summary = (
        "Attention within repeated sequences of random tokens: to what followed a token's first occurrence, to that "
        "occurrence, and to the previous token; and what the second copy costs a decoder."
    )
    section = "Does a head continue a repetition?"
    icon = ":material/repeat:"
    result_class = Induction
    corpus = "random"
    columns = COLUMNS
    statements = STATEMENTS
    main_figure = staticmethod(paper_figure)
    limit = INPUTS

    def blocks(self, result: Induction, view: ColumnView[Induction]) -> Iterator[Block]:
        *opening, table = super().blocks(result, view)
        yield from opening
        if result.has_losses:
            yield Numbers(tuple(loss_cards(result)), name="losses")
            yield losses_chart(result)
        yield table
        if named := [each for each in published_heads(result.provenance["model"]) if each.quantity in EXPECTED]:
            yield expected_table(result, named)

    def measure(self, batch: Batch, layer: LayerAttention) -> Tensor:
        """(batch, head, quantity) of `measure` in measure.py."""
        from bertviz_core.analyses.induction.measure import measure

        return measure(batch, layer)

    def reads_predictions(self, checkpoint: Checkpoint) -> bool:
        """Of a decoder that was saved with the head that predicts the next word the losses are measured, too."""
        return predicts_next_words(checkpoint) and checkpoint.reads_one_text

    def accumulator(self, model: AttentionModel, request: Request) -> "InductionSums":
        from bertviz_core.analyses.induction.measure import InductionSums

        size = RandomSequences(request.source, model.tokens, request.settings).size
        return InductionSums(model, size)

    def finish(self, accumulator: "InductionSums", examples: RandomSequences, provenance: Provenance) -> Induction:
        """Create the result; every sequence is drawn independently, and so is a unit."""
        return Induction(provenance=provenance, length=examples.size, **accumulator.fields(examples))


def loss_cards(result: Induction) -> list[Card]:
    """What a token of each copy costs, and the difference, in nats."""
    first, second = result.losses
    return [
        ("Loss of the first copy", f"{first:.2f} nats", "a token"),
        ("Loss of the second copy", f"{second:.2f} nats", result.saving_text),
    ]


def losses_chart(result: Induction) -> Chart:
    """The losses of both copies, token by token."""
    return Chart(
        name="induction-losses",
        title="What each token costs",
        build=losses_figure,
        arguments=(result,),
        alt="The next-word loss at each place of the sequence, in the first and in the second copy",
        note="Nothing foretells a random token until the sequence comes again; the first of each copy is left out.",
    )
