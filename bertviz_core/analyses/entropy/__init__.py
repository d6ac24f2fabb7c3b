"""Entropy: how broadly each head attends (section 3.3; Figure 4)."""

from bertviz_core.analyses.analysis import Analysis
from bertviz_core.analyses.entropy.figure import paper_figure
from bertviz_core.analyses.entropy.findings import STATEMENTS
from bertviz_core.analyses.entropy.result import COLUMNS, LABELS, Entropy


class EntropyAnalysis(Analysis):
    """Document averages of the entropy of attention."""

    name = "entropy"
    title = "Entropy"
    summary = "Entropy of every head's attention, in nats (section 3.3; Figure 4)."
    section = "Section 3.3, Figure 4"
    icon = ":material/blur_on:"
    result_class = Entropy
    columns = COLUMNS
    labels = LABELS
    statements = STATEMENTS
    main_figure = staticmethod(paper_figure)
    control = "of"
    formula = r"H = -\frac{1}{N}\sum_{i=1}^{N}\sum_{j=1}^{N} A_{ij}\log A_{ij}"
    shared = True
    prefix = ""
