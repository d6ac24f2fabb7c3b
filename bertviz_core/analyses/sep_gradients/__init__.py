"""[SEP] gradients: does attention to [SEP] matter to the predictions? (section 3.2; Figure 3)."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from typing_extensions import Doc

from bertviz_core.analyses.analysis import Analysis
from bertviz_core.analyses.request import Request, View
from bertviz_core.analyses.sep_gradients.figure import more_figures, paper_figure
from bertviz_core.analyses.sep_gradients.findings import STATEMENTS
from bertviz_core.analyses.sep_gradients.result import COLUMNS, SepGradients
from bertviz_core.models.model import AttentionModel

if TYPE_CHECKING:
    from bertviz_core.analyses.sep_gradients.measure import GradientAverages


@dataclass(frozen=True)
class LabeledInputs(View):
    """Option of the command that writes the inputs, from which a gradient can be recomputed."""

    examples: Annotated[Path | None, Doc("Also write the inputs and what is asked for to a .json file.")] = None

    def extra_files(self, request: Request) -> dict[Path, Callable[[], Iterable[Any]]]:
        from bertviz_core.analyses.sep_gradients.measure import labeled_inputs

        return {self.examples: lambda: labeled_inputs(request)} if self.examples else {}


class SepGradientsAnalysis(Analysis):
    """Document averages of the gradients of the loss in attention."""

    name = "sep_gradients"
    title = "[SEP] gradients"
    summary = "Gradients of the loss in attention to [SEP] and other classes of tokens (section 3.2; Figure 3)."
    section = "Section 3.2, Figure 3"
    icon = ":material/trending_down:"
    result_class = SepGradients
    view = LabeledInputs
    columns = COLUMNS
    statements = STATEMENTS
    own_figure = staticmethod(paper_figure)
    more_figures = staticmethod(more_figures)
    control = "gradient"
    formula = (
        r"G_{ij} = \left|\frac{\partial L}{\partial A_{ij}}\right| \qquad"
        r"\frac{1}{N\,|c|}\sum_{i=1}^{N}\sum_{j \in c} G_{ij} \qquad"
        r"\frac{1}{N}\sum_{i=1}^{N}\sum_{j \in c} A_{ij}\,G_{ij}"
    )
    prefix = "gradient_"
    forwards = 2.2
    language_model = True
    has_own_pass = True
    reads_maps = False

    def accumulator(self, model: AttentionModel, request: Request) -> GradientAverages:
        from bertviz_core.analyses.sep_gradients import measure

        return measure.accumulator(model, request)

    def finish(self, accumulator: GradientAverages, examples: Any, provenance: dict[str, Any]) -> SepGradients:
        from bertviz_core.analyses.sep_gradients import measure

        return measure.finish(accumulator, examples, provenance)
