"""Surface patterns: which heads attend to neighbors, special tokens and punctuation (sections 3.1, 3.2; Figure 2)."""

from bertviz_core.analyses.analysis import Analysis
from bertviz_core.analyses.surface_patterns.figure import COLUMNS, NORM_LABELS, paper_figure
from bertviz_core.analyses.surface_patterns.findings import STATEMENTS


class SurfacePatternsAnalysis(Analysis):
    """Document averages of attention to offsets and classes of tokens."""

    name = "surface_patterns"
    title = "Surface patterns"
    summary = "Attention to offsets, special tokens and punctuation, for every head (section 3.1, 3.2; Figure 2)."
    section = "Section 3.1–3.2, Figure 2"
    icon = ":material/grid_on:"
    columns = COLUMNS
    labels = NORM_LABELS
    statements = STATEMENTS
    main_figure = staticmethod(paper_figure)
    control = "quantity"
    formula = r"\frac{1}{N}\sum_{i=1}^{N} A_{i,i-1} \qquad \frac{1}{N}\sum_{i=1}^{N}\sum_{j \in \text{class}} A_{ij}"
    shared = True
    prefix = ""
