"""Sink gradients: does attention to the sink ([SEP] in BERT) matter to the loss? (section 3.2; Figure 3)."""

from bertviz_core.analyses.analysis import Analysis
from bertviz_core.analyses.head_averages import HeadColumn
from bertviz_core.analyses.results import Result
from bertviz_core.analyses.sep_gradients.figure import more_figures, paper_figure
from bertviz_core.analyses.sep_gradients.result import COLUMNS, STATEMENTS, SepGradients, sink, sinks


class SepGradientsAnalysis(Analysis):
    """Document averages of the gradients of the loss in attention."""

    name = "sep_gradients"
    title = "Sink gradients"
    summary = "Gradients of the loss in attention to [SEP], other special tokens, and words (section 3.2; Figure 3)."
    section = "Section 3.2, Figure 3"
    icon = ":material/trending_down:"
    result_class = SepGradients
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
