"""Induction: do heads continue a repeated sequence? (beyond the paper; docs/methods.md, section 15)."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from bertviz_core.analyses.base.analysis import Analysis
from bertviz_core.analyses.base.blocks import Block
from bertviz_core.analyses.base.column_view import ColumnView
from bertviz_core.analyses.base.result import Provenance
from bertviz_core.analyses.induction.figure import EXPECTED, expected_table, paper_figure
from bertviz_core.analyses.induction.result import COLUMNS, Induction
from bertviz_core.analyses.induction.statements import STATEMENTS
from bertviz_core.inputs.encoding import Batch
from bertviz_core.inputs.segments import INPUTS, RandomSequences
from bertviz_core.inputs.tensors import Tensor
from bertviz_core.models.attention import LayerAttention
from bertviz_core.published import published_heads

if TYPE_CHECKING:
    from bertviz_core.analyses.base.accumulators import SegmentSums


class InductionAnalysis(Analysis[Induction, ColumnView[Induction]]):
    """Attention within repeated sequences of random tokens."""

    name = "induction"
    key_version = 2
    title = "Induction heads"
    summary = (
        "Attention within repeated sequences of random tokens: to what followed a token's first occurrence, to that "
        "occurrence, and to the previous token."
    )
    section = "Does a head continue a repetition?"
    icon = ":material/repeat:"
    result_class = Induction
    corpus = "random"
    columns = COLUMNS
    statements = STATEMENTS
    main_figure = staticmethod(paper_figure)
    limit = INPUTS

    def measure(self, batch: Batch, layer: LayerAttention) -> Tensor:
        """(batch, head, quantity) of `measure` in measure.py."""
        from bertviz_core.analyses.induction.measure import measure

        return measure(batch, layer)

    def blocks(self, result: Induction, view: ColumnView[Induction]) -> Iterator[Block]:
        yield from super().blocks(result, view)
        if named := [each for each in published_heads(result.provenance["model"]) if each.quantity in EXPECTED]:
            yield expected_table(result, named)

    def finish(
        self, accumulator: "SegmentSums[LayerAttention]", examples: RandomSequences, provenance: Provenance
    ) -> Induction:
        """Create the result; every sequence is drawn independently, and so is a unit."""
        values = accumulator.fields(examples) | {"unit": "sequences"}
        return Induction(provenance=provenance, length=examples.size, **values)
