"""Sink gradients: does attention to the sink ([SEP] in BERT) matter to the loss? (section 3.2; Figure 3)."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

from typing_extensions import Doc

from bertviz_core.analyses.analysis import Analysis
from bertviz_core.analyses.head_averages import HeadColumn
from bertviz_core.analyses.request import Request, View
from bertviz_core.analyses.results import Result
from bertviz_core.analyses.sep_gradients.figure import more_figures, paper_figure
from bertviz_core.analyses.sep_gradients.findings import STATEMENTS, sink, sinks
from bertviz_core.analyses.sep_gradients.result import COLUMNS, SepGradients


@dataclass(frozen=True)
class LabeledInputs(View):
    """Option of the command that writes the inputs, to recompute gradients from."""

    examples: Annotated[Path | None, Doc("Also write the inputs and their masked words to a .json file.")] = None

    def extra_files(self, request: Request) -> dict[Path, Callable[[], Iterable[Any]]]:
        from bertviz_core.analyses.sep_gradients.measure import labeled_inputs

        return {self.examples: lambda: labeled_inputs(request)} if self.examples else {}


class SepGradientsAnalysis(Analysis):
    """Document averages of the gradients of the loss in attention."""

    name = "sep_gradients"
    title = "Sink gradients"
    summary = "Gradients of the loss in attention to [SEP], other special tokens, and words (section 3.2; Figure 3)."
    section = "Section 3.2, Figure 3"
    icon = ":material/trending_down:"
    result_class = SepGradients
    view = LabeledInputs
    columns = COLUMNS
    statements = STATEMENTS
    main_figure = staticmethod(paper_figure)
    more_figures = staticmethod(more_figures)
    control = "gradient"
    formula = (
        r"G_{ij} = \left|\frac{\partial L}{\partial A_{ij}}\right| \qquad"
        r"\frac{1}{N\,|c|}\sum_{i=1}^{N}\sum_{j \in c} G_{ij} \qquad"
        r"\frac{1}{N}\sum_{i=1}^{N}\sum_{j \in c} A_{ij}\,G_{ij}"
    )
    prefix = "gradient_"
    forward_passes = 2.2
    language_model = True
    has_own_pass = True
    reads_maps = False

    def default_column(self, result: Result) -> HeadColumn | None:
        """The gradient to the sink."""
        assert isinstance(result, SepGradients)
        return self.column(f"to_{sink(result).token}") if sinks(result) else super().default_column(result)
